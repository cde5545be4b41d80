"""Values that a runtime takes only packed into wider ones: the nodes that pack, and models with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, TypeProto, ValueInfoProto
from onnx.helper import make_node

from conformance.suite.cases import Case
from conformance.suite.flat_values import take_value
from conformance.suite.proto_bounds import list_graphs
from conformance.suite.protos import declare_tensor, write_tensor, write_type
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.slots import Slots
from opcert.vocabulary.tensors import Tensor, tensor
from opcert.vocabulary.value_types import (
    OptionalType,
    SequenceType,
    TensorType,
    ValueType,
    element_type_in,
    words_of,
)

Value = Tensor | tuple[Tensor, ...] | None
"""A tensor, the elements of a sequence, or None: an optional that holds nothing."""

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


Ends = frozenset[str]
"""Which values (`sequence`, `optional`, `map`) a runtime takes and gives itself, at the ends of a graph."""
NO_ENDS: Ends = frozenset()
EVERY_END: Ends = frozenset({"sequence", "optional", "map"})


def can_pack(kind: ValueType, ends: Ends = NO_ENDS) -> bool:
    """Whether nodes are to make values of a type: a tensor, a sequence of tensors, an optional of either.

    What a runtime takes at the ends of a graph none makes.
    """
    held = kind.of if isinstance(kind, OptionalType) else kind
    held = held.of if isinstance(held, SequenceType) else held
    return isinstance(held, TensorType) and not ends.issuperset(words_of(kind))


def is_packing(node: NodeProto) -> bool:
    """Whether a node is one that was put around a graph."""
    return bool(node.doc_string == _MARK and node.op_type in SINCE and not node.domain)


class GraphSurroundings:
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

    def pack(self, name: str, kind: ValueType, value: Value, held: TypeProto | None = None) -> Named:
        """Make the value of a name out of tensors: those, by the names of new inputs.

        `held` is an optional's declared type where it has a shape.
        """
        is_optional = isinstance(kind, OptionalType)
        if is_optional and value is None:
            self.join(name, kind, None, held=held)
            return []
        inner = self._name(f"{name}_element") if is_optional else name
        if isinstance(value, Tensor):
            parts = [(inner, value)]
        else:
            parts = [(self._name(f"{name}_{number}"), each) for number, each in enumerate(value or ())]
        self.join(name, kind, [part for part, _ in parts], inner)
        return parts

    def join(
        self,
        name: str,
        kind: ValueType,
        parts: Sequence[str] | None,
        inner: str | None = None,
        held: TypeProto | None = None,
    ) -> None:
        """Make the value of a name out of tensors that have names; None makes an optional that holds nothing.

        `inner` is a name for what an optional holds.
        """
        if not isinstance(kind, OptionalType):
            if isinstance(kind, SequenceType):
                self._construct(name, kind, parts or ())
            return
        if parts is None:
            self._add(self.before, "Optional", [], name, type=held or write_type(kind.of))
            return
        element = parts[0] if isinstance(kind.of, TensorType) else inner or self._name(f"{name}_element")
        if isinstance(kind.of, SequenceType):
            self._construct(element, kind.of, parts)
        self._add(self.before, "Optional", [element], name)

    def _construct(self, name: str, kind: ValueType, parts: Sequence[str]) -> None:
        if parts:
            self._add(self.before, "SequenceConstruct", list(parts), name)
        else:
            self._add(self.before, "SequenceEmpty", [], name, dtype=element_type_in(kind).code)

    def unpack(self, output: str, kind: ValueType, value: Value) -> Named:
        """Take an output apart, as far as `value` goes: what is expected, by the names of the outputs."""
        name = output
        found: Named = []
        if isinstance(kind, OptionalType):
            has_element = self._name(f"{name}_has_element")
            self._add(self.after, "OptionalHasElement", [name], has_element)
            found.append((has_element, tensor(np.array(value is not None))))
            if value is None:
                return found
            name = self._name(f"{output}_element")
            self._add(self.after, "OptionalGetElement", [output], name)
        if isinstance(value, Tensor):
            return [*found, (name, value)]
        return [*found, *self._take_apart(name, output, value or ())]

    def _take_apart(self, name: str, output: str, elements: Sequence[Tensor]) -> Named:
        length = self._name(f"{output}_length")
        self._add(self.after, "SequenceLength", [name], length)
        found = [(length, tensor(np.array(len(elements), np.int64)))]
        for number, each in enumerate(elements):
            element = self._name(f"{output}_{number}")
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
    for graph_proto in list_graphs(graph):
        for declared in (*graph_proto.input, *graph_proto.output):
            yield declared.name
        for constant in graph_proto.initializer:
            yield constant.name
        for sparse in graph_proto.sparse_initializer:
            yield sparse.values.name
        for node in graph_proto.node:
            yield from node.input
            yield from node.output


def import_operators(model: ModelProto, nodes: Sequence[NodeProto]) -> None:
    """See to it that the model's operator set has the nodes; the set is never raised."""
    least = max((SINCE[node.op_type] for node in nodes), default=1)
    imported = [opset for opset in model.opset_import if opset.domain in ("", "ai.onnx")]
    if not imported:
        model.opset_import.add(domain="", version=least)
    elif min(each.version for each in imported) < least:
        raise UserError(
            "the model's operator set has no operators for its sequences and optionals",
            got=str(min(each.version for each in imported)),
            expected=f"at least {least}",
        )


Names = Sequence[str]


def pack_model(
    model: ModelProto, case: Case, parts: Names, values: Names, outputs: Names, ends: Ends
) -> None:
    """Put nodes around the one of a case's model, in place.

    `parts` are the names of the case's inputs in the model, `values` those that its slots have at the node,
    `outputs` those of its wanted outputs. Raises UserError where the operator set has no such nodes.
    """
    around = GraphSurroundings(model.graph)
    for slot, name in zip(case.slots, values if case.slots else (), strict=True):
        if slot.type is None:
            continue
        if can_pack(slot.type, ends):
            around.join(name, slot.type, None if slot.empty else [parts[part] for part in slot.parts])
        else:
            model.graph.input.append(ValueInfoProto(name=name, type=write_type(slot.type)))
    packed = any(can_pack(kind, ends) for kind in case.output_types.values())
    expected = expected_values(case) if packed else {}
    declared = {value_info.name: value_info for value_info in model.graph.output}
    del model.graph.output[:]
    for wanted, name in zip(case.wanted, outputs, strict=True):
        kind = case.output_types.get(wanted)
        if kind is None:
            model.graph.output.append(declared[name])
        elif not can_pack(kind, ends):
            model.graph.output.append(ValueInfoProto(name=name, type=write_type(kind)))
        else:
            for part, tensor in around.unpack(name, kind, _packable(kind, expected.get(wanted))):
                declare_tensor(
                    model.graph.output.add(), part, tensor.element_type, [None] * len(tensor.shape)
                )
    around.write_into(model.graph)
    nodes = [*around.before, *around.after]
    if case.operator.domain != "ai.onnx":
        # The set beside the operator's own may be any.
        for opset in model.opset_import:
            if not opset.domain:
                opset.version = max([opset.version, *(SINCE[node.op_type] for node in nodes)])
    import_operators(model, nodes)


def is_carried(operator: OperatorName, kind: ValueType, ends: Ends = NO_ENDS) -> bool:
    """Whether nodes of ONNX carry values of a type to and from the operator."""
    since = 15 if isinstance(kind, OptionalType) else 11
    return can_pack(kind, ends) and (operator.domain != "ai.onnx" or operator.since_version >= since)


_SEQUENCES = frozenset(
    [
        *(
            "float",
            "double",
            "float16",
            "int8",
            "int16",
            "int32",
            "int64",
            "uint8",
            "uint16",
            "uint32",
            "uint64",
        ),
        *("bool", "string", "complex64", "complex128"),
    ]
)
"""The element types of sequences that SequenceConstruct, SequenceAt and their like take, in every version."""


def is_taken_apart(kind: ValueType) -> bool:
    """Whether the nodes that carry values of a type take its element type."""
    return "sequence" not in words_of(kind) or element_type_in(kind).name in _SEQUENCES


def native_parts(slots: Slots, ends: Ends = NO_ENDS) -> frozenset[int]:
    """The positions of inputs that no model takes as tensors: parts of values at the ends of a graph."""
    native = (slot for slot in slots if slot.type is not None and not can_pack(slot.type, ends))
    return frozenset(part for slot in native for part in slot.parts)


def expected_values(case: Case) -> Mapping[str, object]:
    """What the first expectation says of each output that is no tensor; none where there is no expectation.

    Raises UserError where expectations differ in what they hold: a model takes an output apart in one way.
    """
    found: dict[str, object] = {}
    forms = set()
    for expectation in case.expectations:
        tensors = [output.expected for output in expectation.outputs]
        place, form = 0, []
        for name in case.wanted:
            kind = case.output_types.get(name)
            if kind is None:
                place += 1
                continue
            value, behind = take_value(kind, tensors, place)
            form.append(behind - place)
            found.setdefault(name, value)
            place = behind
        forms.add(tuple(form))
    if len(forms) > 1:
        raise UserError("expectations of a case differ in the number of tensors", got=str(sorted(forms)))
    return found


def _packable(kind: ValueType, value: object) -> Value:
    """The value of a type that nodes take apart: what nobody expects anything of is taken for empty."""
    held = kind.of if isinstance(kind, OptionalType) else kind
    if isinstance(held, SequenceType) and isinstance(value, tuple):
        return tuple(each for each in value if isinstance(each, Tensor))
    return value if isinstance(value, Tensor) else None
