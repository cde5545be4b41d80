"""ONNX Runtime through its class with ONNX's Backend interface: a built-in runtime in one file."""

from __future__ import annotations

from conformance.runtimes.adapter import Adapter, UnsupportedRule

ADAPTER = Adapter(
    name="onnxruntime-backend",
    first_line="ONNX Runtime through onnxruntime.backend",
    requirements=("onnxruntime", "onnx"),
    worker="backend_worker.py",
    options={"backend": ("onnxruntime.backend.backend:OnnxRuntimeBackend",)},
    unsupported=(
        UnsupportedRule(
            "NotImplemented: [ONNXRuntimeError] : 9 : NOT_IMPLEMENTED : Could not find an implementation for "
            "Resize(18) node with name ''",
        ),
    ),
)
