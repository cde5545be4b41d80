"""The worker for ONNX's own reference evaluator (`onnx.reference.ReferenceEvaluator`)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Dict, List, Sequence, Tuple

if TYPE_CHECKING:
    from conformance.workers import watched_memory
    from conformance.workers import wire_arrays as wire
    from conformance.workers import worker_protocol as protocol
else:
    import watched_memory
    import wire_arrays as wire
    import worker_protocol as protocol


class OnnxWorker(protocol.Worker):
    """Evaluators of one model each."""

    def __init__(self, options: Dict[str, str]) -> None:
        del options  # it has none
        self._onnx = import_module("onnx")
        self._evaluator = import_module("onnx.reference").ReferenceEvaluator

    def hello(self) -> protocol.Header:
        return {
            "runtime": {"name": "onnx", "version": str(self._onnx.__version__)},
            "domains": {"*": "onnx"},
            "forms": ["inputs", "initializers", "dynamic", "strided", "again", "untouched"],
            "opsets": {"ai.onnx": int(self._onnx.defs.onnx_opset_version())},
            "devices": ["CPU"],
            "element_types": None,
        }

    def load(self, request: protocol.LoadRequest) -> Tuple[Any, watched_memory.Watch]:
        return self._evaluator(
            self._onnx.load_model_from_string(request.demand_onnx())
        ), watched_memory.watch_for(request)

    def run(
        self, model: Tuple[Any, watched_memory.Watch], inputs: Dict[str, protocol.WireTensor]
    ) -> Sequence[Any]:
        evaluator, watch = model
        arrays = {name: wire.to_numpy(each) for name, each in inputs.items()}
        watch.given(arrays)
        returned: List[Any] = evaluator.run(None, arrays)
        outputs = [wire.from_numpy(each) for each in returned]
        return watch.returned(returned, outputs)


if __name__ == "__main__":
    protocol.serve(OnnxWorker)
