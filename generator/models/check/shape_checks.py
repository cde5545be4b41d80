"""Whether inputs of some shapes can be those of a call: the rules that can be decided without data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from generator.calls.solver.partial import UndrawnElements
from generator.models.check.node_calls import NodeCall, NodeInput
from specs.language.evaluation import EvaluationError, Operand
from specs.model.call_scopes import CallScope, operand_of, scope_of
from specs.model.domain import ResultShape, holds, result_shapes
from specs.model.spec import Constraint

Shapes = tuple[tuple[int, ...] | None, ...]
"""The shape of each input of a node, None where it is left out."""
UNKNOWN_EXTENT = 10**6
"""The extent that declarations give to a length that hangs on values."""


@dataclass(frozen=True, eq=False)
class ShapeChecks:
    """The rules of one node's call, asked of shapes again and again."""

    node: NodeCall

    @cached_property
    def broken_before(self) -> dict[Shapes, Constraint | None]:
        """What was found of shapes before."""
        return {}

    def broken(self, shapes: Shapes) -> Constraint | None:
        """The first rule that a call with these shapes breaks whatever its data is; None where none is."""
        if shapes not in self.broken_before:
            self.broken_before[shapes] = self._broken(shapes)
        return self.broken_before[shapes]

    def _broken(self, shapes: Shapes) -> Constraint | None:
        scope = self.scope(shapes)
        undecided = 0
        for each in self.node.spec.constraints:
            try:
                if not holds(each, scope):
                    return each
            except EvaluationError:
                undecided += 1  # it hangs on data, or on what another rule is about
            except (ArithmeticError, LookupError, TypeError, ValueError):
                undecided += 1
        return None

    def scope(self, shapes: Shapes) -> CallScope:
        """The names of a call with these shapes; what is not kept has elements that nobody knows."""
        node = self.node
        return scope_of(node.spec, node.attributes, self._given(shapes), node.wanted)

    def results(self, shapes: Shapes) -> tuple[ResultShape | None, ...]:
        """What is declared of the shape of each output, in the order of `output_names`.

        None of what is declared nothing, or hangs on data.
        """
        node = self.node
        try:
            return result_shapes(node.spec, node.attributes, self._given(shapes), self.output_names)
        except (EvaluationError, ArithmeticError, LookupError, TypeError, ValueError):
            return (None,) * len(self.output_names)

    @property
    def output_names(self) -> tuple[str, ...]:
        """The names of the node's outputs in order, empty where one is not wanted."""
        wanted = self.node.wanted
        return tuple(each.name for each in self.node.spec.outputs) if wanted is None else wanted

    def _given(self, shapes: Shapes) -> list[tuple[str, Operand | None]]:
        node = self.node
        pairs = [(each.name, self._operand(place, shapes[place])) for place, each in enumerate(node.inputs)]
        variadic = {each.name for each in node.spec.inputs if each.option == "variadic"}
        return [(name, each) for name, each in pairs if each is not None or name not in variadic]

    def _operand(self, place: int, shape: tuple[int, ...] | None) -> Operand | None:
        each = self.node.inputs[place]
        if shape is None:
            return None
        if each.kept is not None:
            return operand_of(each.kept)
        return Operand(each.element_type, shape, UndrawnElements())


def broken_by_model(node: NodeCall) -> Constraint | None:
    """A rule that a node breaks by what the model says of it alone, whatever values come; None without one.

    Nothing is said of a node of which the model leaves an extent open.
    """
    shapes: list[tuple[int, ...] | None] = []
    inputs: list[NodeInput] = []
    for given in node.inputs:
        said = None if given.value is None else given.value.shape
        stated = None if said is None else tuple(extent for extent in said if isinstance(extent, int))
        if given.value is not None and (stated is None or stated != said):
            return None
        shapes.append(stated)
        inputs.append(given if given.value is None else replace(given, kept=given.value.constant))
    return ShapeChecks(replace(node, inputs=tuple(inputs))).broken(tuple(shapes))


def extents_in(scope: CallScope, names: Sequence[str]) -> dict[str, object]:
    """The declared extents and packs that shapes tell, by name."""
    found: dict[str, object] = {}
    for name in names:
        try:
            found[name] = scope[name]
        except (EvaluationError, KeyError):
            continue
    return found
