"""The worker for OpenCV: its ONNX importer, and its networks on the CPU (`cv2.dnn`)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Dict, Sequence

import numpy as np

if TYPE_CHECKING:
    from conformance.workers.watched_memory import watch_for
    from conformance.workers.wire_arrays import REAL, from_numpy, to_numpy
    from conformance.workers.worker_protocol import (
        Header,
        LoadRequest,
        WireTensor,
        Worker,
        WorkerFault,
        serve,
    )
else:
    from watched_memory import watch_for
    from wire_arrays import REAL, from_numpy, to_numpy
    from worker_protocol import Worker, WorkerFault, serve

# The first unless `load` asks for another.
_THREADS = (1, 2, 4)


class _Model:
    __slots__ = ("network", "outputs", "threads", "watch")

    def __init__(self, network: Any, outputs: Sequence[str], threads: int, watch: Any) -> None:
        self.network = network
        self.outputs = outputs
        self.threads = threads
        self.watch = watch


class OpencvWorker(Worker):
    """Networks of one of OpenCV's two engines, or of the one that it chooses itself."""

    def __init__(self, options: Dict[str, str]) -> None:
        self._cv2 = import_module("cv2")
        self._name = options.get("engine", "auto")
        self._engine = getattr(self._cv2.dnn, "ENGINE_" + self._name.upper())
        self._cv2.utils.logging.setLogLevel(self._cv2.utils.logging.LOG_LEVEL_SILENT)

    def hello(self) -> Header:
        return {
            "runtime": {"name": "opencv", "version": str(self._cv2.__version__)},
            "domains": {"*": "onnx"},
            "forms": ["inputs", "initializers", "dynamic", "strided", "again", "untouched", "threads"],
            "devices": ["CPU"],
            "threads": list(_THREADS),
            "element_types": REAL,
            "x_settings": {"engine": self._name},
        }

    def load(self, request: LoadRequest) -> _Model:
        if request.onnx is None:
            raise WorkerFault("no ONNX model in the request")
        network = self._cv2.dnn.readNetFromONNX(np.frombuffer(request.onnx, np.uint8), self._engine)
        names = [each for each in request.outputs if each]
        return _Model(network, names, request.threads or _THREADS[0], watch_for(request))

    def run(self, model: _Model, inputs: Dict[str, WireTensor]) -> Sequence[Any]:
        self._cv2.setNumThreads(model.threads)
        arrays = {name: to_numpy(each) for name, each in inputs.items()}
        if model.watch is not None:
            model.watch.given(arrays)
        for name, array in arrays.items():
            model.network.setInput(array, name)
        returned = model.network.forward(model.outputs)
        outputs = [from_numpy(each) for each in returned]
        return outputs if model.watch is None else model.watch.returned(returned, outputs)


if __name__ == "__main__":
    serve(OpencvWorker)
