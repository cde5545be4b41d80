"""Nodes whose graphs take values from around them: these are drawn, and stand around them in a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np
from onnx import ModelProto, NodeProto
from onnx.shape_inference import InferenceError, infer_shapes

from conformance.checked_models.model_calls import ModelNode, ModelValue
from conformance.checked_models.model_nodes import read_open_graphs
from conformance.checked_models.open_graphs import closed, held_values, put_around
from conformance.models.case_models import build_model
from conformance.models.input_names import named_inputs
from conformance.models.ir_versions import least_ir_version
from conformance.models.packing_nodes import Value, can_pack
from conformance.suite.cases import Case
from generator.asking.calls import Call
from generator.calls.data.data import fill
from generator.calls.data.draws import Draw
from generator.models.chains.node_answers import rules_and_reference
from generator.models.check.call_cases import Uncovered, opset_of_cases
from opcert.vocabulary.attributes import Attribute, Attributes, Graph
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.errors import OpcertError, UserError
from opcert.vocabulary.slots import gather, slots_of
from opcert.vocabulary.tensors import Tensor
from opcert.vocabulary.value_types import (
    OptionalType,
    SequenceType,
    TensorType,
    ValueType,
    parse_value_type,
)
from reference.answers import OutsideDomain
from reference.registry.body_runs import BrokenRule, EvaluatedBody, held_to

AROUND = "around"
"""The dimension of which class of data values from around have."""
CLASSES = ("random", "distinct")
_LENGTHS = (1, 2, 3, 5)
_MOST_AXES = 3
_COUNTED = 3
"""Whole numbers from around are drawn up to this one: they count, or are places."""


@dataclass(frozen=True, eq=False)
class Seen:
    """What a call has so far: the lengths of extents, and the shapes of tensors."""

    extents: dict[object, int] = field(default_factory=dict)
    shapes: list[tuple[int, ...]] = field(default_factory=list)

    def add(self, said: Sequence[object] | None, shape: tuple[int, ...]) -> None:
        """One more tensor, of which the model says a shape, or none."""
        self.shapes.append(shape)
        self.extents.update(zip(said or (), shape, strict=False))


@dataclass(frozen=True, eq=False)
class AroundNode:
    """The values from around a node, by their names in its graphs, and the opset that these are of.

    Of none of them, and of opset 0, nothing changes.
    """

    values: Mapping[str, ModelValue]
    opset: int = 0

    @property
    def is_needed(self) -> bool:
        """Whether cases need a model that the node's version alone does not tell."""
        return bool(self.values) or self.opset > 0

    def close(self, call: Call, inputs: Sequence[ModelValue | None], data: str, draw: Draw) -> Call:
        """The call with graphs that hold drawn values; extents of one name are one, here and in `inputs`.

        `inputs` are the values that the node takes, in the order of the call's.
        """
        if not self.values:
            return call
        seen = Seen()
        for value, slot in zip(inputs, slots_of(call.inputs, call.slots), strict=False):
            for given in gather(slot, call.inputs):
                seen.add(None if value is None else value.shape, given.shape)
        drawn = {
            name: drawn_value(value, seen, data, draw.child(name)) for name, value in self.values.items()
        }
        kinds = {name: kind for name, value in self.values.items() if (kind := structure_of(value))}
        return replace(call, attributes=_holding(call.attributes, drawn, kinds))

    def misfits(self, case: Case) -> bool:
        """Whether shapes in a case's graphs do not go together, be it in a branch that never runs.

        ONNX's inference tells some of that, and running each branch the rest: runtimes infer shapes in all.
        """
        model = self.open(case)[1] if self.is_needed else ModelProto.FromString(build_model(case))
        try:
            infer_shapes(model, strict_mode=True)
        except InferenceError:
            return True
        return any(_breaks_shapes(branch) for branch in _branches(case))

    def open(self, case: Case) -> tuple[Case, ModelProto]:
        """The same case with a model in which the values stand around the node."""
        values: dict[str, Tensor] = {}
        for given in case.attributes.values():
            if isinstance(given.value, Graph):
                values |= held_values(given.value, self.values)
        model = ModelProto.FromString(case.model or build_model(case))
        constant = {name for name, value in self.values.items() if value.is_constant}
        put_around(model, values, constant)
        for opset in model.opset_import:
            if not opset.domain:
                opset.version = max(opset.version, self.opset)
        model.ir_version = max(model.ir_version, least_ir_version(model.opset_import, ()))
        given_before = [(name, one) for name, one in named_inputs(case.inputs)]
        fed = [(name, one) for name, one in values.items() if name not in constant]
        if case.output_types:
            # The model takes sequences and optionals apart, and gives tensors.
            names = tuple(output.name for output in case.expectations[0].outputs)
            case = replace(case, output_names=names, output_types={})
        return replace(case, inputs=(*given_before, *fed), slots=()), model


def _branches(case: Case) -> Iterator[EvaluatedBody]:
    """The graphs of a case that take nothing."""
    for given in case.attributes.values():
        if isinstance(given.value, Graph):
            body = EvaluatedBody.of(given.value, case.operator.since_version, {})
            if not body.takes:
                yield body


def _breaks_shapes(branch: EvaluatedBody) -> bool:
    """Whether a node has inputs of shapes that its operator does not declare.

    Values may be wrong where a condition keeps the branch from running: an optional that holds nothing.
    """
    try:
        with drawn_bodies():
            branch.outputs(())
    except BrokenRule as error:
        return error.rule.shape_of is not None
    except OpcertError:
        return False
    return False


NOTHING_AROUND = AroundNode({})


def around_of(node: ModelNode) -> AroundNode:
    """What the graphs of a node take from around it; Uncovered where that is of no type that is known."""
    if not node.open_graphs:
        return AroundNode({}, opset_of_cases(node))
    for value in node.around.values():
        kind = structure_of(value)
        if value.kind is not None and (kind is None or not can_pack(kind)):
            raise Uncovered("no_tensors", f"Its graphs take {value.kind} from around it.")
        if kind is None and value.element_type is None:
            told = f"Its graphs take {value.name} from around it, of which the model does not say the type."
            raise Uncovered("unread", told)
    return AroundNode(node.around, opset_of_cases(node))


@contextmanager
def drawn_bodies() -> Iterator[None]:
    """Hold bodies to the rules of their nodes: values of shapes that no model says need not go together.

    Raises OutsideDomain where they do not.
    """
    try:
        with held_to(lambda operator: rules_and_reference(operator)[0]):
            yield
    except (ArithmeticError, LookupError, ValueError) as error:
        said = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise OutsideDomain("what was drawn does not go together in the graphs", got=said) from error


def structure_of(value: ModelValue) -> ValueType | None:
    """The type of a sequence, an optional or a map; None of a tensor, and of what no case carries."""
    try:
        return None if value.kind is None else parse_value_type(value.kind)
    except UserError:
        return None


def _holding(
    attributes: Attributes, values: Mapping[str, Value], kinds: Mapping[str, ValueType]
) -> dict[str, Attribute]:
    """Attributes whose graphs hold values from around them as constants."""
    return {
        name: Attribute("graph", closed(given.value, values, kinds))
        if isinstance(given.value, Graph)
        else given
        for name, given in attributes.items()
    }


def with_seen(node: NodeProto, facts: ModelNode, find: Callable[[str], Tensor | None]) -> ModelNode:
    """A node with graphs that hold what was seen around it; as it is where something was not."""
    if not facts.open_graphs:
        return facts
    graphs, names = read_open_graphs(node)
    seen = {inner: value for outer, inner in names.items() if (value := find(outer)) is not None}
    if len(seen) < len(names):
        return facts
    opset = max(graph.opset for graph in facts.open_graphs.values())
    held = {name: closed(replace(graph, opset=opset), seen, {}) for name, graph in graphs.items()}
    return replace(
        facts,
        attributes={**facts.attributes, **{name: Attribute("graph", graph) for name, graph in held.items()}},
        unread={name: why for name, why in facts.unread.items() if name not in held},
    )


def drawn_value(value: ModelValue, seen: Seen, data: str, draw: Draw, length: int | None = None) -> Value:
    """A value of what the model says of it, a sequence of so many tensors if that is said.

    Extents of one name are one; `seen` gets those of what is drawn, and the shapes.
    """
    if value.constant is not None:
        return value.constant
    kind = structure_of(value)
    if isinstance(kind, OptionalType):
        if not draw.child("held").integer(0, 3):
            return None
        kind = kind.of
    count, is_sequence = 1, isinstance(kind, SequenceType)
    if isinstance(kind, SequenceType):
        count = draw.child("length").choice((*_LENGTHS[:3], 0)) if length is None else length
        kind = kind.of
    if kind is None:
        assert value.element_type is not None
        kind = TensorType(ELEMENT_TYPES[value.element_type], value.shape)
    assert isinstance(kind, TensorType)
    # Tensors of one sequence are of one shape: what is made of them needs that as a rule.
    shape = _shape(kind.shape, seen, draw)
    streams = [draw.child(f"element/{place}") for place in range(count)] if is_sequence else [draw]
    found = [_filled(kind.element_type, shape, data, stream) for stream in streams]
    if found:
        seen.add(kind.shape, shape)
    return tuple(found) if is_sequence else found[0]


def _shape(said: Sequence[object] | None, seen: Seen, draw: Draw) -> tuple[int, ...]:
    """The model's own extents, those of their names, or drawn ones; of no rank often another tensor's."""
    if said is None:
        if seen.shapes and draw.child("shape").integer(0, 2):
            return draw.child("shape/of").choice(seen.shapes)
        said = (None,) * draw.child("rank").integer(0, _MOST_AXES)
    lengths = []
    for axis, extent in enumerate(said):
        drawn = draw.child(f"axis/{axis}").choice((*_LENGTHS, *seen.extents.values()))
        lengths.append(drawn if extent is None else seen.extents.setdefault(extent, _own_or(extent, drawn)))
    return tuple(lengths)


def _filled(kind: ElementType, shape: Sequence[int], data: str, draw: Draw) -> Tensor:
    if kind.is_integer:
        numbers = draw.child("numbers").numbers(0, _COUNTED, prod(shape))
        return Tensor(kind, np.array(numbers, dtype=kind.storage).reshape(shape))
    return fill(kind, shape, data, draw.child("data"))


def _own_or(extent: object, drawn: int) -> int:
    return extent if isinstance(extent, int) else drawn
