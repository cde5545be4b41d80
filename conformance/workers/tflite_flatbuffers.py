"""Models of TensorFlow Lite as flatbuffers, by the classes that a runtime's package has of the schema."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Optional, Tuple

if TYPE_CHECKING or __package__:
    from conformance.workers import worker_protocol as protocol
    from conformance.workers.tflite_models import Model, Operand
else:
    import worker_protocol as protocol
    from tflite_models import Model, Operand

Shape = Tuple[int, ...]

_ALIGNMENT = 16
_TYPES = {"float": "FLOAT32", "double": "FLOAT64"}


def write(schema: Any, model: Model, shape: Optional[Shape] = None) -> bytes:
    """The flatbuffer of a model, by the classes that a runtime's package has of the schema.

    Without the shape of its output, that is one to be worked out by the runtime.
    """
    code = schema.OperatorCodeT()
    code.builtinCode = getattr(schema.BuiltinOperator, model.builtin.name)
    code.deprecatedBuiltinCode = min(
        code.builtinCode, schema.BuiltinOperator.PLACEHOLDER_FOR_GREATER_OP_CODES
    )
    code.version = model.version
    operator = schema.OperatorT()
    operator.inputs, operator.outputs = list(model.order), [len(model.operands)]
    if model.builtin.options:
        operator.builtinOptionsType = getattr(schema.BuiltinOptions, model.builtin.options)
        operator.builtinOptions = getattr(schema, model.builtin.options + "T")()
        for field, value in model.options.items():
            setattr(operator.builtinOptions, field, value)
    graph = schema.SubGraphT()
    graph.operators, graph.inputs, graph.outputs = [operator], model.given, [len(model.operands)]
    result = Operand("output", model.output_type, shape or ())
    graph.tensors, buffers = [], [_Buffer(schema, b"")]
    for operand in [*model.operands, result]:
        graph.tensors.append(_tensor(schema, operand))
        if operand.data:
            graph.tensors[-1].buffer = len(buffers)
            buffers.append(_Buffer(schema, operand.data))
    whole = schema.ModelT()
    whole.version, whole.operatorCodes, whole.subgraphs, whole.buffers = 3, [code], [graph], buffers
    builder = import_module("flatbuffers").Builder(1024)
    builder.Finish(whole.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def type_name(element_type: str) -> str:
    """TensorFlow Lite's name of an element type."""
    return _TYPES.get(element_type, element_type.upper())


def _tensor(schema: Any, operand: Operand) -> Any:
    name = type_name(operand.element_type)
    if not hasattr(schema.TensorType, name):
        raise protocol.Unsupported("TensorFlow Lite has no tensors of %s" % operand.element_type)
    tensor = schema.TensorT()
    tensor.name, tensor.type = operand.name, getattr(schema.TensorType, name)
    tensor.shape = [1 if each is None else each for each in operand.shape]
    if None in operand.shape:
        tensor.shapeSignature = [-1 if each is None else each for each in operand.shape]
    return tensor


class _Buffer:
    """A buffer where its bytes are aligned, which those of the schema's own class are not."""

    def __init__(self, schema: Any, data: bytes) -> None:
        self._schema, self._data = schema, data

    def Pack(self, builder: Any) -> Any:  # noqa: N802 - the schema's name
        vector = None
        if self._data:
            builder.StartVector(1, len(self._data), _ALIGNMENT)
            builder.head = builder.head - len(self._data)
            builder.Bytes[builder.head : builder.head + len(self._data)] = self._data
            vector = builder.EndVector()
        self._schema.BufferStart(builder)
        if vector is not None:
            self._schema.BufferAddData(builder, vector)
        return self._schema.BufferEnd(builder)
