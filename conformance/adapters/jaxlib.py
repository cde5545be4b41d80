"""jaxlib on the CPU: operators of ONNX as modules of StableHLO, which XLA compiles."""

from __future__ import annotations

from conformance.runtimes.adapter import Adapter, UnsupportedRule

ADAPTER = Adapter(
    name="jaxlib",
    first_line="jaxlib on the CPU (packages jaxlib, jax): ONNX's operators as StableHLO, compiled by XLA",
    issues="https://github.com/openxla/xla/issues/new",
    requirements=("jaxlib", "jax", "numpy", "ml-dtypes"),
    worker="jaxlib_worker.py",
    unsupported=(
        UnsupportedRule("Unsupported: StableHLO has no operation that is LSTM", error_class="unsupported"),
    ),
)
