"""Calls of a node that is given sequences or optionals: those of its declaration that the node may make.

How many tensors a sequence has, and of which shapes, a model seldom says: this varies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from generator.asking.calls import Call
from generator.asking.validity import find_violations
from generator.calls.data.draws import Draw
from generator.calls.rows.feasibility import Level
from generator.calls.solver.form_levels import read_form
from generator.calls.solver.partial import OMITTED
from generator.calls.solver.solving import Found
from generator.calls.space.drawing import draw_call
from generator.models.check.model_extents import Shapes
from generator.models.check.node_calls import NodeCall, NodeInput, plain_form
from opcert.vocabulary.slots import gather, slots_of
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


def _has_ranks(given: NodeInput, tensors: Iterator[Tensor]) -> bool:
    """Whether tensors have the rank that the model says, where it says one."""
    shape = None if given.value is None else given.value.shape
    if isinstance(given.structure, SequenceType) and isinstance(given.structure.of, TensorType):
        shape = given.structure.of.shape
    return shape is None or all(len(tensor.shape) == len(shape) for tensor in tensors)
