"""The worker for Aidge: ONNX models through its importer, run by its scheduler on kernels for the CPU."""

from __future__ import annotations

import tempfile
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Sequence

import numpy as np

if TYPE_CHECKING:
    from conformance.workers import watched_memory
    from conformance.workers import wire_arrays as wire
    from conformance.workers import worker_protocol as protocol
else:
    import watched_memory
    import wire_arrays as wire
    import worker_protocol as protocol


class _Model(NamedTuple):
    graph: Any
    scheduler: Any
    order: List[str]
    layouts: List[Any]
    watch: watched_memory.Watch


class AidgeWorker(protocol.Worker):
    """Graphs of one model each; what the importer does not know stands in them as a generic operator."""

    def __init__(self, options: Dict[str, str]) -> None:
        del options  # it has none
        self._onnx = import_module("onnx")
        self._core = import_module("aidge_core")
        import_module("aidge_backend_cpu")
        self._load = import_module("aidge_onnx").load_onnx
        self._folder = Path(tempfile.mkdtemp(prefix="aidge-"))

    def hello(self) -> protocol.Header:
        return {
            "runtime": {"name": "aidge", "version": version("aidge-onnx")},
            "domains": {"*": "onnx"},
            "forms": ["initializers", "inputs", "dynamic", "again", "untouched"],
            "devices": ["CPU"],
            "element_types": wire.REAL,
        }

    def load(self, request: protocol.LoadRequest) -> _Model:
        model = self._onnx.load_model_from_string(request.demand_onnx())
        order = [each.name for each in model.graph.input]
        file = self._folder / "model.onnx"  # it reads models from files alone
        file.write_bytes(request.demand_onnx())
        graph = self._load(str(file))
        for node in graph.get_nodes():
            if type(node.get_operator()).__name__ == "GenericOperatorOp":
                raise protocol.Unsupported("Aidge has no operator %s: it is generic to it" % node.type())
        graph.set_backend("cpu")
        # The importer says in which layout each input is; a tensor in another one does not go with constants.
        ends = [node.get_operator().get_input(place) for node, place in graph.get_ordered_inputs() if node]
        layouts = [None if each is None else each.dformat for each in ends]
        scheduler = self._core.SequentialScheduler(graph)
        return _Model(graph, scheduler, order, layouts, watched_memory.watch_for(request))

    def run(self, model: _Model, inputs: Dict[str, protocol.WireTensor]) -> Sequence[Any]:
        arrays = {name: wire.to_numpy(inputs[name]) for name in model.order}
        model.watch.given(arrays)
        tensors = [self._core.Tensor(each) for each in arrays.values()]
        for tensor, layout in zip(tensors, model.layouts):  # noqa: B905 - Python 3.9
            if layout is not None:
                tensor.set_data_format(layout)
        if (
            model.graph.get_nodes()
        ):  # of constants alone the importer makes no node, and there is nothing to run
            model.scheduler.forward(data=tensors)
        outputs = [node.get_operator().get_output(place) for node, place in model.graph.get_ordered_outputs()]
        # Its tensors are copied into arrays: of where they lie nothing is known.
        return model.watch.returned([], [wire.from_numpy(np.array(each)) for each in outputs])


if __name__ == "__main__":
    protocol.serve(AidgeWorker)
