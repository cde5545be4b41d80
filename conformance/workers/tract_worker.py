"""The worker for tract, from its Python package: ONNX models, optimised for the CPU."""

from __future__ import annotations

import tempfile
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Sequence, Tuple

if TYPE_CHECKING:
    from conformance.workers.watched_memory import watch_for
    from conformance.workers.wire_arrays import REAL, from_numpy, to_numpy
    from conformance.workers.worker_protocol import (
        Header,
        LoadRequest,
        NotTensor,
        WireTensor,
        Worker,
        WorkerFault,
        serve,
    )
else:
    from watched_memory import watch_for
    from wire_arrays import REAL, from_numpy, to_numpy
    from worker_protocol import NotTensor, Worker, WorkerFault, serve


class TractWorker(Worker):
    """Models made runnable as they are: nothing is told to tract that does not stand in the model."""

    def __init__(self, options: Dict[str, str]) -> None:
        del options  # it has none
        self._tract = import_module("tract")
        self._folder = Path(tempfile.mkdtemp(prefix="tract-"))

    def hello(self) -> Header:
        return {
            "runtime": {"name": "tract", "version": str(self._tract.version())},
            "domains": {"*": "onnx"},
            "forms": ["initializers", "inputs", "dynamic", "strided", "again", "untouched"],
            "devices": ["CPU"],
            "element_types": REAL,
        }

    def load(self, request: LoadRequest) -> Tuple[List[str], Any, Any]:
        if request.onnx is None:
            raise WorkerFault("no ONNX model in the request")
        file = self._folder / "model.onnx"  # it reads models from files alone
        file.write_bytes(request.onnx)
        found = self._tract.onnx().load(file)
        order = [found.input_name(each) for each in range(found.input_count())]
        return order, found.into_model().into_runnable(), watch_for(request)

    def run(self, model: Tuple[List[str], Any, Any], inputs: Dict[str, WireTensor]) -> Sequence[Any]:
        order, runnable, watch = model
        given = {name: to_numpy(inputs[name]) for name in order}
        if watch is not None:
            watch.given(given)
        # The tensors that it returns are copied into arrays: of where they lie nothing is known.
        outputs = [_from_tensor(each) for each in runnable.run(list(given.values()))]
        return outputs if watch is None else watch.returned([], outputs)


def _from_tensor(value: Any) -> Any:
    try:
        return from_numpy(value.to_numpy())
    except (TypeError, ValueError):  # of a type that its Python package has no name for
        return NotTensor(value)


if __name__ == "__main__":
    serve(TractWorker)
