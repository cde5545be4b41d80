"""Where a tensor is cut along axes: slices of it, parts that are an output each, a sequence of parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import (
    CallValues,
    InputName,
    Kind,
    KindChange,
    Level,
    ResultChange,
    SingleKind,
    ValueChange,
)
from generator.calls.variables.placements import FAR, everything_sliced
from specs.language.expressions import Expression
from specs.model.spec import Constraint


@dataclass(frozen=True)
class Cuts(Kind):
    """What comes out: `slices` of an input, `outputs`, a tensor each, or a `sequence` of tensors."""


_NAMES = ("starts", "ends", "axes", "steps")
_BOUNDS: tuple[Level, ...] = ("inside", "from_end", "clamped", "empty", "far", "mixed")
_STEPS: tuple[Level, ...] = (OMITTED, "one", "some", "beyond", "back", "back_some")


@dataclass(frozen=True)
class _Slices(Cuts):
    """Starts and ends of some axes of an input, with the axes and steps that the version has."""

    of: InputName

    keeps_axes: ClassVar[bool] = True
    covered: ClassVar[tuple[str, ...]] = _NAMES

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        counted: tuple[Level, ...] = ("negative",) if self._may_be_negative else ()
        found: dict[str, tuple[Level, ...]] = {
            "axes": ("partial", OMITTED, "all", "permuted", *counted),
            "bounds": _BOUNDS,
        }
        return found | ({"steps": _STEPS} if "steps" in self.covers else {})

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        shape = scope.shape(self.of)
        chosen = self._axes(levels["axes"], len(shape), draw)
        if chosen is None:
            return
        step_level = levels.get("steps", OMITTED)
        starts, ends, steps = [], [], []
        for place, axis in enumerate(chosen):
            extent = shape[axis]
            step = _step(step_level, extent)
            start, end = _bounds(levels["bounds"], place, extent, step, draw)
            starts.append(start)
            ends.append(end)
            steps.append(step)
        named = [axis - len(shape) for axis in chosen] if levels["axes"] == "negative" else list(chosen)
        found = {
            "starts": starts,
            "ends": ends,
            "axes": None if levels["axes"] == OMITTED else named,
            "steps": None if step_level == OMITTED else steps,
        }
        yield {name: found[name] for name in self.covers}

    @staticmethod
    def _axes(level: Level, rank: int, draw: Draw) -> Sequence[int] | None:
        """The axes in the order in which they are named; None where the level has none."""
        plain = list(range(rank))
        if not rank:
            return None
        if level in ("all", OMITTED):
            return plain
        if rank < 2:
            return plain if level == "negative" else None
        if level == "permuted":
            return [*plain[1:], 0]
        count = draw.integer(1, rank - 1)
        return sorted(draw.shuffled(plain)[:count])

    def rules(self) -> Iterable[Constraint]:
        rank = f"rank({self.of})"
        yield self.rule("bounds_lengths", "len(starts) == len(ends)", about="ends")
        for name in ("axes", "steps"):
            if name in self.covers:
                yield self.rule(
                    f"{name}_length", f"len({name}) == len(starts)", f"present({name})", about=name
                )
        low = f"-{rank}" if self._may_be_negative else "0"
        yield self.rule(
            "axes_range", f"all({low} <= each < {rank} for each in axes)", "present(axes)", about="axes"
        )
        distinct = f"len(set([(each + {rank}) % {rank} for each in axes])) == len(axes)"
        when = f"present(axes) and {rank} > 0"
        yield self.rule("axes_distinct", distinct, when, about="axes", otherwise="undefined")
        fewer = f"len(starts) <= {rank}"
        yield self.rule("no_more_bounds_than_axes", fewer, "not present(axes)", about="starts")
        if "steps" in self.covers:
            moving = "all(each != 0 for each in steps)"
            yield self.rule("steps_not_zero", moving, "present(steps)", about="steps")

    def edges(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        yield from everything_sliced(scope.shape(self.of), "steps" in self.covers)

    def shortcuts(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        """Everything of each axis, one of them backwards."""
        rank = len(scope.shape(self.of))
        if rank and "steps" in self.covers:
            before, axes = rank - 1, list(range(rank))
            yield (
                "everything_backwards_along_one_axis",
                {
                    "starts": [*[0] * before, -1],
                    "ends": [*[FAR] * before, -FAR - 1],
                    "axes": axes,
                    "steps": [*[1] * before, -1],
                },
            )

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        rank = len(scope.shape(self.of))
        plain: dict[str, object] = {"starts": [0], "ends": [1], "axes": [0]}
        plain |= {"steps": None} if "steps" in self.covers else {}
        yield "bounds_lengths", {**plain, "ends": [1, 1]}
        yield "bounds_lengths", {**plain, "ends": []}
        yield "axes_length", {**plain, "axes": [0, 1] if rank > 1 else []}
        for axis in (rank, -rank - 1 if self._may_be_negative else -1, FAR):
            yield "axes_range", {**plain, "axes": [axis]}
        yield "axes_distinct", {**plain, "starts": [0, 0], "ends": [1, 1], "axes": [0, 0]}
        if self._may_be_negative:
            yield "axes_distinct", {**plain, "starts": [0, 0], "ends": [1, 1], "axes": [0, -rank]}
        more = [0] * (rank + 1)
        yield "no_more_bounds_than_axes", {**plain, "starts": more, "ends": [1] * len(more), "axes": None}
        if "steps" in self.covers:
            yield "steps_length", {**plain, "steps": [1, 1]}
            yield "steps_not_zero", {**plain, "steps": [0]}

    def changes(self) -> Iterable[KindChange]:
        def included(given: CallValues) -> Bindings:
            ends = given.numbers("ends").astype(np.int64)
            steps = given.numbers("steps") if given.has("steps") else np.ones_like(ends)
            further = ends + np.sign(steps)
            # One beyond the last, counted from the end, is the first; one before the first is the last.
            further = np.where((steps > 0) & (ends == -1), FAR, further)
            further = np.where((steps < 0) & (ends == 0), -FAR, further)
            return {"ends": np.where(np.abs(ends) >= FAR, ends, further)}

        def lengths(given: CallValues) -> Bindings:
            return {"ends": given.numbers("starts") + given.numbers("ends")}

        def forwards(given: CallValues) -> Bindings:
            return {"steps": np.abs(given.numbers("steps"))}

        yield ValueChange("ends included", "the ends included", included)
        yield ValueChange("ends as lengths", "the ends read as lengths", lengths)
        if "steps" in self.covers:
            yield ValueChange("steps forwards", "negative steps without their signs", forwards)

    @property
    def _may_be_negative(self) -> bool:
        return self.subject.spec.operator.since_version >= 10


def _step(level: Level, extent: int) -> int:
    return {"some": 2, "beyond": extent + 1, "back": -1, "back_some": -2}.get(str(level), 1)


def _bounds(level: Level, place: int, extent: int, step: int, draw: Draw) -> tuple[int, int]:
    """A start and an end of one axis that show the level, for a step forwards or backwards."""
    if level == "mixed":
        level = ("inside", "clamped", "from_end")[place % 3]
    low = draw.integer(0, max(extent - 2, 0))
    high = draw.integer(low + 1, max(extent, low + 1))
    if level == "empty":
        return (high, low) if step > 0 else (low, high)
    if level in ("clamped", "far"):
        beyond = extent + 3 if level == "clamped" else FAR
        return (-beyond, beyond) if step > 0 else (beyond, -beyond)
    if step < 0:
        # Backwards the end is exclusive too: the one before the first is beyond all from the end.
        start, end = high - 1, (low - 1 if low else -extent - 1)
        return (start, end) if level == "inside" else (start - extent, end if low == 0 else end - extent)
    return (low, high) if level == "inside" else (low - extent, high - extent if high < extent else high)


_COUNT = "num_outputs"
_MOST_PARTS = 4


@dataclass(frozen=True)
class _SplitOutputs(Cuts):
    """Lengths of parts of an input along `axis`; it covers `num_outputs` too, where the version has it.

    `parts` is a name for the number of parts, for other expressions.
    """

    of: InputName
    axis: Expression
    parts: Expression

    @property
    def covers(self) -> tuple[str, ...]:
        return tuple(each for each in (self.name, _COUNT) if self.subject.has(each))

    @property
    def binds(self) -> tuple[str, ...]:
        return (self.parts.text,)

    @property
    def brings(self) -> Mapping[str, str]:
        equal = _COUNT if self._has_count else "outputs"
        return {self.parts.text: f"len({self.name}) if present({self.name}) else {equal}"}

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        remainder: tuple[Level, ...] = ("remainder",) if self._has_count else ()
        return {self.name: ("uneven", "equal", "equal_list", "single", "with_zero", "ones", *remainder)}

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        shape = scope.shape(self.of)
        extent = shape[int(scope.value(self.axis))]
        level = levels[self.name]
        for found in draw.shuffled(list(_parts(level, extent))):
            is_list = level not in ("equal", "remainder")
            values = {
                self.name: list(found) if is_list else None,
                _COUNT: None if is_list else len(found),
            }
            yield {**{name: values[name] for name in self.covers}, self.parts.text: len(found)}

    def rules(self) -> Iterable[Constraint]:
        name, extent = self.name, f"shape({self.of})[{self.axis.text}]"
        given = f"present({name})"
        yield self.rule(f"{name}_not_negative", f"all(each >= 0 for each in {name})", given)
        yield self.rule(f"{name}_total", f"sum({name}) == {extent}", given)
        if self._has_count:
            one = f"present({name}) != present({_COUNT})"
            yield self.rule(f"{name}_or_{_COUNT}", one, about=_COUNT)
            chunk = f"(({extent} + {_COUNT} - 1) // {_COUNT})"
            fits = f"{chunk} * ({_COUNT} - 1) <= {extent}"
            yield self.rule(f"{_COUNT}_fits", fits, f"present({_COUNT}) and {_COUNT} > 0", about=_COUNT)
        else:
            yield self.rule(f"{name}_equal", f"{extent} % outputs == 0", f"not {given}")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        extent = scope.shape(self.of)[int(scope.value(self.axis))]
        parts = int(scope.find(self.parts.text))
        listed = scope.find(self.name)
        if listed is not None:
            wrong = [int(each) for each in listed]
            wrong[-1] += 1
            yield f"{self.name}_total", {self.name: wrong}
            if parts > 1:
                below = [-1, extent + 1, *[0] * (parts - 2)]
                yield f"{self.name}_not_negative", {self.name: below}
            if self._has_count:
                yield f"{self.name}_or_{_COUNT}", {_COUNT: parts}
        elif self._has_count:
            yield f"{self.name}_or_{_COUNT}", {_COUNT: None}
            many = extent + 3
            yield f"{_COUNT}_fits", {_COUNT: many, **_outputs(many), self.parts.text: many}
        else:
            many = extent + 1
            yield f"{self.name}_equal", {**_outputs(many), self.parts.text: many}

    def changes(self) -> Iterable[KindChange]:
        def longer_first(given: CallValues) -> NDArray[Any]:
            if given.has(self.name) or not self._has_count:
                raise ValueError("lengths that are given")
            axis = int(given.numbers(self.axis.text)) if given.has(self.axis.text) else 0
            return np.array_split(given.numbers(self.of), int(given.numbers(_COUNT)), axis=axis)[0]

        if self._has_count:
            text = "a remainder dealt out over the first parts"
            yield ResultChange(f"{self.name} dealt out", text, self.of, longer_first)
        if self.subject.has(self.name):
            text = "the parts in reverse order"
            yield ValueChange(f"{self.name} turned", text, self._turned)

    def _turned(self, given: CallValues) -> Bindings:
        return {self.name: given.numbers(self.name)[::-1]}

    @property
    def _has_count(self) -> bool:
        return self.subject.has(_COUNT)


def _outputs(count: int) -> Bindings:
    """As many outputs as there are parts; what their names are is the drawing's business."""
    return {"output names": [f"outputs_{place}" for place in range(count)], "outputs": count}


def _parts(level: Level, extent: int) -> Iterator[Sequence[int]]:
    """Lists of lengths that show the level."""
    counts = range(2, _MOST_PARTS + 1)
    if level == "single":
        yield [extent]
    elif level == "ones" and 1 < extent <= 2 * _MOST_PARTS:
        yield [1] * extent
    elif level in ("equal", "equal_list"):
        yield from ([extent // count] * count for count in (1, *counts) if extent and extent % count == 0)
    elif level == "with_zero":
        yield from ([0, extent], [extent, 0], [0, extent, 0])
    elif level == "uneven":
        for first in range(1, extent):
            if first != extent - first:
                yield [first, extent - first]
        if extent > 3:
            yield [1, extent - 3, 2] if extent != 4 else [1, 2, 1]
    elif level == "remainder":
        for count in counts:
            chunk = -(-extent // count)
            last = extent - chunk * (count - 1)
            if extent % count and last > 0:
                yield [*[chunk] * (count - 1), last]


@dataclass(frozen=True)
class _SplitSequence(Cuts, SingleKind):
    """A whole number without axes, the length of every part of an input along `axis` but for the last, which
    may be shorter; or a list of all lengths.

    No length is 0: a document that asks for positive ones and for none below 0 says both.
    """

    of: InputName
    axis: Expression

    needs_own_shape: ClassVar[bool] = False

    def levels(self) -> tuple[Level, ...]:
        return ("list", "chunk", "remainder", "longer", "ones", "whole", "one_of_list")

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[Any]:
        extent = self._extent(scope)
        if level == "list" and extent > 1:
            first = draw.integer(1, extent - 1)
            yield [first, extent - first]
        elif level == "ones":
            yield [1] * extent
        elif level == "one_of_list":
            yield [extent]
        elif level == "whole":
            yield extent
        elif level == "longer":
            yield extent + 1
        elif level in ("chunk", "remainder"):
            fits = [each for each in range(1, extent) if (extent % each == 0) == (level == "chunk")]
            yield from draw.shuffled(fits)

    def rules(self) -> Iterable[Constraint]:
        name, extent = self.name, f"shape({self.of})[{self.axis.text}]"
        given = f"present({name})"
        yield self.rule(f"{name}_rank", f"rank({name}) <= 1", given)
        yield self.rule(f"{name}_positive", f"all(each > 0 for each in {name})", given)
        yield self.rule(
            f"{name}_total", f"sum({name}) == {extent}", f"{given} and rank({name}) == 1 and min({name}) > 0"
        )

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        extent = self._extent(scope)
        yield f"{self.name}_rank", {self.name: [[extent]]}
        yield f"{self.name}_total", {self.name: [extent, 1]}
        yield f"{self.name}_positive", {self.name: [extent + 1, -1]}
        yield f"{self.name}_positive", {self.name: -1}

    def _extent(self, scope: Partial) -> int:
        return scope.shape(self.of)[int(scope.value(self.axis))]


Cuts.variants = {"slices": _Slices, "outputs": _SplitOutputs, "sequence": _SplitSequence}
