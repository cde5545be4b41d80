"""The worker for JAX ONNX Runtime: its class with ONNX's Backend interface, set up as its own tests do it."""

from __future__ import annotations

import os
from importlib.metadata import version
from typing import TYPE_CHECKING, Dict

if TYPE_CHECKING:
    from conformance.workers import backend_worker as backend
    from conformance.workers import wire_arrays as wire
    from conformance.workers import worker_protocol as protocol
else:
    import backend_worker as backend
    import wire_arrays as wire
    import worker_protocol as protocol

# Before the import. Without the first one JAX takes numbers of 64 bits for ones of 32; without the last one
# axes, shapes and their like must be initializers.
_ENVIRONMENT = {
    "JAX_ENABLE_X64": "1",
    "JAX_PLATFORMS": "cpu",
    "JAXORT_ONLY_ALLOW_INITIALIZERS_AS_STATIC_ARGS": "0",
}


class JaxOnnxRuntimeWorker(backend.BackendWorker):
    """Models that are traced and compiled at each run, for the inputs that they are given."""

    def __init__(self, options: Dict[str, str]) -> None:
        del options  # it has none
        os.environ.update(_ENVIRONMENT)
        super().__init__({"backend": "jaxonnxruntime.backend:Backend", "device": "cpu"})

    def hello(self) -> protocol.Header:
        return dict(
            super().hello(),
            runtime={"name": "jaxonnxruntime", "version": version("jaxonnxruntime")},
            devices=["CPU"],
            element_types=[*wire.REAL, "bfloat16", "complex64", "complex128"],
            loads=False,
            x_settings=dict(_ENVIRONMENT, jax=version("jax")),
        )


if __name__ == "__main__":
    protocol.serve(JaxOnnxRuntimeWorker)
