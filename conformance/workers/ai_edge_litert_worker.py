"""The worker for LiteRT: TensorFlow's operators as models of one builtin of TensorFlow Lite."""

from __future__ import annotations

from importlib import import_module, metadata
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Sequence

import numpy as np

if TYPE_CHECKING:
    from conformance.workers import tflite_flatbuffers, tflite_models
    from conformance.workers import wire_arrays as wire
    from conformance.workers import worker_protocol as protocol
else:
    import tflite_flatbuffers
    import tflite_models
    import wire_arrays as wire
    import worker_protocol as protocol


class _Model(NamedTuple):
    interpreter: Any
    names: List[str]


class LiteRtWorker(protocol.Worker):
    """Interpreters of one model each, with the delegate that LiteRT chooses itself, or without one."""

    def __init__(self, options: Dict[str, str]) -> None:
        self._delegate = options.get("delegate", "default")
        self._module = import_module("ai_edge_litert.interpreter")
        self._schema = import_module("ai_edge_litert.schema_py_generated")

    def hello(self) -> protocol.Header:
        return {
            "runtime": {"name": "ai-edge-litert", "version": metadata.version("ai-edge-litert")},
            "domains": {"org.tensorflow": "node"},
            "forms": ["initializers", "inputs", "dynamic", "again"],
            "devices": ["CPU"],
            "element_types": None,
            "x_settings": {"delegate": self._delegate, "threads": 1},
        }

    def load(self, request: protocol.LoadRequest) -> _Model:
        model = tflite_models.plan(request)
        kinds = self._module.OpResolverType
        kind = kinds.AUTO if self._delegate == "default" else kinds.BUILTIN_WITHOUT_DEFAULT_DELEGATES
        interpreter = self._module.Interpreter(
            model_content=tflite_flatbuffers.write(self._schema, model),
            num_threads=1,
            experimental_op_resolver_type=kind,
        )
        if all(None not in each.shape for each in model.operands):
            interpreter.allocate_tensors()
        return _Model(interpreter, [model.operands[place].name for place in model.given])

    def run(self, model: _Model, inputs: Dict[str, protocol.WireTensor]) -> Sequence[Any]:
        taken = dict(zip(model.names, model.interpreter.get_input_details()))  # noqa: B905 - Python 3.9
        for name, each in taken.items():
            if tuple(each["shape"]) != inputs[name].shape:
                model.interpreter.resize_tensor_input(each["index"], inputs[name].shape)
        model.interpreter.allocate_tensors()
        for name, each in taken.items():
            array = _to_array(inputs[name])
            narrowed = each["dtype"] == np.int32 and array.dtype == np.int64
            model.interpreter.set_tensor(each["index"], tflite_models.narrow(array) if narrowed else array)
        model.interpreter.invoke()
        found = model.interpreter.get_output_details()
        return [wire.from_numpy(model.interpreter.get_tensor(each["index"])) for each in found]


def _to_array(tensor: protocol.WireTensor) -> Any:
    """Strings are bytes to LiteRT."""
    if tensor.element_type != "string":
        return wire.to_numpy(tensor)
    array = wire.to_bytes(tensor)
    if tensor.shape:
        return array
    # Of an array of one object without axes it reads the address; numpy's own bytes are never empty.
    if not array.item():
        raise protocol.Unsupported("LiteRT's interface takes no empty string without axes")
    return np.array(array.item())


if __name__ == "__main__":
    protocol.serve(LiteRtWorker)
