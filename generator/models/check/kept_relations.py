"""What the extents that a model states make of a call beyond its rules, and what other extents have to keep.

Split of 512 into four parts makes equal ones, and of 3 does not; a Slice that ends at 256 cuts 512, and takes
11 whole; a group of 16 channels is none of one. The rules allow all of them: the call is another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod

from generator.calls.kinds.new_extents import NewExtents
from generator.calls.kinds.resizing import Resizing
from generator.calls.kinds.slices import Slices
from generator.models.check.extent_classes import Chosen, Class, Outline, own_length
from generator.models.check.node_calls import NodeCall
from generator.models.check.shape_checks import UNKNOWN_EXTENT, ShapeChecks, Shapes
from specs.model.domain import ResultShape

_AXIS_BY_AXIS = (Slices, NewExtents, Resizing)
"""Kinds of operators each of whose axes stays that axis, and becomes shorter, longer or neither."""
_OPEN = (0, 1)
_MORE = (1, 2, 3)
_NAMES_OF_AXES = frozenset({"axis", "axes", "batch_axis", "time_axis"})
Facts = Mapping[tuple[str, str, int], object]


@dataclass(eq=False)
class Relations:
    """What `begun`, the lengths of a model's call, make of it: `kept` says whether others do so as well.

    What hangs on an extent that the model leaves open is no part of it.
    """

    node: NodeCall
    checks: ShapeChecks
    outline: Outline
    begun: Chosen
    facts: Facts = field(init=False)
    several: tuple[tuple[Class, int], ...] = field(init=False)
    """Classes of a whole number of parts of a certain length each, where that number is more than one."""

    def __post_init__(self) -> None:
        stated = [each for each in self.outline.classes if own_length(each) is not None]
        self.facts = self._stated_facts() if stated else {}
        self.several = tuple(self._several(stated))

    def kept(self, chosen: Chosen) -> bool:
        """Whether a call with these lengths is to the model's as one of the same meaning."""
        if any(chosen[each] <= part for each, part in self.several):
            return False
        if not self.facts:
            return True
        found = self._facts(chosen)
        return all(found.get(key, value) == value for key, value in self.facts.items())

    def _several(self, stated: list[Class]) -> Iterator[tuple[Class, int]]:
        """Those whose length the rules hold to whole parts, of which the model's has two or more."""
        counts = {
            int(each.numbers[0])
            for name, each in self.node.attributes.items()
            if each.kind == "int" and name not in _NAMES_OF_AXES and len(each.numbers) == 1
        }
        for each in stated:
            length = self.begun[each]
            for part in sorted(counts):
                if 1 < part < length and length % part == 0 and self._breaks(each, length + 1):
                    yield each, part

    def _breaks(self, which: Class, length: int) -> bool:
        return self.checks.broken(self.outline.shapes({**self.begun, which: length})) is not None

    def _stated_facts(self) -> Facts:
        found = dict(self._facts(self.begun))
        for which in self.outline.classes:
            if own_length(which) is not None:
                continue
            length = self.begun[which]
            for other in (*_OPEN, *(length + more for more in _MORE), 2 * length):
                chosen = {**self.begun, which: other}
                if not found or self.checks.broken(self.outline.shapes(chosen)) is not None:
                    continue
                varied = self._facts(chosen)
                found = {key: each for key, each in found.items() if varied.get(key, each) == each}
        return found

    def _facts(self, chosen: Chosen) -> Facts:
        shapes = self.outline.shapes(chosen)
        results = self.checks.results(shapes)
        found: dict[tuple[str, str, int], object] = {}
        names = self.checks.output_names
        by_output: dict[str, list[tuple[int, ...]]] = {}
        for name, result in zip(names, results, strict=True):
            extents = _exact(result)
            if extents is None:
                continue
            if not any(0 in (each or ()) for each in shapes):
                found["empty", name, 0] = prod(extents) == 0
            if shapes and shapes[0] is not None and len(shapes[0]) == len(extents) and self._axis_by_axis:
                for axis, (before, after) in enumerate(zip(shapes[0], extents, strict=True)):
                    found["length", name, axis] = (after > before) - (after < before)
            by_output.setdefault(name.rpartition("_")[0] or name, []).append(extents)
        if any(each.option == "variadic" for each in self.node.spec.outputs):
            found |= dict(_parts(by_output))
        return found

    @property
    def _axis_by_axis(self) -> bool:
        return any(isinstance(each, _AXIS_BY_AXIS) for each in self.node.space.kinds)


def _parts(by_output: Mapping[str, list[tuple[int, ...]]]) -> Iterator[tuple[tuple[str, str, int], object]]:
    """Which parts of a variadic output are of one length, axis by axis."""
    for name, shapes in by_output.items():
        if len(shapes) > 1 and len({len(each) for each in shapes}) == 1:
            for axis, lengths in enumerate(zip(*shapes, strict=True)):
                yield ("alike", name, axis), tuple(lengths.index(each) for each in lengths)


def _exact(result: ResultShape | None) -> tuple[int, ...] | None:
    """The extents of an output that hang on no values; None where some do."""
    if result is None or any(least != most or most >= UNKNOWN_EXTENT for least, most in result.extents):
        return None
    return tuple(most for _, most in result.extents)


def size_of_results(checks: ShapeChecks, shapes: Shapes) -> int:
    """The elements of all outputs that the shapes tell."""
    found = [_exact(each) for each in checks.results(shapes)]
    return sum(prod(each) for each in found if each is not None)
