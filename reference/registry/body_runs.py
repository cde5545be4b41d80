"""Graphs as attributes: their nodes, evaluated by the references themselves, one after the other.

Readings of arithmetic and of moving are in a body what they are around it. Where a node's answer is not
exact, the next one is given it with the distance that is allowed: through sums, products and functions that
goes as through any formula, and it goes along with elements that are moved. Nothing is said behind others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto, GraphProto, NodeProto, TensorProto
from onnx.numpy_helper import to_array

from opcert.vocabulary.attributes import AttributeValue, Graph
from opcert.vocabulary.element_types import BY_CODE, ELEMENT_TYPES
from opcert.vocabulary.errors import OpcertError, UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from opcert.vocabulary.value_types import OptionalType, SequenceType, TensorType, ValueType
from reference.answers import Answer, OutsideDomain, UnstableLength, sequence_of
from reference.numbers.working import rounded_up
from reference.readings.choices import Choice
from reference.registry import find_operator
from reference.registry.body_values import (
    allowing,
    arguments_by_name,
    as_exact,
    identity,
    inputs_of,
    is_exact,
    rules_of,
    tensors_of,
)
from reference.registry.reference_operator import ReferenceOperator
from specs.files.library import load_spec
from specs.model.domain import check_constraints
from specs.model.spec import Constraint, Spec
from specs.model.structures import type_variable

MOVING = frozenset(
    {
        "Concat", "DepthToSpace", "Expand", "Flatten", "Gather", "GatherElements", "GatherND", "Identity",
        "Pad", "Reshape", "Slice", "SpaceToDepth", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze",
    }
)  # fmt: skip
"""Operators of which each element that comes out is one that went in, or 0."""
_OF_SEQUENCES = frozenset(
    {
        "ConcatFromSequence", "SequenceAt", "SequenceConstruct", "SequenceErase", "SequenceInsert",
        "SplitToSequence",
    }
)  # fmt: skip
"""The same into sequences, and out of them."""
NEVER_FARTHER = frozenset({"Abs", "Clip", "Neg", "Relu"})
"""Operators that take two numbers to two that are no farther apart, without rounding either."""
CARRYING = frozenset(
    {
        "Add", "Div", "Equal", "Exp", "Gemm", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Log",
        "MatMul", "Mean", "Mul", "Reciprocal", "ReduceMean", "ReduceSum", "Sigmoid", "Sqrt", "Sub", "Sum",
        "Tanh",
    }
)  # fmt: skip
"""Operators whose references compute from numbers that have errors as from any others."""
_COUNTING = frozenset({"SequenceLength", "Shape", "Size"})
"""Operators that look at no element."""
Shared = Mapping[str, Choice[Any]]
"""The readings of arithmetic and of moving, with the option that holds in the whole call."""
_DEEPEST = 12


@lru_cache(maxsize=512)
def _known(operator: OperatorName) -> tuple[Spec, ReferenceOperator]:
    """The facts of an operator, and its reference; UserError where it lacks one."""
    reference = find_operator(operator)
    return load_spec(operator), reference


Rules = Callable[[OperatorName], Spec]
_RULES: ContextVar[Rules] = ContextVar("rules", default=lambda operator: _known(operator)[0])


class BrokenRule(OutsideDomain):
    """A node of a body breaks a rule of its operator: `rule`."""

    def __init__(self, problem: str, rule: Constraint) -> None:
        super().__init__(problem)
        self.rule = rule


@contextmanager
def held_to(rules: Rules) -> Iterator[None]:
    """Hold the nodes of bodies to the rules of these specs: OutsideDomain where one breaks them.

    Facts alone have few. The nodes of a model's bodies go together, and those of drawn values need not.
    """
    before = _RULES.set(rules)
    try:
        yield
    finally:
        _RULES.reset(before)


@dataclass(frozen=True)
class EvaluatedBody:
    """A graph at work: its message, the opset of its nodes, values around it by name, and the readings."""

    proto: GraphProto
    graph: Graph
    opset: int
    shared: Shared

    @classmethod
    def of(cls, graph: Graph, version: int, shared: Shared) -> EvaluatedBody:
        """The body of a node of that version, of the opset that the graph says it stands in if it does."""
        return cls(_message(graph), graph, graph.opset or version, shared)

    @property
    def takes(self) -> int:
        return len(self.proto.input)

    def outputs(self, given: Sequence[Answer]) -> list[Answer]:
        """What it gives of what it takes.

        Raises UserError where a node's operator has no reference, OutsideDomain where none is defined, and
        UnstableLength where it is not known exactly enough.
        """
        if len(given) != len(self.proto.input):
            raise OutsideDomain(
                "a body that takes another number of values",
                got=str(len(given)),
                expected=str(len(self.proto.input)),
            )
        values: dict[str, Answer] = dict(self.graph.around)
        values |= {held.name: Answer(read_tensor(held)) for held in self.proto.initializer}
        values |= {taken.name: value for taken, value in zip(self.proto.input, given, strict=True)}
        for node in self.proto.node:
            found = self._answers(node, values)
            values |= {name: answer for name, answer in zip(node.output, found, strict=False) if name}
        return [_found(values, value_info.name) for value_info in self.proto.output]

    def nothing_given(self, place: int) -> Tensor:
        """What no runs give of an output: as many axes as its type says, and no elements along a first one.

        Raises OutsideDomain where the graph does not say the extents.
        """
        kind = self.graph.outputs[place] if self.graph.outputs is not None else None
        shape = kind.shape if isinstance(kind, TensorType) else None
        if (
            not isinstance(kind, TensorType)
            or shape is None
            or not all(isinstance(each, int) for each in shape)
        ):
            raise OutsideDomain("values of no runs, of which the body does not say the extents")
        extents = tuple(int(each) for each in shape if isinstance(each, int))
        return Tensor(kind.element_type, np.empty((0, *extents), dtype=kind.element_type.storage))

    def _answers(self, node: NodeProto, values: Mapping[str, Answer]) -> Sequence[Answer]:
        operator = OperatorName(node.domain or "ai.onnx", node.op_type, _since(node, self.opset))
        spec, reference = _known(operator)
        taken = [_found(values, name) if name else None for name in node.input]
        attributes = {each.name: self._attribute(each, values) for each in node.attribute}
        try:
            _check_rules(_RULES.get()(operator), attributes, taken, node)
            return self._asked(spec, reference, attributes, taken, len(node.output))
        except (OpcertError, RecursionError) as error:
            raise _of_node(node, error) from error

    def _asked(
        self,
        spec: Spec,
        reference: ReferenceOperator,
        attributes: Mapping[str, AttributeValue],
        taken: Sequence[Answer | None],
        outputs: int,
    ) -> Sequence[Answer]:
        inexact = [answer for answer in taken if answer is not None and not is_exact(answer)]
        if inexact and reference.operator.name in _COUNTING:
            return self._asked(spec, reference, attributes, [*map(as_exact, taken)], outputs)
        held = [part for answer in inexact for part in tensors_of(answer)]
        if any(answer.alternatives or answer.unordered or not answer.valued for answer in held):
            raise UnstableLength("what it is given is open in other ways than by a distance")
        if inexact and reference.operator.name in MOVING | _OF_SEQUENCES:
            return self._moved(spec, reference, attributes, taken, outputs)
        if inexact and reference.operator.name in NEVER_FARTHER and inexact == [taken[0]]:
            exact = [as_exact(answer) for answer in taken]
            (one,) = self._asked(spec, reference, attributes, exact, outputs)
            own = 0.0 if one.allowed is None else one.allowed
            return [replace(one, allowed=rounded_up(own + np.asarray(inexact[0].allowed)))]
        if inexact and reference.operator.name not in CARRYING and not _has_bodies(attributes):
            raise UnstableLength("what it is given is not known exactly")
        arguments = arguments_by_name(spec, taken)
        settled = {
            reading.id: reading.chosen
            for reading in spec.readings
            if reading.chosen is not None and reading.id in reference.readings
        }
        chosen = settled | {
            name: choice.option
            for name, choice in self.shared.items()
            if choice.option in reference.readings.get(name, ())
        }
        asked: set[str] = set()
        found = reference.evaluate(attributes, arguments, chosen, asked, outputs)
        for name in asked & set(self.shared):
            self.shared[name].ask()
        for name in asked - set(chosen):
            for option in reference.readings[name][1:]:
                other = reference.evaluate(attributes, arguments, {**chosen, name: option}, None, outputs)
                if [identity(answer) for answer in other] != [identity(answer) for answer in found]:
                    raise UnstableLength("documents leave open what comes out", got=name)
        return found

    def _moved(
        self,
        spec: Spec,
        reference: ReferenceOperator,
        attributes: Mapping[str, AttributeValue],
        taken: Sequence[Answer | None],
        outputs: int,
    ) -> Sequence[Answer]:
        """The elements with their distances, which go where numbers of their places go."""
        variable = type_variable(spec, spec.outputs[0])
        last = len(spec.inputs) - 1
        errors, numbers, first = [np.zeros(1)], list(taken), 1
        for place, answer in enumerate(taken):
            if answer is not None and type_variable(spec, spec.inputs[min(place, last)]) == variable:
                counted = []
                for part in tensors_of(answer):
                    size = part.expected.array.size
                    places = np.arange(first, first + size, dtype=np.int64).reshape(part.expected.shape)
                    counted.append(Answer(tensor(places)))
                    errors.append(np.zeros(size) if part.allowed is None else part.allowed.reshape(-1))
                    first += size
                numbers[place] = sequence_of(tuple(counted)) if answer.is_sequence else counted[0]
            elif answer is not None and not is_exact(answer):
                raise UnstableLength("what it moves by is not known exactly")
        exact = [as_exact(answer) for answer in taken]
        found = self._asked(spec, reference, attributes, exact, outputs)
        moved = self._asked(spec, reference, attributes, numbers, outputs)
        allowed = np.concatenate(errors)
        return [allowing(answer, place, allowed) for answer, place in zip(found, moved, strict=True)]

    def _attribute(self, proto: AttributeProto, values: Mapping[str, Answer]) -> AttributeValue:
        match proto.type:
            case AttributeProto.GRAPH:
                depth = 1 + self.graph.depth
                if depth > _DEEPEST:
                    raise OutsideDomain("bodies too deep in each other", expected=f"at most {_DEEPEST}")
                outputs = tuple(_type(value_info.type) for value_info in proto.g.output)
                inputs = tuple(_type(value_info.type) for value_info in proto.g.input)
                raw = proto.g.SerializeToString(deterministic=True)
                return Graph(bytes(raw), inputs, outputs, self.opset, dict(values), depth)
            case AttributeProto.TYPE_PROTO if (kind := _type(proto.tp)) is not None:
                return kind
            case AttributeProto.TENSOR:
                return read_tensor(proto.t)
            case AttributeProto.STRING:
                return proto.s.decode("utf-8", "surrogateescape")
            case AttributeProto.STRINGS:
                return tuple(each.decode("utf-8", "surrogateescape") for each in proto.strings)
            case AttributeProto.INT | AttributeProto.FLOAT:
                found: int | float = onnx.helper.get_attribute_value(proto)
                return found
            case AttributeProto.INTS | AttributeProto.FLOATS:
                return tuple(onnx.helper.get_attribute_value(proto))
        raise UserError("an attribute of a kind that no body's node is evaluated with", got=proto.name)


def unreferenced(graph: Graph, opset: int) -> str:
    """The first operator of a graph, or of those in it, without a reference; empty where there is none."""
    for node in _every_node(_message(graph)):
        try:
            _known(OperatorName(node.domain or "ai.onnx", node.op_type, _since(node, opset)))
        except UserError:
            return f"{node.domain or 'ai.onnx'}::{node.op_type}"
    return ""


def means_another(graph: Graph, opset: int) -> str:
    """The first operator of a graph that is another version, or none, in another opset; else empty."""
    return next(
        (
            node.op_type
            for node in _every_node(_message(graph))
            if graph.opset and _version_in(opset, node) != _version_in(graph.opset, node)
        ),
        "",
    )


def _message(graph: Graph) -> GraphProto:
    proto = GraphProto()
    proto.ParseFromString(graph.raw)
    return proto


def _every_node(proto: GraphProto) -> Iterator[NodeProto]:
    """The nodes of a graph and of those within it."""
    for node in proto.node:
        yield node
        for attribute in node.attribute:
            for inner in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
                yield from _every_node(inner)


def _has_bodies(attributes: Mapping[str, AttributeValue]) -> bool:
    return any(isinstance(value, Graph) for value in attributes.values())


def _found(values: Mapping[str, Answer], name: str) -> Answer:
    found = values.get(name)
    if found is None:
        raise OutsideDomain("a value that nothing in a body or around it gives", got=name)
    return found


def _since(node: NodeProto, opset: int) -> int:
    """The version of a node's operator in an opset; UserError where there is none."""
    try:
        domain = "" if node.domain == "ai.onnx" else node.domain
        schema = onnx.defs.get_schema(node.op_type, max_inclusive_version=opset, domain=domain)
    except onnx.defs.SchemaError as error:
        raise UserError(
            "operator without a reference", got=f"{node.domain or 'ai.onnx'}::{node.op_type}"
        ) from error
    return int(schema.since_version)


def _version_in(opset: int, node: NodeProto) -> int | None:
    """As `_since`; None where there is none."""
    try:
        return _since(node, opset)
    except UserError:
        return None


def _check_rules(
    spec: Spec, attributes: Mapping[str, Any], taken: Sequence[Answer | None], node: NodeProto
) -> None:
    """Raise OutsideDomain where a node breaks a rule of its operator."""
    inputs, slots = inputs_of(spec, taken)
    if broken := check_constraints(
        spec, attributes, inputs, tuple(node.output), slots, rules_of(spec, slots)
    ):
        raise BrokenRule(f"it breaks {broken[0].id}", broken[0].constraint)


def _of_node(node: NodeProto, error: Exception) -> OpcertError:
    """The error with the name of the node's operator before it."""
    said = f"{node.op_type} in a body: {error}"
    if isinstance(error, UserError):
        return UserError(said)
    if isinstance(error, BrokenRule):
        return BrokenRule(said, error.rule)
    return UnstableLength(said) if isinstance(error, UnstableLength) else OutsideDomain(said)


def read_tensor(proto: TensorProto) -> Tensor:
    """A tensor of a body, as references take it."""
    kind = BY_CODE[proto.data_type]
    shape = tuple(proto.dims)
    if kind.kind == "string":
        array = np.empty(len(proto.string_data), dtype=np.object_)
        array[:] = list(proto.string_data)
        return Tensor(ELEMENT_TYPES["string"], array.reshape(shape))
    given = np.ascontiguousarray(to_array(proto))
    # Of integers of fewer bits than a byte the array leaves the others open.
    stored = given.astype(kind.storage) if kind.is_integer else given.view(kind.storage)
    return Tensor(kind, stored.reshape(shape))


def _type(proto: onnx.TypeProto) -> ValueType | None:
    """The type of a tensor, or of a sequence or an optional; None where it is another's, or left out."""
    for field, around in (("sequence_type", SequenceType), ("optional_type", OptionalType)):
        if proto.HasField(field):
            within = _type(getattr(proto, field).elem_type)
            return None if within is None else around(within)
    kind = BY_CODE.get(proto.tensor_type.elem_type)
    if kind is None:
        return None
    if not proto.tensor_type.HasField("shape"):
        return TensorType(kind)
    return TensorType(
        kind,
        tuple(
            extent.dim_value if extent.HasField("dim_value") else extent.dim_param or None
            for extent in proto.tensor_type.shape.dim
        ),
    )
