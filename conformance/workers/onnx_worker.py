"""The worker for ONNX's own reference evaluator (`onnx.reference.ReferenceEvaluator`)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Dict, List, Sequence, Tuple

if TYPE_CHECKING:
    from conformance.workers.watched_memory import watch_for
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
    from watched_memory import watch_for
    from wire_arrays import from_numpy, to_numpy
    from worker_protocol import Worker, WorkerFault, serve


class OnnxWorker(Worker):
    """Evaluators of one model each."""

    def __init__(self, options: Dict[str, str]) -> None:
        del options  # it has none
        self._onnx = import_module("onnx")
        self._evaluator = import_module("onnx.reference").ReferenceEvaluator

    def hello(self) -> Header:
        return {
            "runtime": {"name": "onnx", "version": str(self._onnx.__version__)},
            "domains": {"*": "onnx"},
            "forms": ["inputs", "initializers", "dynamic", "strided", "again", "untouched"],
            "opsets": {"ai.onnx": int(self._onnx.defs.onnx_opset_version())},
            "devices": ["CPU"],
            "element_types": None,
        }

    def load(self, request: LoadRequest) -> Tuple[Any, Any]:
        if request.onnx is None:
            raise WorkerFault("no ONNX model in the request")
        return self._evaluator(self._onnx.load_model_from_string(request.onnx)), watch_for(request)

    def run(self, model: Tuple[Any, Any], inputs: Dict[str, WireTensor]) -> Sequence[Any]:
        evaluator, watch = model
        arrays = {name: to_numpy(each) for name, each in inputs.items()}
        if watch is not None:
            watch.given(arrays)
        returned: List[Any] = evaluator.run(None, arrays)
        outputs = [from_numpy(each) for each in returned]
        return outputs if watch is None else watch.returned(returned, outputs)


if __name__ == "__main__":
    serve(OnnxWorker)
