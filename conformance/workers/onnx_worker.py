"""The worker for ONNX's own reference evaluator (`onnx.reference.ReferenceEvaluator`)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Sequence

if TYPE_CHECKING:
    from conformance.workers import watched_memory
    from conformance.workers import wire_arrays as wire
    from conformance.workers import worker_protocol as protocol
else:
    import watched_memory
    import wire_arrays as wire
    import worker_protocol as protocol


class _Model(NamedTuple):
    evaluator: Any
    types: List[str]
    watch: watched_memory.Watch


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
            "values": ["map", "optional", "sequence"],
            "element_types": None,
        }

    def load(self, request: protocol.LoadRequest) -> _Model:
        model = self._onnx.load_model_from_string(request.demand_onnx())
        types = [self._text_of(output.type) for output in model.graph.output]
        return _Model(self._evaluator(model), types, watched_memory.watch_for(request))

    def run(self, model: _Model, inputs: Dict[str, protocol.WireTensor]) -> Sequence[Any]:
        arrays = {name: wire.to_plain(each) for name, each in inputs.items()}
        model.watch.given(arrays)
        returned: List[Any] = model.evaluator.run(None, arrays)
        outputs = [wire.from_plain(each, kind) for each, kind in zip(returned, model.types)]  # noqa: B905
        return model.watch.returned(returned, outputs)

    def _text_of(self, declared: Any) -> str:
        """A type as ONNX writes it, of what is no tensor."""
        kind = declared.WhichOneof("value")
        if kind == "sequence_type":
            return "seq(%s)" % self._text_of(declared.sequence_type.elem_type)
        if kind == "optional_type":
            return "optional(%s)" % self._text_of(declared.optional_type.elem_type)
        if kind == "map_type":
            names = self._onnx.TensorProto.DataType
            key = names.Name(declared.map_type.key_type).lower()
            of = names.Name(declared.map_type.value_type.tensor_type.elem_type).lower()
            return "map(%s,tensor(%s))" % (key, of)
        return "tensor"


if __name__ == "__main__":
    protocol.serve(OnnxWorker)
