"""The worker for emx-onnx-cgen: its class with ONNX's Backend interface, which compiles C for each model."""

from __future__ import annotations

import shutil
import subprocess
from importlib.metadata import version
from math import prod
from typing import TYPE_CHECKING, Any, Dict, Sequence

if TYPE_CHECKING:
    from conformance.workers import backend_worker as backend
    from conformance.workers import worker_protocol as protocol
else:
    import backend_worker as backend
    import worker_protocol as protocol

_MOST = 1 << 22
"""Elements of a tensor: each comes back as a text of JSON."""


class EmxOnnxCgenWorker(backend.BackendWorker):
    """Programs of one model each, made by the C compiler that is found, started for each run."""

    def __init__(self, options: Dict[str, str]) -> None:
        del options  # it has none
        super().__init__({"backend": "emx_onnx_cgen.onnx_backend.backend:EmxOnnxCgenBackend"})
        # Without a compiler nothing runs: that is told before the first case.
        found = [each for each in ("cc", "gcc", "clang") if shutil.which(each)]
        if not found:
            raise FileNotFoundError("no C compiler is found: cc, gcc or clang")
        said = subprocess.run([found[0], "--version"], capture_output=True, text=True, check=True).stdout
        self._compiler = said.splitlines()[0]

    def hello(self) -> protocol.Header:
        return dict(
            super().hello(),
            runtime={"name": "emx-onnx-cgen", "version": version("emx-onnx-cgen")},
            forms=["initializers", "inputs"],
            x_settings={"compiler": self._compiler},
        )

    def run(self, model: Any, inputs: Dict[str, protocol.WireTensor]) -> Sequence[Any]:
        if any(prod(each.shape) > _MOST for each in inputs.values()):
            raise protocol.Unsupported("its Backend writes each element as text: too many here")
        return super().run(model, inputs)


if __name__ == "__main__":
    protocol.serve(EmxOnnxCgenWorker)
