"""Any class with ONNX's Backend interface, in the caller's own interpreter: `module:Backend`."""

from __future__ import annotations

from conformance.runtimes.adapter import Adapter, UnsupportedRule

ADAPTER = Adapter(
    name="backend",
    first_line="module:Backend, any class with ONNX's Backend interface, in --python's environment",
    requirements=(),
    worker="backend_worker.py",
    options={"backend": (), "device": ()},
    unsupported=(
        UnsupportedRule("NotImplementedError: Gelu has no kernel"),
        UnsupportedRule("BackendIsNotSupposedToImplementIt: Resize"),
        UnsupportedRule(
            "Unsupported: bfloat16 needs ml_dtypes in the runtime's environment", error_class="unsupported"
        ),
    ),
)
