"""The nodes of a model as data, each with its call, and the values that it takes and gives."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from onnx import AttributeProto, GraphProto, NodeProto, TensorProto, TypeProto
from onnx.defs import OpSchema, SchemaError, get_schema

from conformance.adopting.foreign_values import read_foreign_tensor
from conformance.checked_models.folding import MOST_FOLDED, can_fold, constant_of_node, fold
from conformance.checked_models.inlining import graphs_of
from conformance.checked_models.model_calls import Extent, ModelNode, ModelValue
from conformance.checked_models.node_order import captured_names
from conformance.checked_models.open_graphs import names_around, open_graph
from conformance.checked_models.outside_data import MOST_ELEMENTS, element_count, has_data, tensors_in
from conformance.checked_models.type_inference import Types
from conformance.suite.protos import read_attribute, read_type
from opcert.vocabulary.attributes import Attribute, Graph
from opcert.vocabulary.element_types import BY_CODE, ELEMENT_TYPES
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.names import OperatorName
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
    kind = None if element_type is None else element_type.name
    if kind is None or count is None or len(proto.dims) > _MOST_AXES:
        return ModelValue(text(name), kind, is_constant=True)
    found = ModelValue(text(name), kind, tuple(proto.dims), is_constant=True)
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
    kind, kept = constant.element_type.name, constant if constant.array.size <= MOST_ELEMENTS else None
    return replace(value, element_type=kind, shape=constant.shape, is_constant=True, constant=kept)


class GraphScope:
    """The values that the nodes of a graph see: its own, and behind them those around it."""

    def __init__(self, graph: GraphProto, types: Mapping[str, TypeProto], around: GraphScope | None) -> None:
        self._types = types
        self._own = {value.name: typed_value(value.name, types.get(value.name)) for value in graph.input}
        self._values: ChainMap[str, ModelValue] = ChainMap(
            self._own, *(() if around is None else around._values.maps)
        )
        self.replaceable = 0
        shapes = [value.shape or () for value in self._own.values()]
        own = frozenset(extent for shape in shapes for extent in shape if isinstance(extent, str))
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
        return self._values.get(name)

    def taken(self, names: Iterable[str]) -> tuple[ModelValue | None, ...]:
        """What a node takes; a name that nothing has is a value of which nothing is known."""
        return tuple((self.find(name) or ModelValue(text(name))) if name else None for name in names)

    def give(self, names: Iterable[str]) -> list[ModelValue | None]:
        """What a node gives, as far as its types are known: of two values of one name the first counts."""
        found: list[ModelValue | None] = []
        for name in names:
            value = typed_value(name, self._types.get(name)) if name else None
            if value is not None:
                self._own.setdefault(name, value)
            found.append(value)
        return found

    def fix(self, name: str, value: ModelValue) -> None:
        """Replace a value by what is known of it now."""
        self._own[name] = value


Values = Sequence[ModelValue | None]
_SEQUENCE = "seq(tensor("


def with_schema_types(operator: OperatorName, inputs: Values, outputs: Values) -> list[ModelValue | None]:
    """A node's outputs, those without a type with the one that the schema fixes, or that an input has.

    Schemas of ai.onnx.ml, for one, come without inference; where such a node stands, every one behind it
    would be of unknown types. Shapes stay unknown.
    """
    found = list(outputs)
    if all(value is None or not _is_unknown(value) for value in found):
        return found
    schema = _schema(operator)
    if schema is None:
        return found
    known = {
        formal.type_str: value.element_type
        for formal, value in zip(_spread(schema.inputs, len(inputs)), inputs, strict=False)
        if value is not None and value.element_type is not None
    }
    allowed = {
        type_constraint.type_param_str: type_constraint.allowed_type_strs
        for type_constraint in schema.type_constraints
    }
    for place, formal in enumerate(_spread(schema.outputs, len(found))):
        each = found[place]
        if each is None or not _is_unknown(each):
            continue
        choices = allowed.get(formal.type_str, [formal.type_str])
        if all(choice.startswith(_SEQUENCE) for choice in choices):
            found[place] = replace(each, kind=_sequence(choices, schema, inputs))
            continue
        name = known.get(formal.type_str) if formal.type_str in allowed else None
        name = name or (_element_type(choices[0]) if len(choices) == 1 else None)
        if name is not None:
            found[place] = replace(each, element_type=name)
    return found


def _sequence(choices: Collection[str], schema: OpSchema, inputs: Values) -> str:
    """The sequence that a node gives: that which it takes, or of tensors that it takes of as many types."""
    inner = {choice.removeprefix("seq(").removesuffix(")") for choice in choices}
    wide = {each.type_param_str for each in schema.type_constraints if inner <= {*each.allowed_type_strs}}
    kinds, made = list[str](), list[str]()
    for formal, value in zip(_spread(schema.inputs, len(inputs)), inputs, strict=False):
        if value is not None and value.kind is not None:
            kinds.append(value.kind)
        elif value is not None and formal.type_str in wide:
            made.append(f"{_SEQUENCE}{value.element_type}))")
    return next((kind for kind in (*kinds, *made) if _without_shapes(kind) in choices), "seq")


def _without_shapes(kind: str) -> str:
    return kind.partition("[")[0] + ")" if "[" in kind else kind


def _is_unknown(value: ModelValue) -> bool:
    return value.element_type is None and value.kind is None


@cache
def _schema(operator: OperatorName) -> OpSchema | None:
    domain = "" if operator.domain == "ai.onnx" else operator.domain
    try:
        return get_schema(operator.name, operator.since_version, domain)
    except SchemaError:
        return None


def _spread(formals: Sequence[Any], count: int) -> list[Any]:
    """The formal parameter of each of so many values: a variadic one, which comes last, is all others'."""
    found = list(formals[:count])
    variadic = OpSchema.FormalParameterOption.Variadic
    if found and formals[-1].option == variadic and formals[-1].is_homogeneous:
        found += [formals[-1]] * (count - len(found))
    return found


def _element_type(text: str) -> str | None:
    name = text.removeprefix("tensor(").removesuffix(")")
    return name if text.startswith("tensor(") and name in ELEMENT_TYPES else None


_NAMES = 3
Find = Callable[[NodeProto], tuple[OperatorName | None, str | None]]
"""The operator version of a node, or what is wrong with it."""


@dataclass(eq=False)
class NodeReader:
    """Reads the nodes of graphs into `nodes`; `tables` are the types of each, in the order of `graphs_in`."""

    find: Find
    tables: Sequence[Types]
    nodes: list[ModelNode] = field(default_factory=list)
    replaceable: int = 0
    unfolded: int = 0
    """Nodes that were not looked into any more: what comes of fixed numbers is worked out up to a limit."""
    _next: int = 0
    _folded: int = 0

    def read(self, graph: GraphProto, around: GraphScope | None = None) -> None:
        """Read the nodes of a graph, and of those within it."""
        types = self.tables[self._next]
        self._next += 1
        scope = GraphScope(graph, types, around)
        self.replaceable += scope.replaceable
        for node in graph.node:
            self.nodes.append(self._node(node, scope))
            for attribute in node.attribute:
                for _, inner in graphs_of(attribute):
                    self.read(inner, scope)

    def _node(self, node: NodeProto, scope: GraphScope) -> ModelNode:
        attributes, unread = read_attributes(node)
        open_graphs, around = read_open_graphs(node)
        operator, unknown = self.find(node)
        inputs = scope.taken(node.input)
        outputs = scope.give(node.output)
        if operator is not None:
            untyped, outputs = outputs, with_schema_types(operator, inputs, outputs)
            for name, before, typed in zip(node.output, untyped, outputs, strict=True):
                if typed is not None and typed is not before and scope.find(name) is before:
                    scope.fix(name, typed)
        if operator is not None and operator.domain == "ai.onnx" and outputs and outputs[0] is not None:
            fixed = self._fixed(operator, node, attributes, inputs, outputs[0])
            if fixed is not None:
                outputs[0] = fixed
                scope.fix(node.output[0], fixed)
        return ModelNode(
            place=node.doc_string,
            name=text(node.name),
            operator=operator,
            inputs=inputs,
            outputs=tuple(outputs),
            attributes=attributes,
            unread=unread,
            unknown=unknown,
            op_type=text(node.op_type),
            domain=text(node.domain),
            run_extents=scope.run_extents,
            open_graphs=open_graphs,
            around={new: scope.taken((name,))[0] or ModelValue(text(name)) for name, new in around.items()},
        )

    def _fixed(
        self,
        operator: OperatorName,
        node: NodeProto,
        attributes: Mapping[str, Attribute],
        inputs: tuple[ModelValue | None, ...],
        output: ModelValue,
    ) -> ModelValue | None:
        """The first output where the model fixes it."""
        if operator.name == "Constant":
            found = constant_of_node(attributes)
            if found is None and len(node.attribute) == 1 and node.attribute[0].HasField("t"):
                return replace(constant_value("", node.attribute[0].t), name=output.name)
            return fixed_value(output, found)
        if operator.name == "Identity" and inputs and inputs[0] is not None and inputs[0].is_constant:
            return replace(inputs[0], name=output.name)
        if self._folded > MOST_FOLDED:
            self.unfolded += can_fold(operator.name, inputs)
            return None
        folded = fold(operator.name, attributes, inputs)
        if folded is None:
            return None
        self._folded += folded.array.size
        return fixed_value(output, folded)


def read_attributes(node: NodeProto) -> tuple[dict[str, Attribute], dict[str, str]]:
    """The attributes that opcert can carry, and of each other one why not."""
    found: dict[str, Attribute] = {}
    unread: dict[str, str] = {}
    for attribute in node.attribute:
        name = text(attribute.name)
        try:
            if name in found or name in unread:
                unread[name] = "the attribute is given twice"
                found.pop(name, None)
                continue
            found[name] = _attribute(attribute)
        except UserError as error:
            unread[name] = str(error)
        except UnicodeDecodeError:
            unread[name] = "a text that is no UTF-8"
    return found, unread


def read_open_graphs(node: NodeProto) -> tuple[dict[str, Graph], dict[str, str]]:
    """The graphs that take values from around the node, and the names of these, each with its name there."""
    listed = [each for each in node.attribute if each.HasField("g") and captured_names(each.g)]
    names = names_around(node) if listed else {}
    found: dict[str, Graph] = {}
    for attribute in listed:
        try:
            _check_data(attribute)
            found[text(attribute.name)] = open_graph(attribute, names)
        except (UserError, UnicodeDecodeError):
            continue  # `unread` says why
    return found, names


def _attribute(proto: AttributeProto) -> Attribute:
    """An attribute; UserError where opcert cannot carry it, or the reader has left out a part of it."""
    taken = sorted({text(name) for _, graph in graphs_of(proto) for name in captured_names(graph)})
    if taken:
        more = ", ..." if len(taken) > _NAMES else ""
        names = ", ".join(one_line(each, 60) for each in taken[:_NAMES])
        raise UserError("a graph that takes values from around it", got=names + more)
    _check_data(proto)
    if proto.type == AttributeProto.TENSOR:
        return Attribute("tensor", read_foreign_tensor(proto.t))
    if proto.type == AttributeProto.TENSORS:
        return Attribute("tensors", tuple(map(read_foreign_tensor, proto.tensors)))
    return read_attribute(proto)


def _check_data(proto: AttributeProto) -> None:
    """Raise UserError where a tensor of an attribute is without its data."""
    graphs = graphs_of(proto)
    tensors = [tensor for _, graph in graphs for tensor in tensors_in(graph)]
    if proto.HasField("t"):
        tensors.append(proto.t)
    for tensor in (*tensors, *proto.tensors):
        if not has_data(tensor):
            count = element_count(tensor)
            raise UserError(
                "a tensor that is too large to be kept, or whose data are elsewhere",
                got=f"{'no possible number of' if count is None else f'{count:,}'} elements",
            )
