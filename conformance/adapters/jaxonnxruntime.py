"""JAX ONNX Runtime: ONNX models as functions of JAX, compiled by XLA for the CPU."""

from __future__ import annotations

from conformance.runtimes.adapter import Adapter, UnsupportedRule

ADAPTER = Adapter(
    name="jaxonnxruntime",
    first_line="JAX ONNX Runtime on the CPU (package jaxonnxruntime, with JAX): ONNX's Backend interface",
    issues="https://github.com/google/jaxonnxruntime/issues/new",
    # From 0.10 on JAX has no `a_min` and `a_max` of clip, which Clip calls it with.
    requirements=("jaxonnxruntime", "jax==0.9.2", "absl-py", "onnx", "ml-dtypes"),
    worker="jaxonnxruntime_worker.py",
    unsupported=(
        UnsupportedRule("NotImplementedError: NoSuch is not implemented."),
        UnsupportedRule(
            "ValueError: Jaxonnxruntime AveragePool only support ceil_mode = 0 but got 1.",
            message=r"^Jaxonnxruntime \w+ only supports? \w+ = ",
        ),
        UnsupportedRule(
            "ValueError: ceil_mode = 1 is not implement yet.", message=r"^\w+ = \S+ is not implement yet"
        ),
    ),
)
