"""Calls of a node that is given sequences or optionals: those of its declaration that the node may make.

How many tensors a sequence has, and of which shapes, a model seldom says: this varies. Of a node with bodies
the declaration has others than these, so that its values are drawn as the model says them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from conformance.models.packing_nodes import Value
from generator.asking.calls import Call
from generator.asking.validity import find_violations
from generator.calls.data.draws import Draw
from generator.calls.rows.feasibility import Level
from generator.calls.solver.form_levels import read_form
from generator.calls.solver.partial import OMITTED
from generator.calls.solver.solving import Found
from generator.calls.space.drawing import draw_call
from generator.calls.variables.data_levels import DATA
from generator.models.check.captured_values import CLASSES, Seen, drawn_value
from generator.models.check.model_extents import Shapes
from generator.models.check.node_calls import NodeCall, NodeInput, plain_form, plain_type
from opcert.vocabulary.slots import Slot, gather, slots_of
from opcert.vocabulary.tensors import Tensor
from opcert.vocabulary.value_types import SequenceType, TensorType
from specs.language.evaluation import EvaluationError

_TRIES = 64
_MOST_LEVELS = 8
_EXTENTS = "extents"


@dataclass(frozen=True, eq=False)
class StructureDrawing:
    """Draws calls of one node; what the node fixes (attributes, types, constants) every one has."""

    node: NodeCall

    @cached_property
    def dimensions(self) -> dict[str, tuple[Level, ...]]:
        """What the cases vary, each with its levels: not what the node says."""
        said = {
            *self.node.spec.attributes,
            *(each.name for each in self.node.inputs if each.kept is not None),
        }
        found: dict[str, tuple[Level, ...]] = {}
        for name, levels in self.node.space.factors.items():
            if name in said or name.startswith(("type_", "rank_")) or name == _EXTENTS:
                continue
            left = tuple(level for level in levels if self._may_have(name, level))
            if left:
                found[name] = left[:_MOST_LEVELS]
        return found

    def draw(self, _: Shapes, levels: Mapping[str, Level], draw: Draw) -> Call | None:
        """A valid call with these levels; None where none is found."""
        space, types = self.node.space, {f"type_{name}": each for name, each in self.node.types.items()}
        wanted = {**levels, **types}
        for turn in range(_TRIES):
            stream = draw.child(str(turn))
            solved = space.search.solve(wanted, stream)
            if not isinstance(solved, Found):
                return None
            try:
                drawn = draw_call(space, solved.scope, wanted, stream.child("data"))
                call = self._of_node(drawn, by_ranks=turn < _TRIES // 2)
                if call is not None and not find_violations(self.node.spec, call):
                    return call
            except EvaluationError:
                continue  # what the node fixes leaves a rule without a value
        return None

    def _may_have(self, name: str, level: Level) -> bool:
        given = next((each for each in self.node.inputs if each.name == name), None)
        if given is None:
            return True
        if given.value is None or level == OMITTED:
            return (given.value is None) == (level == OMITTED)
        forms = self.node.spec.input_forms
        if not forms[name].is_structured:
            return True
        kind = given.structure or TensorType(given.type_of_elements)
        return read_form(str(level)).form == plain_form(kind)

    def _of_node(self, call: Call, *, by_ranks: bool) -> Call | None:
        """The call with what the node fixes; None where it has other inputs, or tensors of other ranks."""
        inputs = list(call.inputs)
        slots = slots_of(call.inputs, call.slots)
        for place, given in enumerate(self.node.inputs):
            slot = slots[place] if place < len(slots) else None
            is_there = slot is not None and (slot.type is not None or bool(slot.parts))
            if is_there != (given.value is not None):
                return None
            if slot is None or given.value is None:
                continue
            if given.kept is not None:
                inputs[slot.parts[0]] = (given.name, given.kept)
            elif (by_ranks or given.structure is None) and not _has_ranks(given, gather(slot, inputs)):
                return None
        return replace(
            call, inputs=tuple(inputs), attributes=dict(self.node.attributes), outputs=self.node.wanted
        ).trimmed()


LENGTHS = "lengths"
"""The dimension of how many tensors sequences have that a node with bodies is given."""
_MOST_LENGTH = 3


@dataclass(frozen=True, eq=False)
class BodyDrawing:
    """Draws calls of one node with bodies: values of the types that the model says."""

    node: NodeCall

    @cached_property
    def dimensions(self) -> dict[str, tuple[Level, ...]]:
        """The class of data, and the lengths of sequences."""
        return {DATA: CLASSES, LENGTHS: tuple(range(_MOST_LENGTH + 1))}

    def draw(self, _: Shapes, levels: Mapping[str, Level], draw: Draw) -> Call | None:
        """A valid call with these levels; None where what is drawn makes none."""
        seen = Seen()
        inputs: list[tuple[str, Tensor | None]] = []
        slots: list[Slot] = []
        data, length = str(levels[DATA]), int(levels[LENGTHS])
        for place, given in enumerate(self.node.inputs):
            stream, kind = draw.child(str(place)), given.structure
            value: Value = given.kept
            if value is None and given.value is not None:
                value = drawn_value(given.value, seen, data, stream, length)
            parts = (value,) if isinstance(value, Tensor) else value or ()
            places = tuple(range(len(inputs), len(inputs) + len(parts)))
            inputs += [(given.name, part) for part in parts]
            if kind is None:
                slots.append(Slot(given.name, places))
            else:
                slots.append(Slot(given.name, places, plain_type(kind), empty=value is None))
        call = Call(dict(self.node.attributes), tuple(inputs), tuple(slots), self.node.wanted).trimmed()
        return None if find_violations(self.node.spec, call) else call


def _has_ranks(given: NodeInput, tensors: Iterator[Tensor]) -> bool:
    """Whether tensors have the rank that the model says, where it says one."""
    shape = None if given.value is None else given.value.shape
    if isinstance(given.structure, SequenceType) and isinstance(given.structure.of, TensorType):
        shape = given.structure.of.shape
    return shape is None or all(len(tensor.shape) == len(shape) for tensor in tensors)
