"""emx-onnx-cgen: ONNX models as programs in C, compiled for the processor that this is."""

from __future__ import annotations

from conformance.runtimes.adapter import Adapter, UnsupportedRule

ADAPTER = Adapter(
    name="emx-onnx-cgen",
    first_line="emx-onnx-cgen (package emx-onnx-cgen, and a C compiler): ONNX models as programs in C",
    issues="https://github.com/emmtrix/emx-onnx-cgen/issues/new",
    requirements=("emx-onnx-cgen", "onnx", "ml-dtypes"),
    worker="emx_onnx_cgen_worker.py",
    unsupported=(
        UnsupportedRule("UnsupportedOpError: Unsupported op Attention"),
        UnsupportedRule(
            "RuntimeError: C compilation failed:\nmodel.c:204:5: error: unknown type name ‘__bf16’",
            message=r"error: unknown type name \S__bf16\S",
        ),
        UnsupportedRule(
            "Unsupported: its Backend writes each element as text: too many here", error_class="unsupported"
        ),
    ),
)
