"""Graphs as attributes: bodies that keep, double or give back what they take, made node by node."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import onnx
from onnx import GraphProto, NodeProto, ValueInfoProto
from onnx.helper import make_node

from conformance.suite.protos import read_graph, write_tensor, write_type
from generator.calls.data.data import zeros
from opcert.vocabulary.attributes import Graph
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from opcert.vocabulary.value_types import OptionalType, SequenceType, TensorType, ValueType

STEPS = ("kept", "doubled")
"""What a body does with a value: nothing, or adds it to itself."""
NESTED = "nested"
"""It adds the value twice, by a loop in a branch, which both call it by its name outside of them."""
GROWN = "grown"
"""It puts the value behind itself along the first axis."""
_NUMBERS = ("float", "double", "float16", "int32", "int64", "uint32", "uint64")


def can_double(operator: OperatorName, element_type: str) -> bool:
    """Whether a body of that operator's version may add values of a type, by an operator with a reference."""
    return element_type in (_NUMBERS if operator.since_version >= 7 else ())


def can_step(operator: OperatorName, step: str, element_type: str) -> bool:
    """Whether bodies of that operator's version may do a step with values of a type."""
    if step == GROWN:
        return f"tensor({element_type})" in _made_by("Concat", operator.since_version)
    return step not in ("doubled", NESTED) or can_double(operator, element_type)


def can_hold(operator: OperatorName, kind: ValueType) -> bool:
    """Whether nodes of that operator's version make sequences and optionals of the type."""
    if isinstance(kind, TensorType):
        return True
    name = "Optional" if isinstance(kind, OptionalType) else "SequenceConstruct"
    return str(kind) in _made_by(name, operator.since_version) and can_hold(operator, kind.of)


@cache
def _made_by(name: str, version: int) -> frozenset[str]:
    schema = onnx.defs.get_schema(name, version)
    return frozenset(
        text for type_constraint in schema.type_constraints for text in type_constraint.allowed_type_strs
    )


class BodyMaker:
    """One graph that is being made: what it takes, its nodes, what it gives."""

    def __init__(self, name: str) -> None:
        self._proto = GraphProto(name=name)
        self._count = 0
        self._made: set[str] = set()

    def take(self, kind: ValueType) -> str:
        """An input of that type; its name."""
        name = self._new("given")
        self._proto.input.append(ValueInfoProto(name=name, type=write_type(kind)))
        return name

    def give(self, value: str, kind: ValueType) -> None:
        """An output of that type: what a node made, or else a copy of a value."""
        name = value
        if value not in self._made:
            name = self._new("result")
            self._add(make_node("Identity", [value], [name]))
        self._made.discard(value)
        self._proto.output.append(ValueInfoProto(name=name, type=write_type(kind)))

    def constant(self, value: Tensor) -> str:
        """A constant; its name."""
        name = self._new("constant")
        self._proto.initializer.append(write_tensor(value, name))
        return name

    def step(self, value: str, how: object, kind: ValueType | None = None) -> str:
        """A value as one of `STEPS` leaves it, or of that type, as `NESTED` does."""
        if how == NESTED and kind is not None:
            return self._nested(value, kind)
        return self.added(value, value) if how == "doubled" else value

    def node(self, name: str, *inputs: str, **attributes: object) -> str:
        """What a node of one output makes; its name. Other graphs are given as their makers."""
        made = self._new("made")
        stated: dict[str, Any] = {
            key: each._proto if isinstance(each, BodyMaker) else each for key, each in attributes.items()
        }
        self._add(make_node(name, list(inputs), [made], **stated))
        self._made.add(made)
        return made

    def _nested(self, value: str, kind: ValueType) -> str:
        number, truth = shaped_type("int64", ()), shaped_type("bool", ())
        inner, branch, other = (BodyMaker(self._new(word)) for word in ("inner", "branch", "other"))
        inner.take(number)
        going, total = inner.take(truth), inner.take(kind)
        inner.give(going, truth)
        inner.give(inner.added(total, value), kind)
        twice = branch.constant(scalar(2, ELEMENT_TYPES["int64"]))
        branch.give(branch.node("Loop", twice, "", value, body=inner), kind)
        other.give(value, kind)
        condition = self.constant(scalar(True, ELEMENT_TYPES["bool"]))
        return self.node("If", condition, then_branch=branch, else_branch=other)

    def within_branches(self, value: str, kind: ValueType, deep: int) -> str:
        """A value as branches within each other give it back, which call it by its name outside of them."""
        if not deep:
            return value
        inner, other = BodyMaker(self._new("inner")), BodyMaker(self._new("other"))
        inner.give(inner.within_branches(value, kind, deep - 1), kind)
        other.give(other.constant(zeros_of(kind)), kind)
        condition = self.constant(scalar(True, ELEMENT_TYPES["bool"]))
        return self.node("If", condition, then_branch=inner, else_branch=other)

    def added(self, value: str, other: str) -> str:
        """The sum of two values; its name."""
        name = self._new("sum")
        self._add(make_node("Add", [value, other], [name]))
        self._made.add(name)
        return name

    def hold(self, kind: ValueType, parts: Sequence[str]) -> str:
        """A value of a type made of tensors: itself, a sequence, an optional."""
        if isinstance(kind, TensorType):
            return parts[0]
        name = self._new("held")
        if isinstance(kind, OptionalType):
            self._add(make_node("Optional", [self.hold(kind.of, parts)], [name]))
        else:
            assert isinstance(kind, SequenceType)
            self._add(make_node("SequenceConstruct", list(parts), [name]))
        self._made.add(name)
        return name

    def made(self) -> Graph:
        """The graph, as whoever reads it finds it."""
        return read_graph(self._proto)

    def _add(self, node: NodeProto) -> None:
        self._proto.node.append(node)

    def _new(self, word: str) -> str:
        # Names inside must not be those of values around the graph, which it would see.
        self._count += 1
        return f"{self._proto.name}_{word}_{self._count}"


def shaped_type(element_type: str, shape: Sequence[int]) -> TensorType:
    """The type of a tensor of that shape."""
    return TensorType(ELEMENT_TYPES[element_type], tuple(int(extent) for extent in shape))


def scalar(value: int | bool, element_type: ElementType) -> Tensor:
    """A tensor without axes."""
    return tensor(np.array(value, dtype=element_type.storage), element_type)


def zeros_of(kind: ValueType) -> Tensor:
    """Zeros of a tensor's type; ValueError where it is another's, or its shape is open."""
    if not isinstance(kind, TensorType) or kind.shape is None:
        raise ValueError(f"no tensor of a known shape: {kind}")
    return zeros(kind.element_type, [int(extent) for extent in kind.shape if isinstance(extent, int)])


def unwrapped(kind: ValueType) -> ValueType:
    """What an optional holds; any other type itself."""
    return kind.of if isinstance(kind, OptionalType) else kind


def tensor_in(kind: ValueType) -> TensorType:
    """The type of the tensors in a value."""
    return kind if isinstance(kind, TensorType) else tensor_in(kind.of)


def with_shape(kind: ValueType, shape: Sequence[int]) -> ValueType:
    """The type with that shape of its tensors."""
    if isinstance(kind, TensorType):
        return TensorType(kind.element_type, tuple(shape))
    if isinstance(kind, SequenceType | OptionalType):
        return type(kind)(with_shape(kind.of, shape))
    return kind


def outputs_of(graph: Graph) -> list[tuple[ValueType, tuple[int, ...]]]:
    """The types of a branch's outputs without shapes, and the shapes of the tensors in them."""
    found = []
    for output in graph.outputs or ():
        assert output is not None
        shape = tensor_in(output).shape or ()
        found.append((_with_open_shape(output), tuple(int(extent) for extent in shape if extent is not None)))
    return found


def _with_open_shape(kind: ValueType) -> ValueType:
    if isinstance(kind, SequenceType | OptionalType):
        return type(kind)(_with_open_shape(kind.of))
    return TensorType(tensor_in(kind).element_type)
