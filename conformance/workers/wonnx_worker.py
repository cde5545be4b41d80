"""The worker for wonnx: ONNX models through its Python package, on the Vulkan driver that there is."""

from __future__ import annotations

import os
from importlib import import_module
from importlib.metadata import version
from math import prod
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Sequence

import numpy as np

if TYPE_CHECKING:
    from conformance.workers import wire_arrays as wire
    from conformance.workers import worker_protocol as protocol
else:
    import wire_arrays as wire
    import worker_protocol as protocol

_OF_CONSTANTS = ("int32", "int64")
_MOST = 1 << 24
"""Elements of a tensor: each is an object of Python's for a while, and 100 bytes in all."""


class Panic(Exception):
    """A panic of wonnx's Rust, whose own class is none of Python's Exceptions."""


class _Model(NamedTuple):
    session: Any
    order: List[str]
    outputs: List[Any]


class WonnxWorker(protocol.Worker):
    """Sessions of one model each; lists of elements come back, in the shapes that the model declares."""

    def __init__(self, options: Dict[str, str]) -> None:
        self._driver = options.get("driver", "")
        if self._driver:  # the loader of Vulkan reads this
            os.environ["VK_ICD_FILENAMES"] = self._driver
        self._onnx = import_module("onnx")
        self._session = import_module("wonnx").Session
        # Without a driver nothing runs: that is told before the first case.
        made = self._onnx.helper
        ends = [made.make_tensor_value_info(name, 1, [1]) for name in "XY"]
        graph = made.make_graph([made.make_node("Relu", ["X"], ["Y"])], "one", ends[:1], ends[1:])
        model = made.make_model(graph, opset_imports=[made.make_opsetid("", 13)], ir_version=8)
        _panic_told(lambda: self._session.from_bytes(model.SerializeToString()).run({"X": [1.0]}))

    def hello(self) -> protocol.Header:
        return {
            "runtime": {"name": "wonnx", "version": version("wonnx")},
            "domains": {"*": "onnx"},
            "forms": ["initializers", "inputs"],
            "devices": ["Vulkan"],
            "element_types": ["float", *_OF_CONSTANTS],
            "x_settings": {"driver": self._driver or "the system's"},
        }

    def load(self, request: protocol.LoadRequest) -> _Model:
        model = self._onnx.load_model_from_string(request.demand_onnx())
        for each in model.graph.input:
            if each.type.tensor_type.elem_type != self._onnx.TensorProto.FLOAT:
                raise protocol.Unsupported(
                    "wonnx's interface takes float32 alone, and %s is none" % each.name
                )
        # It makes an output as long as the model says.
        inferred = self._onnx.shape_inference.infer_shapes(model, data_prop=True)
        outputs = [each.type.tensor_type for each in inferred.graph.output]
        for each, name in zip(outputs, request.outputs):  # noqa: B905 - Python 3.9
            if not each.HasField("shape") or not all(
                extent.HasField("dim_value") for extent in each.shape.dim
            ):
                raise protocol.Unsupported(
                    "wonnx has no shapes that are known in the run, and %s has one" % name
                )
        content = inferred.SerializeToString()
        session = _panic_told(lambda: self._session.from_bytes(content))
        return _Model(session, [each.name for each in model.graph.input], list(inferred.graph.output))

    def run(self, model: _Model, inputs: Dict[str, protocol.WireTensor]) -> Sequence[Any]:
        if any(prod(each.shape) > _MOST for each in inputs.values()):
            raise protocol.Unsupported("wonnx's interface makes an object of each element: too many here")
        # It takes sequences of numbers, none of numpy's: such views are ones that hold no object for each.
        given = {name: memoryview(wire.to_numpy(inputs[name]).reshape(-1)) for name in model.order}
        returned = _panic_told(lambda: model.session.run(given))
        return [self._from_list(each.type.tensor_type, returned.get(each.name)) for each in model.outputs]

    def _from_list(self, declared: Any, value: Any) -> Any:
        shape = tuple(extent.dim_value for extent in declared.shape.dim)
        if not isinstance(value, list) or len(value) != prod(shape):
            return protocol.NotTensor(value)
        dtype = self._onnx.helper.tensor_dtype_to_np_dtype(declared.elem_type)
        return wire.from_numpy(np.array(value, dtype).reshape(shape))


def _panic_told(call: Any) -> Any:
    """What a call returns; a panic becomes an Exception."""
    try:
        return call()
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise Panic(str(error)) from error


if __name__ == "__main__":
    protocol.serve(WonnxWorker)
