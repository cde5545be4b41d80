"""Small shapes for the calls of a node, of which the rules hold: from the node's own, class by class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from generator.calls.data.draws import Draw
from generator.making.operators.workshop import rule_text
from generator.models.check.call_cases import Uncovered
from generator.models.check.first_lengths import FirstLengths
from generator.models.check.model_extents import (
    Chosen,
    Class,
    Outline,
    Relations,
    ShapeChecks,
    Shapes,
    declared_rank,
    elements,
    outlines,
    size_of_results,
)
from generator.models.check.node_calls import NodeCall
from specs.model.spec import Constraint

MOST = 80
"""A longer one is left out: what a window over two axes holds takes too long."""
_SPATIAL = 2
"""Windows slide over the axes from this one on."""


def window_lengths(node: NodeCall, outline: Outline) -> Mapping[Class, int]:
    """For the classes that a window slides over a length with two whole steps and something left.

    Nothing where the node has neither strides nor a kernel.
    """
    kernel = _listed(node, "kernel_shape") or _kernel_of_weights(node)
    if kernel is None or not outline.inputs or outline.inputs[0] is None:
        return {}
    strides = _listed(node, "strides") or (1,) * len(kernel)
    dilations = _listed(node, "dilations") or (1,) * len(kernel)
    found: dict[Class, int] = {}
    axes = outline.inputs[0][_SPATIAL:]
    if not len(axes) == len(kernel) == len(strides) == len(dilations):
        return {}
    for axis, extent, stride, dilation in zip(axes, kernel, strides, dilations, strict=True):
        length = (extent - 1) * dilation + 1 + 2 * stride + (stride > 1)
        if not isinstance(axis, int) and length <= MOST:
            found[axis] = max(length, found.get(axis, 0))
    return found


def _listed(node: NodeCall, name: str) -> tuple[int, ...] | None:
    given = node.attributes.get(name)
    return None if given is None else tuple(int(number) for number in given.numbers)


def _kernel_of_weights(node: NodeCall) -> tuple[int, ...] | None:
    """The kernel that the second input's shape says, where the node has strides."""
    if "strides" not in node.attributes or len(node.inputs) < 2:
        return None
    value = node.inputs[1].value
    extents = () if value is None or value.shape is None else value.shape[_SPATIAL:]
    return tuple(extent if isinstance(extent, int) else 1 for extent in extents) or None


MOST_ELEMENTS = 1_500
"""Elements of all inputs of a call together, where the node leaves that open."""
MOST_RELATED = 12_000
"""Elements of the inputs, and of the outputs, of a small case that keeps what stated extents make of it."""
_FEW = 600
_NONE_STATED = "No valid call has the extents that the model states: others were taken."
_LARGE_ALIKE = "Only large cases keep all extents alike that are one number in the model: these do not."
_NOTHING: Mapping[Class, int] = {}
_SMALL = (2, 3, 4, 5, 6, 7, 8, 9, 11, 13)
_OTHERS = (11, 7, 9, 13, 8, 5, 6, 12, 10, 4, 3, 2)


@dataclass(frozen=True, eq=False)
class ChosenShapes:
    """Shapes by the level that they are of, and what had to be given up of the node's own for them.

    `apart` says that extents of one name or number are several lengths.
    """

    levels: Mapping[str, Shapes]
    given_up: tuple[str, ...] = ()
    apart: bool = False


def choose_shapes(node: NodeCall, draw: Draw) -> ChosenShapes:
    """The shapes that a node's cases have, at least `small`; raises Uncovered where no rule holds.

    `own` are those of the node, `small` as few elements as show each extent, `other` lengths that are larger,
    `further` those of `small` and one, `ones` has extents of one where the rules let it, and `none` extents
    of zero that the model leaves open.
    """
    return ShapeChoice(node, ShapeChecks(node), draw).choose()


@dataclass(eq=False)
class ShapeChoice:
    """The choice of one node's shapes; `first` is the rule that those of the model break."""

    node: NodeCall
    checks: ShapeChecks
    draw: Draw
    first: Constraint | None = None
    relations: Relations | None = None

    def choose(self) -> ChosenShapes:
        alike = self._begin(list(outlines(self.node)))
        if alike is not None:
            levels, lost = self._related_levels(*alike)
            if self._is_small(levels["small"]) or not self._says_lengths():
                return ChosenShapes(levels, lost)
            apart = self._levels(*self._apart(*alike))
            if self._is_small(apart["small"]):
                return ChosenShapes(apart, (_LARGE_ALIKE,), apart=True)
            return ChosenShapes(levels, lost)
        others = self._begin(list(outlines(self.node, apart=True))) if self._says_lengths() else None
        if others is not None:
            levels, lost = self._related_levels(*others)
            return ChosenShapes(levels, (_NONE_STATED, *lost), apart=True)
        self._check_ranks()
        always = self.checks.broken_by_all()
        if (told_open := left_open(always or self.first)) is not None:
            raise told_open
        rule = "" if self.first is None else f"; with those of the model it breaks {rule_told(self.first)}"
        if laters := [each for each in self.checks.every_broken if each is not self.first]:
            rule += f", and with others {rule_told(laters[-1])}"
        raise Uncovered("no_call", f"No shapes were found with which the call is valid{rule}.")

    def _apart(self, outline: Outline, begun: Chosen) -> tuple[Outline, Chosen]:
        """The same lengths, each by itself, of extents that are one number or name in the model."""
        shapes = outline.shapes(begun)
        ranks = [None if shape is None else len(shape) for shape in shapes]
        found = next(
            one
            for one in outlines(self.node, apart=True)
            if [None if axes is None else len(axes) for axes in one.inputs] == ranks
        )
        pairs = (
            pair
            for axes, shape in zip(found.inputs, shapes, strict=True)
            for pair in zip(axes or (), shape or (), strict=True)
        )
        return found, {each: length for each, length in pairs if not isinstance(each, int)}

    def _begin(self, possible: Sequence[Outline]) -> tuple[Outline, Chosen] | None:
        """The first outline with lengths of which the rules hold; None without one.

        Where ranks are unknown, rather one with which all that attributes say has a meaning: the size of
        blocks has none for a single scale.
        """
        lengths = FirstLengths(self.node, self._broken, self._numbers(), self.draw.child("begin"))
        best: tuple[Outline, Chosen] | None = None
        least = 0
        for outline in possible:
            begun = lengths.find(outline, len(possible))
            if begun is None:
                continue
            idle = self.checks.idle_rules(outline.shapes(begun)) if len(possible) > 1 else 0
            if best is None or idle < least:
                best, least = (outline, begun), idle
            if not least:
                break
        return best

    def _check_ranks(self) -> None:
        """Raise Uncovered where an input has another number of dimensions than its document says."""
        for place, node_input in enumerate(self.node.inputs):
            rank = declared_rank(self.node, place)
            stated = None if node_input.value is None else node_input.value.shape
            if rank is not None and stated is not None and len(stated) != rank:
                told = f"{node_input.name} is of rank {len(stated)} in the model"
                raise Uncovered("not_valid", f"{told}, and of rank {rank} in its document.")

    def _says_lengths(self) -> bool:
        """Whether the model says extents that others could stand in the place of."""
        shapes = [
            node_input.value.shape or () for node_input in self.node.inputs if node_input.value is not None
        ]
        return any(isinstance(extent, str) or (extent or 0) > 1 for shape in shapes for extent in shape)

    def _broken(self, shapes: Shapes) -> Constraint | None:
        broken = self.checks.broken(shapes)
        self.first = self.first or broken
        return broken

    def _holds(self, outline: Outline, chosen: Chosen) -> bool:
        if self.checks.broken(outline.shapes(chosen)) is not None:
            return False
        return self.relations is None or self.relations.kept(chosen)

    def _related_levels(self, outline: Outline, begun: Chosen) -> tuple[dict[str, Shapes], tuple[str, ...]]:
        """The shapes that keep what the model's extents make of the call; others where these are large."""
        self.relations = Relations(self.node, self.checks, outline, begun)
        related = self._levels(outline, begun)
        if self._is_small(related["small"]):
            return related, ()
        self.relations = None
        others = self._levels(outline, begun)
        if others["small"] == related["small"] or not self._is_small(others["small"]):
            return related, ()
        told = "Only large cases keep how the model's extents stand to what the node says: these do not."
        return others, (told,)

    def _is_small(self, shapes: Shapes) -> bool:
        return max(elements(shapes), size_of_results(self.checks, shapes)) <= MOST_RELATED

    def _levels(self, outline: Outline, begun: Chosen) -> dict[str, Shapes]:
        small = self._lessened(outline, begun, _SMALL)
        found = {"small": outline.shapes(small)}
        other = self._lessened(outline, begun, _OTHERS, _FEW, window_lengths(self.node, outline))
        found["other"] = outline.shapes(other)
        if not outline.is_dynamic() and elements(outline.shapes(begun)) <= MOST_ELEMENTS:
            found["own"] = outline.shapes(begun)
        found["further"] = outline.shapes(self._further(outline, small))
        found["ones"] = outline.shapes(self._ones(outline, small, outline.classes, 1))
        loose = [each for each in outline.classes if each[0] != "is"]
        found["none"] = outline.shapes(self._ones(outline, small, loose[:1], 0))
        distinct: dict[str, Shapes] = {}
        for level in ("small", "own", "other", "further", "ones", "none"):
            if level in found and found[level] not in distinct.values():
                distinct[level] = found[level]
        return distinct

    def _lessened(
        self,
        outline: Outline,
        begun: Chosen,
        lengths: Sequence[int],
        most: int = MOST_ELEMENTS,
        wanted: Mapping[Class, int] = _NOTHING,
    ) -> Chosen:
        """Each class as small as the rules let it, the largest first, different ones different if may be.

        Those that are `wanted` have that length where the rules let them.
        """
        chosen = dict(begun)
        for each, length in wanted.items():
            if self._holds(outline, {**chosen, each: length}):
                chosen[each] = length
        for _ in range(2):
            for each in sorted(outline.classes, key=lambda one: (-begun[one], str(one))):
                if chosen[each] != wanted.get(each):
                    self._lessen(outline, chosen, each, lengths, most)
        return chosen

    def _lessen(
        self, outline: Outline, chosen: Chosen, which: Class, lengths: Sequence[int], most: int
    ) -> None:
        before = chosen[which]
        taken = {length for each, length in chosen.items() if each != which}
        fresh = [length for length in lengths if length not in taken]
        listed = [*fresh, *self._multiples(before), *lengths]
        size = elements(outline.shapes(chosen))
        for length in dict.fromkeys(listed):
            if length == before and size <= most:
                return
            for changed in self._changed(chosen, which, length):
                # A first class may not take what all need together.
                small = elements(outline.shapes(changed)) <= most or length < before
                if small and self._holds(outline, changed):
                    chosen.update(changed)
                    return

    def _changed(self, chosen: Chosen, which: Class, length: int) -> Iterator[Chosen]:
        """A class of another length; then with one more that is a multiple or a part of it, and stays so.

        Then the same of all together that are of one length and of which the model says nothing.
        """
        yield {**chosen, which: length}
        before = chosen[which]
        for other, extent in chosen.items():
            if other != which and (own := _in_step(before, length, extent)) is not None:
                yield {**chosen, which: length, other: own}
        unknown: dict[int, list[Class]] = {}
        for each, extent in chosen.items():
            if each[0] == "at" and each != which:
                unknown.setdefault(extent, []).append(each)
        alike = {which: length, **dict.fromkeys(unknown.pop(before, ()), length)}
        if len(alike) > 1:
            yield {**chosen, **alike}
        for extent, others in unknown.items():
            own = _in_step(before, length, extent)
            if own is not None and len(alike) + len(others) > 2:
                yield {**chosen, **alike, **dict.fromkeys(others, own)}

    def _multiples(self, length: int) -> list[int]:
        """Lengths that attributes and kept values may ask for, and the parts of the one that there is."""
        numbers = [number for number in self._numbers() if 1 < number <= 4096]
        found = {
            times * number for number in numbers for times in (1, 2, 3, number) if times * number <= 4096
        }
        found |= {number + 1 for number in numbers}
        found |= {each for each in range(2, min(length, 4096) + 1) if length % each == 0}
        return sorted(found)[:60]

    def _numbers(self) -> list[int]:
        """How long lists are, and the whole numbers of attributes and kept values."""
        given = self.node.attributes.values()
        lengths = sorted({len(each.value) for each in given if isinstance(each.value, tuple)})
        found: set[int] = set()
        for attribute in given:
            found |= {int(number) for number in attribute.numbers if float(number).is_integer()}
        for one in self.node.inputs:
            if one.kept is not None and one.kept.element_type.is_integer:
                found |= {int(each) for each in one.kept.array.reshape(-1).tolist()}
        return [*lengths, *sorted(found - {*lengths})]

    def _further(self, outline: Outline, small: Chosen) -> Chosen:
        """Each class one longer: what steps over an extent leaves another rest."""
        chosen = dict(small)
        for which in outline.classes:
            lengths = (small[which] + 1, small[which] + 2)
            changes = (changed for length in lengths for changed in self._changed(chosen, which, length))
            chosen = next((changed for changed in changes if self._holds(outline, changed)), chosen)
        return chosen

    def _ones(self, outline: Outline, small: Chosen, classes: Sequence[Class], length: int) -> Chosen:
        """As many of the classes as may be of one length, one after the other."""
        chosen = dict(small)
        for which in classes:
            changed = {**chosen, which: length}
            chosen = changed if self._holds(outline, changed) else chosen
        return chosen


def _in_step(before: int, length: int, extent: int) -> int | None:
    """What an extent becomes that stays as many times, or as large a part of, a length that changes."""
    if before and extent and extent % before == 0:
        return extent // before * length
    if before and extent and before % extent == 0 and length % (before // extent) == 0:
        return length // (before // extent)
    return None


def left_open(rule: Constraint | None) -> Uncovered | None:
    """Why a node has no case where the rule that it breaks says what the document leaves open; else None."""
    if rule is None or rule.shape_of is not None or rule.otherwise == "error" or rule.origin.why is None:
        return None
    return Uncovered("undefined", f"{rule.origin.why} ({rule_told(rule)} leaves them out)")


def rule_told(rule: Constraint) -> str:
    """A rule in words: its id, and what it asks."""
    asked = f"the declared shape of {rule.shape_of}" if rule.shape_of is not None else rule_text(rule)
    return f"the rule {rule.id} ({asked})"
