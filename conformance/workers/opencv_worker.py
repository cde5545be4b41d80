"""The worker for OpenCV: its ONNX importer, and its networks on the CPU (`cv2.dnn`)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Dict, Sequence, Tuple

import numpy as np

if TYPE_CHECKING:
    from conformance.workers.wire_arrays import from_numpy, to_numpy
    from conformance.workers.worker_protocol import (
        Header,
        LoadRequest,
        WireTensor,
        Worker,
        WorkerFault,
        serve,
    )
else:
    from wire_arrays import from_numpy, to_numpy
    from worker_protocol import Worker, WorkerFault, serve

_TYPES = [
    "float", "double", "float16", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
    "uint64",
]  # fmt: skip


class OpencvWorker(Worker):
    """Networks of one of OpenCV's two engines, or of the one that it chooses itself."""

    def __init__(self, options: Dict[str, str]) -> None:
        self._cv2 = import_module("cv2")
        self._name = options.get("engine", "auto")
        self._engine = getattr(self._cv2.dnn, "ENGINE_" + self._name.upper())
        self._cv2.setNumThreads(1)
        self._cv2.utils.logging.setLogLevel(self._cv2.utils.logging.LOG_LEVEL_SILENT)

    def hello(self) -> Header:
        return {
            "runtime": {"name": "opencv", "version": str(self._cv2.__version__)},
            "domains": {"*": "onnx"},
            "forms": ["inputs", "initializers", "dynamic"],
            "devices": ["CPU"],
            "element_types": _TYPES,
            "x_settings": {"engine": self._name, "threads": 1},
        }

    def load(self, request: LoadRequest) -> Tuple[Any, Tuple[str, ...]]:
        if request.onnx is None:
            raise WorkerFault("no ONNX model in the request")
        read = self._cv2.dnn.readNetFromONNX
        return read(np.frombuffer(request.onnx, np.uint8), self._engine), tuple(filter(None, request.outputs))

    def run(self, model: Tuple[Any, Tuple[str, ...]], inputs: Dict[str, WireTensor]) -> Sequence[Any]:
        network, names = model
        for name, each in inputs.items():
            network.setInput(to_numpy(each), name)
        return [from_numpy(each) for each in network.forward(names)]


if __name__ == "__main__":
    serve(OpencvWorker)
