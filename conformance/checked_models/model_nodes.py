"""The nodes of a model as data: each with its call, and behind it those of graphs in its attributes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from onnx import AttributeProto, GraphProto, NodeProto
from onnx.defs import OpSchema, SchemaError, get_schema

from conformance.adopting.foreign_values import read_foreign_tensor
from conformance.checked_models.folding import MOST_FOLDED, can_fold, constant_of_node, fold
from conformance.checked_models.inlining import graphs_of
from conformance.checked_models.model_calls import ModelNode, ModelValue
from conformance.checked_models.model_tensors import tensors_in
from conformance.checked_models.model_values import GraphScope, constant_value, fixed_value, text
from conformance.checked_models.node_order import captured_names
from conformance.checked_models.outside_data import element_count, has_data
from conformance.checked_models.type_inference import Types
from conformance.suite.protos import read_attribute
from opcert.vocabulary.attributes import Attribute
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.names import OperatorName

Values = Sequence[ModelValue | None]


def with_schema_types(operator: OperatorName, inputs: Values, outputs: Values) -> list[ModelValue | None]:
    """A node's outputs, those without a type with the one that the schema fixes, or that an input has.

    Schemas of ai.onnx.ml, for one, come without inference; where such a node stands, every one behind it
    would be of unknown types. Shapes stay unknown.
    """
    found = list(outputs)
    if all(each is None or not _is_unknown(each) for each in found):
        return found
    schema = _schema(operator)
    if schema is None:
        return found
    known = {
        formal.type_str: each.element_type
        for formal, each in zip(_spread(schema.inputs, len(inputs)), inputs, strict=False)
        if each is not None and each.element_type is not None
    }
    allowed = {each.type_param_str: each.allowed_type_strs for each in schema.type_constraints}
    for place, formal in enumerate(_spread(schema.outputs, len(found))):
        each = found[place]
        if each is None or not _is_unknown(each):
            continue
        choices = allowed.get(formal.type_str, [formal.type_str])
        name = known.get(formal.type_str) if formal.type_str in allowed else None
        name = name or (_element_type(choices[0]) if len(choices) == 1 else None)
        if name is not None:
            found[place] = replace(each, element_type=name)
    return found


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
            for each in node.attribute:
                for _, inner in graphs_of(each):
                    self.read(inner, scope)

    def _node(self, node: NodeProto, scope: GraphScope) -> ModelNode:
        attributes, unread = read_attributes(node)
        operator, unknown = self.find(node)
        inputs = scope.taken(node.input)
        outputs = scope.give(node.output)
        if operator is not None:
            outputs = self._typed(operator, inputs, outputs, node, scope)
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
        )

    def _typed(
        self,
        operator: OperatorName,
        inputs: Sequence[ModelValue | None],
        outputs: Sequence[ModelValue | None],
        node: NodeProto,
        scope: GraphScope,
    ) -> list[ModelValue | None]:
        """What a node gives, with the types that follow from its schema alone."""
        typed = with_schema_types(operator, inputs, outputs)
        for name, before, each in zip(node.output, outputs, typed, strict=True):
            if each is not None and each is not before and scope.find(name) is before:
                scope.fix(name, each)
        return typed

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
    for each in node.attribute:
        name = text(each.name)
        try:
            if name in found or name in unread:
                unread[name] = "the attribute is given twice"
                found.pop(name, None)
                continue
            found[name] = _attribute(each)
        except UserError as error:
            unread[name] = str(error)
        except UnicodeDecodeError:
            unread[name] = "a text that is no UTF-8"
    return found, unread


def _attribute(proto: AttributeProto) -> Attribute:
    """An attribute; UserError where opcert cannot carry it, or the reader has left out a part of it."""
    graphs = graphs_of(proto)
    taken = sorted({text(name) for _, graph in graphs for name in captured_names(graph)})
    if taken:
        more = ", ..." if len(taken) > _NAMES else ""
        names = ", ".join(one_line(each, 60) for each in taken[:_NAMES])
        raise UserError("a graph that takes values from around it", got=names + more)
    tensors = [each for _, graph in graphs for each in tensors_in(graph)]
    if proto.HasField("t"):
        tensors.append(proto.t)
    for each in (*tensors, *proto.tensors):
        if not has_data(each):
            count = element_count(each)
            raise UserError(
                "a tensor that is too large to be kept, or whose data are elsewhere",
                got=f"{'no possible number of' if count is None else f'{count:,}'} elements",
            )
    if proto.type == AttributeProto.TENSOR:
        return Attribute("tensor", read_foreign_tensor(proto.t))
    if proto.type == AttributeProto.TENSORS:
        return Attribute("tensors", tuple(map(read_foreign_tensor, proto.tensors)))
    return read_attribute(proto)
