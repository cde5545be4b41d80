"""The worker for OpenCV: its ONNX importer, and its networks on the CPU (`cv2.dnn`)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Dict, NamedTuple, Sequence

import numpy as np

if TYPE_CHECKING:
    from conformance.workers import watched_memory
    from conformance.workers import wire_arrays as wire
    from conformance.workers import worker_protocol as protocol
else:
    import watched_memory
    import wire_arrays as wire
    import worker_protocol as protocol

# The first unless `load` asks for another.
_THREADS = (1, 2, 4)


class _Model(NamedTuple):
    network: Any
    outputs: Sequence[str]
    threads: int
    watch: watched_memory.Watch


class OpencvWorker(protocol.Worker):
    """Networks of one of OpenCV's two engines, or of the one that it chooses itself."""

    def __init__(self, options: Dict[str, str]) -> None:
        self._cv2 = import_module("cv2")
        self._name = options.get("engine", "auto")
        self._engine = getattr(self._cv2.dnn, "ENGINE_" + self._name.upper())
        self._cv2.utils.logging.setLogLevel(self._cv2.utils.logging.LOG_LEVEL_SILENT)

    def hello(self) -> protocol.Header:
        return {
            "runtime": {"name": "opencv", "version": str(self._cv2.__version__)},
            "domains": {"*": "onnx"},
            "forms": ["inputs", "initializers", "dynamic", "strided", "again", "untouched", "threads"],
            "devices": ["CPU"],
            "threads": list(_THREADS),
            "element_types": wire.REAL,
            "x_settings": {"engine": self._name},
        }

    def load(self, request: protocol.LoadRequest) -> _Model:
        network = self._cv2.dnn.readNetFromONNX(np.frombuffer(request.demand_onnx(), np.uint8), self._engine)
        names = [output for output in request.outputs if output]
        return _Model(network, names, request.threads or _THREADS[0], watched_memory.watch_for(request))

    def run(self, model: _Model, inputs: Dict[str, protocol.WireTensor]) -> Sequence[Any]:
        self._cv2.setNumThreads(model.threads)
        arrays = {name: wire.to_numpy(each) for name, each in inputs.items()}
        model.watch.given(arrays)
        for name, array in arrays.items():
            model.network.setInput(array, name)
        returned = model.network.forward(model.outputs)
        outputs = [wire.from_numpy(each) for each in returned]
        return model.watch.returned(returned, outputs)


if __name__ == "__main__":
    protocol.serve(OpencvWorker)
