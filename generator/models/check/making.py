"""The cases of one call of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from math import prod

from conformance.checked_models.model_calls import ModelCall
from conformance.models.case_models import Form
from conformance.suite.cases import Case
from conformance.suite.suite_parts import suite_order
from generator.asking.answered_outputs import declared_results
from generator.asking.calls import Call
from generator.asking.given_inputs import output_names
from generator.calls.data.draws import Draw
from generator.calls.declared.declared_levels import DeclaredLevels
from generator.calls.rows.feasibility import Level
from generator.making.operators.workshop import Options, Workshop
from generator.models.check.call_cases import CallCases, NotCovered, Uncovered, key_of_call, word_of_key
from generator.models.check.call_clock import OutOfTime, within_seconds
from generator.models.check.call_costs import estimated_seconds
from generator.models.check.call_drawing import (
    EXTENTS,
    CallDrawing,
    Levels,
    count_pairs,
    dimensions_of,
    pairs_in,
    rows_of,
)
from generator.models.check.captured_values import AROUND, CLASSES, drawn_bodies
from generator.models.check.model_extents import (
    UNKNOWN_EXTENT,
    ShapeChecks,
    Shapes,
    broken_by_model,
    elements,
)
from generator.models.check.node_calls import NodeCall, read_node
from generator.models.check.own_models import (
    FIXED,
    OPEN,
    SHAPES,
    held,
    holds_some,
    in_model,
    leaves_open,
    opened,
    rows_to_open,
)
from generator.models.check.shape_choice import ChosenShapes, choose_shapes, left_open
from generator.models.check.structure_drawing import BodyDrawing, StructureDrawing
from opcert.vocabulary.errors import InternalError, OpcertError
from reference.answers import OutsideDomain, UnstableLength
from reference.registry import reference_of

MOST_CASES = 20
"""Cases of one call."""
MOST_INPUT = 2_000_000
"""Elements that go into a case at most: each is drawn as an exact number of some 700 bytes."""
MOST_OUTPUT = 20_000
"""Elements that come out of a case at most: the reference is exact, and takes its time."""
MOST_CASE_SECONDS = 6.0
"""A case whose reference takes longer, as far as that can be estimated, is not made."""
MOST_ALL = 60_000
"""Elements of inputs and outputs of all cases of one call together, after the first three."""
_COSTLY = f"its outputs have more than {MOST_OUTPUT} elements, or its sums too many products"
_LARGE = f"its inputs have more than {MOST_INPUT:,} elements"
_DRAWS, _DRAWS_AROUND = 3, 12
"""For a row of levels: of values around a node, too, fewer go together."""
_FEWEST = 3
SECONDS = 60.0
"""Of the processor, for all cases of one call; the slowest calls of models that people use take a few."""


def cases_of_call(call: ModelCall, most: int = MOST_CASES) -> CallCases:
    """The cases of a call, at most so many, or why there are none; the same call has the same ones always.

    It raises nothing for what a model says or for a mistake of ours in one call: `not_covered` tells.
    """
    key = key_of_call(call)
    try:
        with within_seconds(SECONDS):
            return _make(call, key, most)
    except Uncovered as error:
        return CallCases(call, key, not_covered=error.reason)
    except MemoryError:
        return CallCases(call, key, not_covered=NotCovered("too_costly", "Its cases take too much memory."))
    except OutOfTime:
        told = f"Making its cases takes longer than {SECONDS:g} seconds of the processor."
        return CallCases(call, key, not_covered=NotCovered("too_slow", told))
    except Exception as error:  # noqa: BLE001 - one call never stops the others
        said = str(error) if isinstance(error, OpcertError) else f"{type(error).__name__}: {error}"
        return CallCases(call, key, not_covered=NotCovered("failed", f"Making its cases failed: {said}"))


def _make(call: ModelCall, key: str, most: int) -> CallCases:
    """The cases of a call; where kept values make all of them too large, with other values of these."""
    node = read_node(call.first)
    try:
        return _Making(call, key, node, most).make()
    except Uncovered as error:
        rule = broken_by_model(node) if error.reason.why in ("no_call", "refused") else None
        if (told_open := left_open(rule)) is not None:
            raise told_open from error
        if rule is not None:
            said = f" ({rule.require})" if rule.require else ""
            told = f"The node breaks the rule {rule.id} of its document{said}."
            raise Uncovered("not_valid", told) from error
        lists = [
            node_input.name
            for node_input in node.inputs
            if node_input.kept is not None and node_input.kept.array.size > 1
        ]
        if error.reason.why != "too_costly" or not lists:
            raise
        named = " and ".join(lists)
        told = f"With the model's own values of {named} every case is too large: they have others."
        made = _Making(call, key, node.without_lists(), most).make()
        return replace(made, given_up=(told, *made.given_up))


@dataclass(eq=False)
class _Making:
    """The making of one call's cases; `lost` counts what became of draws that are none."""

    call: ModelCall
    key: str
    node: NodeCall
    most: int
    lost: dict[str, str] = field(default_factory=dict)
    shapes_level: Mapping[str, str] = field(default_factory=dict)

    def make(self) -> CallCases:
        spec = self.node.spec
        reference = reference_of(spec)
        self.workshop = Workshop(spec, reference, DeclaredLevels(self.node.space), Options())
        self.drawing: CallDrawing | StructureDrawing | BodyDrawing
        if self.node.is_structured:
            drawing = BodyDrawing if self.node.has_bodies else StructureDrawing
            self.drawing, shapes = drawing(self.node), ChosenShapes({})
            dimensions = self.drawing.dimensions
        else:
            self.drawing = CallDrawing(self.node, ShapeChecks(self.node))
            shapes = choose_shapes(self.node, self._draw("shapes"))
            dimensions = dimensions_of(self.node, list(shapes.levels))
        if self.node.around.values:
            dimensions = {**dimensions, AROUND: CLASSES}
        self.shapes_level = {SHAPES: FIXED} if leaves_open(self.node) and not shapes.apart else {}
        made: list[tuple[Levels, Case]] = []
        spent = 0
        for number, row in enumerate(rows_of(dimensions, self.most)):
            if spent > MOST_ALL and len(made) >= _FEWEST:
                break
            if self.node.around.values and not made and number >= _FEWEST:
                break
            found = self._make_row(shapes.levels.get(str(row.get(EXTENTS)), ()), row, number)
            if found is not None:
                made.append((row, found))
                spent += _elements(found)
        if not made:
            self._raise()
        twins = self._opened(made)
        if twins:
            dimensions = {**dimensions, SHAPES: (FIXED, OPEN)}
            made = [({**row, SHAPES: FIXED}, case) for row, case in made]
        every = [*made, *twins]
        if holds_some(self.node):
            every = [(row, held(self.node, case)) for row, case in every]
        if self.node.around.is_needed:
            every = [(row, in_model(*self.node.around.open(case))) for row, case in every]
        return self._told(shapes, dimensions, every)

    def _opened(self, made: Sequence[tuple[Levels, Case]]) -> list[tuple[Levels, Case]]:
        """Some of the cases again, with extents open that the model leaves open."""
        chosen = rows_to_open([row for row, _ in made]) if self.shapes_level else ()
        twins = ((made[place][0], opened(self.node, made[place][1])) for place in chosen)
        return [({**row, SHAPES: OPEN}, twin) for row, twin in twins if twin is not None]

    def _draw(self, *labels: str) -> Draw:
        return Draw("/".join(("checking", self.key, *labels)))

    def _make_row(self, shapes: Shapes, row: Levels, number: int) -> Case | None:
        if elements(shapes) > MOST_INPUT:
            self.lost.setdefault("too_costly", _LARGE)
            return None
        levels = {name: level for name, level in row.items() if name not in (EXTENTS, AROUND)}
        around = self.node.around
        for attempt in range(_DRAWS_AROUND if self.node.has_bodies else _DRAWS):
            stream = self._draw(str(number), str(attempt))
            found = self.drawing.draw(shapes, levels, stream)
            if found is None:
                self.lost.setdefault("no_call", "no values were found for what the model feeds")
                continue
            data, beside = str(row.get(AROUND)), [each.value for each in self.node.inputs]
            found = around.close(found, beside, data, stream.child(AROUND))
            if self.workshop.has(found):
                continue
            if self._is_costly(found):
                self.lost.setdefault("too_costly", _COSTLY)
                return None
            case = self._make_case(found, row)
            if case is not None and not (self.node.has_bodies and around.misfits(case)):
                return case
        return None

    def _make_case(self, call: Call, row: Levels) -> Case | None:
        texts = {**{name: str(level) for name, level in row.items()}, **self.shapes_level}
        try:
            with drawn_bodies() if self.node.has_bodies else nullcontext():
                return self.workshop.add_valid("cover", word_of_key(self.key), call, texts)
        except UnstableLength:
            self.lost.setdefault("no_call", "the shape of what comes out hangs on rounding")
        except InternalError as error:
            if not isinstance(error.__cause__, OutsideDomain):
                raise
            self.lost.setdefault("refused", f"the reference says: {error.__cause__}")
        except OutsideDomain as error:
            self.lost.setdefault("refused", f"{error}")
        return None

    def _is_costly(self, call: Call) -> bool:
        names = output_names(self.node.spec, call)
        found = declared_results(self.node.spec, call, names)
        shapes = [declared_output.shape for declared_output in found if declared_output.shape is not None]
        if sum(prod(least for least, _ in shape.extents) for shape in shapes) > MOST_OUTPUT:
            return True
        told = all(most < UNKNOWN_EXTENT for shape in shapes for _, most in shape.extents)
        if told and len(shapes) == len(found):
            outputs = sum(prod(most for _, most in shape.extents) for shape in shapes)
            seconds = estimated_seconds(self.node.spec.operator.name, call, min(outputs, MOST_OUTPUT))
            return outputs > MOST_OUTPUT or seconds > MOST_CASE_SECONDS
        # Of what values decide nothing is known before: a kept list may say it.
        kept = [node_input.kept for node_input in self.node.inputs if node_input.kept is not None]
        lists = [value.array for value in kept if value.element_type.is_integer and value.array.ndim == 1]
        return any(prod(max(length, 1) for length in lengths.tolist()) > MOST_OUTPUT for lengths in lists)

    def _raise(self) -> None:
        for why in ("refused", "too_costly", "no_call"):
            if why in self.lost:
                raise Uncovered(why, f"No case could be made: {self.lost[why]}.")
        raise Uncovered("no_call", "No case could be made.")

    def _told(
        self,
        shapes: ChosenShapes,
        dimensions: Mapping[str, tuple[Level, ...]],
        made: Sequence[tuple[Levels, Case]],
    ) -> CallCases:
        rows = [row for row, _ in made]
        varied = {
            name: tuple(str(level) for level in levels if any(row[name] == level for row in rows))
            for name, levels in dimensions.items()
        }
        covered = set().union(*map(pairs_in, rows))
        return CallCases(
            self.call,
            self.key,
            tuple(sorted((case for _, case in made), key=lambda case: suite_order(case.id))),
            fixed=self._fixed(shapes.levels),
            given_up=shapes.given_up,
            varied=varied,
            pairs=count_pairs(dimensions),
            covered_pairs=len(covered),
            forms=forms_of(self.node),
        )

    def _fixed(self, shapes: Mapping[str, Shapes]) -> dict[str, str]:
        node = self.node
        found = {
            name: str(attribute.value)
            for name, attribute in node.attributes.items()
            if attribute.kind != "graph"
        }
        given = [node_input for node_input in node.inputs if node_input.value is not None]
        found["inputs"] = ", ".join(node_input.name for node_input in given) or "none"
        found["element types"] = (
            ", ".join(dict.fromkeys(node_input.element_type for node_input in given)) or "none"
        )
        if shapes:
            first = next(iter(shapes.values()))
            ranks = [str(len(each)) for each in first if each is not None]
            found["ranks"] = ", ".join(ranks) or "none"
        kept = [node_input.name for node_input in given if node_input.kept is not None]
        if kept:
            found["values"] = ", ".join(kept)
        if shapes:
            own = "own" in shapes
            found["extents"] = "the node's own, and others" if own else "smaller than the node's own"
        return found


def forms_of(node: NodeCall) -> tuple[Form, ...]:
    """The forms that a runner should put a call's cases in, the nearest to what the model does first."""
    given = [node_input.value for node_input in node.inputs if node_input.value is not None]
    open_extents = any(
        value.shape is None or any(not isinstance(one, int) for one in value.shape) for value in given
    )
    forms: list[Form] = ["dynamic", "inputs"] if open_extents else ["inputs", "dynamic"]
    if holds_some(node):
        return tuple(forms)  # the cases' own models have the constants
    if len(given) > 1:
        constant = all(value.is_constant for value in given[1:])
        forms.insert(0 if constant else len(forms), "initializers")
    return tuple(forms) if given else ("inputs",)


def _elements(case: Case) -> int:
    given = elements(tuple(None if tensor is None else tensor.shape for _, tensor in case.inputs))
    outputs = case.expectations[0].outputs if case.expectations else ()
    return given + sum(output.expected.array.size for output in outputs)
