"""The worker for tract, from its Python package: ONNX models, optimised for the CPU."""

from __future__ import annotations

import tempfile
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Sequence, Tuple

if TYPE_CHECKING:
    from conformance.workers import watched_memory
    from conformance.workers import wire_arrays as wire
    from conformance.workers import worker_protocol as protocol
else:
    import watched_memory
    import wire_arrays as wire
    import worker_protocol as protocol


class TractWorker(protocol.Worker):
    """Models made runnable as they are: nothing is told to tract that does not stand in the model."""

    def __init__(self, options: Dict[str, str]) -> None:
        del options  # it has none
        self._tract = import_module("tract")
        self._folder = Path(tempfile.mkdtemp(prefix="tract-"))

    def hello(self) -> protocol.Header:
        return {
            "runtime": {"name": "tract", "version": str(self._tract.version())},
            "domains": {"*": "onnx"},
            "forms": ["initializers", "inputs", "dynamic", "strided", "again", "untouched"],
            "devices": ["CPU"],
            "element_types": wire.REAL,
        }

    def load(self, request: protocol.LoadRequest) -> Tuple[List[str], Any, watched_memory.Watch]:
        file = self._folder / "model.onnx"  # it reads models from files alone
        file.write_bytes(request.demand_onnx())
        found = self._tract.onnx().load(file)
        order = [found.input_name(each) for each in range(found.input_count())]
        return order, found.into_model().into_runnable(), watched_memory.watch_for(request)

    def run(
        self, model: Tuple[List[str], Any, watched_memory.Watch], inputs: Dict[str, protocol.WireTensor]
    ) -> Sequence[Any]:
        order, runnable, watch = model
        given = {name: wire.to_numpy(inputs[name]) for name in order}
        watch.given(given)
        # The tensors that it returns are copied into arrays: of where they lie nothing is known.
        outputs = [_from_tensor(each) for each in runnable.run(list(given.values()))]
        return watch.returned([], outputs)


def _from_tensor(value: Any) -> Any:
    try:
        return wire.from_numpy(value.to_numpy())
    except (TypeError, ValueError):  # of a type that its Python package has no name for
        return protocol.NotTensor(value)


if __name__ == "__main__":
    protocol.serve(TractWorker)
