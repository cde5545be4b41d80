"""Parts of a tensor along some axes: starts, ends, axes and steps, as attributes or as inputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import CallValues, InputName, Kind, KindChange, Level, ValueChange
from generator.calls.variables.placements import FAR, everything_sliced
from specs.model.spec import Constraint

_NAMES = ("starts", "ends", "axes", "steps")
_BOUNDS: tuple[Level, ...] = ("inside", "from_end", "clamped", "empty", "far", "mixed")
_STEPS: tuple[Level, ...] = (OMITTED, "one", "some", "beyond", "back", "back_some")


@dataclass(frozen=True)
class Slices(Kind):
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
