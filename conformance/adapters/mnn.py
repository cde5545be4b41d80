"""MNN on the CPU: ONNX models converted to its own, and run as modules."""

from __future__ import annotations

from conformance.runtimes.adapter import Adapter, UnsupportedRule

ADAPTER = Adapter(
    name="mnn",
    first_line="MNN on the CPU (package MNN): ONNX models through its converter, computing in float32",
    requirements=("MNN", "numpy", "onnx"),
    worker="mnn_worker.py",
    unsupported=(
        UnsupportedRule(
            "ConversionFailed: These Op Not Support: ONNX::Foo ",
            kind="ConversionFailed|RuntimeError",  # the latter where nothing but MNN is at work
            message="These Op Not Support: ",
        ),
        UnsupportedRule(
            "Unsupported: MNN computes with no tensors of int64: y would be one",
            message="MNN computes with no tensors of ",
            error_class="unsupported",
        ),
    ),
)
