"""The values of a graph by name: their types, and those that the model fixes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from onnx import GraphProto, TensorProto, TypeProto

from conformance.adopting.foreign_values import read_foreign_tensor
from conformance.checked_models.model_calls import Extent, ModelValue
from conformance.checked_models.outside_data import MOST_ELEMENTS, element_count, has_data
from conformance.suite.protos import read_type
from opcert.vocabulary.element_types import BY_CODE
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.tensors import Tensor

_MOST_AXES = 64


def text(name: str | bytes) -> str:
    """A name as text: those that are no UTF-8 come as bytes."""
    return name.decode("utf-8", "surrogateescape") if isinstance(name, bytes) else name


def typed_value(name: str, declared: TypeProto | None) -> ModelValue:
    """A value of a declared type; extents that are none are not known."""
    kind = None if declared is None else declared.WhichOneof("value")
    if declared is None or kind is None:
        return ModelValue(text(name))
    if kind != "tensor_type":
        try:
            return ModelValue(text(name), kind=str(read_type(declared)))
        except UserError:
            return ModelValue(text(name), kind=kind.removesuffix("_type").replace("_", " "))
    tensor = declared.tensor_type
    element_type = BY_CODE.get(tensor.elem_type)
    shape: tuple[Extent, ...] | None = None
    if tensor.HasField("shape") and len(tensor.shape.dim) <= _MOST_AXES:
        shape = tuple(map(_extent, tensor.shape.dim))
    return ModelValue(text(name), None if element_type is None else element_type.name, shape)


def _extent(dimension: TypeProto.Tensor) -> Extent:
    if dimension.HasField("dim_value"):
        return dimension.dim_value if dimension.dim_value >= 0 else None
    return text(dimension.dim_param) or None


def constant_value(name: str, proto: TensorProto) -> ModelValue:
    """A value that the model fixes: small ones with the value itself; one that cannot be read without it."""
    element_type = BY_CODE.get(proto.data_type)
    count = element_count(proto)
    if element_type is None or count is None or len(proto.dims) > _MOST_AXES:
        return ModelValue(
            text(name), None if element_type is None else element_type.name, None, is_constant=True
        )
    found = ModelValue(text(name), element_type.name, tuple(proto.dims), is_constant=True)
    if count <= MOST_ELEMENTS and has_data(proto):
        try:
            return replace(found, constant=read_foreign_tensor(proto))
        except UserError:
            return found
    return found


def fixed_value(value: ModelValue, constant: Tensor | None) -> ModelValue:
    """A value of which it is known that the model fixes it, and to what where that is small."""
    if constant is None:
        return replace(value, is_constant=True)
    kept = constant if constant.array.size <= MOST_ELEMENTS else None
    return replace(
        value,
        element_type=constant.element_type.name,
        shape=constant.shape,
        is_constant=True,
        constant=kept,
    )


class GraphScope:
    """The values that the nodes of a graph see: its own, and behind them those around it."""

    def __init__(self, graph: GraphProto, types: Mapping[str, TypeProto], around: GraphScope | None) -> None:
        self._types = types
        self._around = around
        self._own: dict[str, ModelValue] = {}
        self.replaceable = 0
        for each in graph.input:
            self._own[each.name] = typed_value(each.name, types.get(each.name))
        shapes = [each.shape or () for each in self._own.values()]
        own = frozenset(each for shape in shapes for each in shape if isinstance(each, str))
        self.run_extents: frozenset[str] = own if around is None else around.run_extents
        """The names of extents that the inputs of the outermost graph have."""
        for initializer in graph.initializer:
            self.replaceable += initializer.name in self._own
            self._own[initializer.name] = constant_value(initializer.name, initializer)
        for sparse in graph.sparse_initializer:
            found = constant_value(sparse.values.name, TensorProto(data_type=sparse.values.data_type))
            self._own[sparse.values.name] = replace(found, shape=tuple(sparse.dims), kind="sparse tensor")

    def find(self, name: str) -> ModelValue | None:
        """The value of a name; None where there is none."""
        scope: GraphScope | None = self
        while scope is not None:
            if name in scope._own:
                return scope._own[name]
            scope = scope._around
        return None

    def taken(self, names: Iterable[str]) -> tuple[ModelValue | None, ...]:
        """What a node takes; a name that nothing has is a value of which nothing is known."""
        return tuple((self.find(each) or ModelValue(text(each))) if each else None for each in names)

    def give(self, names: Iterable[str]) -> list[ModelValue | None]:
        """What a node gives, as far as its types are known: of two values of one name the first counts."""
        found: list[ModelValue | None] = []
        for each in names:
            value = typed_value(each, self._types.get(each)) if each else None
            if value is not None:
                self._own.setdefault(each, value)
            found.append(value)
        return found

    def fix(self, name: str, value: ModelValue) -> None:
        """Replace a value by what is known of it now."""
        self._own[name] = value
