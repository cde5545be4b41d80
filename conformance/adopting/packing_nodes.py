"""The nodes around a test's own graph that make sequences and optionals of tensors, and take them apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from onnx import GraphProto, NodeProto, TypeProto
from onnx.helper import make_node

from conformance.adopting.declared_values import DeclaredValue
from conformance.adopting.foreign_models import list_graphs
from conformance.adopting.foreign_values import Value
from conformance.protos import write_tensor
from opcert.tensors import Tensor, tensor

SINCE = {
    "SequenceConstruct": 11,
    "SequenceEmpty": 11,
    "SequenceLength": 11,
    "SequenceAt": 11,
    "Optional": 15,
    "OptionalHasElement": 15,
    "OptionalGetElement": 15,
}
"""The operators that pack and unpack, and the opset that each is there since."""

_MARK = "opcert: packs or unpacks a value of the test"

Named = list[tuple[str, Tensor]]


def is_packing(node: NodeProto) -> bool:
    """Whether a node is one that was put around a test's own graph."""
    return bool(node.doc_string == _MARK and node.op_type in SINCE and not node.domain)


class Surroundings:
    """What is put around one graph.

    `before` and `after` are the nodes, `positions` the names of the constants that they take elements by: the
    first is 0, the second 1.
    """

    def __init__(self, graph: GraphProto) -> None:
        self.before: list[NodeProto] = []
        self.after: list[NodeProto] = []
        self.positions: list[str] = []
        # A graph within another sees its names, and none may be there twice.
        self._taken = set(_names(graph))

    def pack(self, declared: DeclaredValue, value: Value, held: TypeProto) -> Named:
        """Make an input out of tensors: those, by the names of their inputs. `held` is an optional's type."""
        if declared.is_optional and value is None:
            self._add(self.before, "Optional", [], declared.name, type=held)
            return []
        name = self._name(f"{declared.name}_element") if declared.is_optional else declared.name
        parts = [(name, value)] if isinstance(value, Tensor) else self._construct(name, declared, value or ())
        if declared.is_optional:
            self._add(self.before, "Optional", [name], declared.name)
        return parts

    def _construct(self, name: str, declared: DeclaredValue, elements: Sequence[Tensor]) -> Named:
        parts = [(self._name(f"{declared.name}_{number}"), each) for number, each in enumerate(elements)]
        if parts:
            self._add(self.before, "SequenceConstruct", [each for each, _ in parts], name)
        else:
            self._add(self.before, "SequenceEmpty", [], name, dtype=declared.element_type.code)
        return parts

    def unpack(self, declared: DeclaredValue, value: Value) -> Named:
        """Take an output apart, as far as `value` goes: what is expected, by the names of the outputs."""
        name = declared.name
        found: Named = []
        if declared.is_optional:
            has_element = self._name(f"{name}_has_element")
            self._add(self.after, "OptionalHasElement", [name], has_element)
            found.append((has_element, tensor(np.array(value is not None))))
            if value is None:
                return found
            name = self._name(f"{declared.name}_element")
            self._add(self.after, "OptionalGetElement", [declared.name], name)
        if isinstance(value, Tensor):
            return [*found, (name, value)]
        return [*found, *self._take_apart(name, declared, value or ())]

    def _take_apart(self, name: str, declared: DeclaredValue, elements: Sequence[Tensor]) -> Named:
        length = self._name(f"{declared.name}_length")
        self._add(self.after, "SequenceLength", [name], length)
        found = [(length, tensor(np.array(len(elements), np.int64)))]
        for number, each in enumerate(elements):
            element = self._name(f"{declared.name}_{number}")
            self._add(self.after, "SequenceAt", [name, self._position(number)], element)
            found.append((element, each))
        return found

    def write_into(self, graph: GraphProto) -> None:
        """Put the nodes and constants around the nodes of a graph."""
        own = [*graph.node]
        del graph.node[:]
        graph.node.extend((*self.before, *own, *self.after))
        graph.initializer.extend(
            write_tensor(tensor(np.array(number, np.int64)), name)
            for number, name in enumerate(self.positions)
        )

    def _add(
        self, nodes: list[NodeProto], operator: str, inputs: list[str], output: str, **more: Any
    ) -> None:
        nodes.append(make_node(operator, inputs, [output], doc_string=_MARK, **more))

    def _position(self, number: int) -> str:
        while len(self.positions) <= number:
            self.positions.append(self._name(f"position_{len(self.positions)}"))
        return self.positions[number]

    def _name(self, wish: str) -> str:
        while wish in self._taken:
            wish += "_"
        self._taken.add(wish)
        return wish


def _names(graph: GraphProto) -> Iterator[str]:
    """Every name of a value in a graph, and in those within it."""
    for each in list_graphs(graph):
        for declared in (*each.input, *each.output):
            yield declared.name
        for constant in each.initializer:
            yield constant.name
        for sparse in each.sparse_initializer:
            yield sparse.values.name
        for node in each.node:
            yield from node.input
            yield from node.output
