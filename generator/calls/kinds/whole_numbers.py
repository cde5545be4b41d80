"""A list of whole numbers: extents of an output, counts along axes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import (
    CallValues,
    InputName,
    KindChange,
    Level,
    Misreading,
    ResultChange,
    SingleKind,
    misread_as,
)
from generator.calls.variables.kind_checks import need_word
from generator.calls.variables.vector_lengths import MANY, lengths_around
from specs.language.expressions import Expression
from specs.model.spec import Constraint

_LEVELS: Mapping[str, tuple[Level, ...]] = {
    "extents": ("some", "scalar", "one_axis", "ones", "with_zero", "many_axes", "long"),
    "counts": ("different", "equal", "ones"),
    "repeats": ("some", "ones", "one_axis", "none"),
    "expansion": ("wider", "same", "more_axes", "ones", "fewer_axes", "both_ways", "empty"),
}
_TABLES = ([63, 65], [4, 33, 31])
"""Shapes of some four thousand elements, no extent of which is a multiple of a vector."""


@dataclass(frozen=True)
class WholeNumbers(SingleKind):
    """What they are is `what`: `extents` of any output, the shape that an input is broadcast with
    (`expansion`), `repeats` of each axis of an input, or as many `counts` from 1 as `length` says.

    `drawn` are extents of an output of random numbers, which may be so many that their distribution shows.
    """

    what: Expression
    of: InputName | None = None
    length: Expression | None = field(default=None, kw_only=True)
    drawn: Expression | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        needed = {"repeats": ("of",), "expansion": ("of",), "counts": ("length",)}
        need_word(self, self._what, _LEVELS, needed)

    @property
    def _what(self) -> str:
        return str(self.what.evaluate({}))

    def levels(self) -> tuple[Level, ...]:
        return (*(("many",) if self.says(self.drawn) else ()), *_LEVELS[self._what])

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[list[int]]:
        if level == "many":
            yield from draw.shuffled([*_TABLES, [MANY]])
            return
        shape = list(scope.shape(self.of)) if self.of is not None else []
        found = None
        if self._what == "extents":
            found = _extents(level, draw)
        elif self._what == "counts":
            found = _counts(level, self._count(scope), draw)
        elif self._what == "repeats":
            found = _repeats(level, len(shape), draw)
        else:
            found = _expansion(level, shape, draw)
        if found is not None:
            yield found

    def _count(self, scope: Partial) -> int:
        """How many numbers there are."""
        return len(scope.shape(str(self.of))) if self.length is None else int(scope.value(self.length))

    def rules(self) -> Iterable[Constraint]:
        name, what = self.name, self._what
        if what in ("counts", "repeats"):
            count = f"({self.length.text})" if self.length is not None else f"rank({self.of})"
            yield self.rule(f"{name}_length", f"len({name}) == {count}", self.given)
        if what == "counts":
            yield self.rule(f"{name}_positive", f"all(each > 0 for each in {name})", self.given)
        else:
            yield self.rule(f"{name}_not_negative", f"all(each >= 0 for each in {name})", self.given)
        if what == "expansion":
            yield self.rule(f"{name}_broadcasts", f"broadcasts(shape({self.of}), {name})", self.given)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        for rule, wrong in self._wrong(scope):
            yield f"{self.name}_{rule}", {self.name: wrong}

    def _wrong(self, scope: Partial) -> Iterator[tuple[str, list[int]]]:
        what = self._what
        shape = list(scope.shape(self.of)) if self.of is not None else [2]
        if what in ("counts", "repeats"):
            count, plain = self._count(scope), 2 if what == "counts" else 1
            yield "length", [plain] * (count + 1)
            if count:
                yield "length", [plain] * (count - 1)
            if what == "counts":
                yield from (("positive", [2] * (count - 1) + [value]) for value in (0, -1))
            elif count:
                yield "not_negative", [-1] * count
            return
        for value in (-1, -(2**31)):
            yield "not_negative", [value, *shape] if what == "expansion" else [*shape, value]
        for axis in reversed(range(len(shape))) if what == "expansion" else ():
            if shape[axis] > 1:
                yield "broadcasts", [*shape[:axis], shape[axis] + 1, *shape[axis + 1 :]]

    def edges(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        for length in lengths_around() if self._what == "extents" else ():
            yield f"length_{length}", {self.name: [length]}

    def changes(self) -> Iterable[KindChange]:
        yield from misread_as(self.name, *_MISREAD.get(self._what, ()))
        if self._what == "repeats" and self.of is not None:
            text = "each element repeated in its place, instead of the whole axis"
            yield ResultChange(f"{self.name} each element", text, self.of, self._each_element)
        if self._what == "expansion" and self.of is not None:
            text = "axes that lack added behind the others"
            yield ResultChange(f"{self.name} from the front", text, self.of, self._from_the_front)

    def _each_element(self, given: CallValues) -> NDArray[Any]:
        data, times = given.numbers(str(self.of)), given.numbers(self.name).reshape(-1)
        if len(times) != data.ndim:
            raise ValueError("not a number for each axis")
        for axis, count in enumerate(times):
            data = np.repeat(data, int(count), axis=axis)
        return data

    def _from_the_front(self, given: CallValues) -> NDArray[Any]:
        data, shape = given.numbers(str(self.of)), given.numbers(self.name).reshape(-1).tolist()
        rank = max(data.ndim, len(shape))
        if min(data.ndim, len(shape)) == rank:
            raise ValueError("no axes lack")
        aligned = data.reshape(*data.shape, *[1] * (rank - data.ndim))
        wanted = [*shape, *[1] * (rank - len(shape))]
        return np.broadcast_to(aligned, np.broadcast_shapes(aligned.shape, tuple(wanted)))


def _extents(level: Level, draw: Draw) -> list[int]:
    lists = {
        "scalar": [],
        "one_axis": [draw.integer(2, 7)],
        "ones": [1, 1, 1],
        "with_zero": [draw.integer(1, 3), 0, 2],
        "many_axes": [1, 2, 1, 3, 1, 2],
        "long": [67],
    }
    return lists.get(str(level), draw.shuffled(range(2, 6))[:3])


def _counts(level: Level, length: int, draw: Draw) -> list[int] | None:
    if level == "different":
        return draw.shuffled(range(1, length + 3))[:length] if length > 1 else None
    return [draw.integer(2, 3) if level == "equal" else 1] * length


def _repeats(level: Level, rank: int, draw: Draw) -> list[int] | None:
    if level == "ones":
        return [1] * rank
    if not rank:
        return None
    axis = draw.integer(0, rank - 1)
    if level == "some":
        return [draw.integer(2, 3) if at == axis else draw.integer(1, 3) for at in range(rank)]
    if level == "one_axis":
        return [3 if at == axis else 1 for at in range(rank)] if rank > 1 else None
    return [0 if at == axis else 2 for at in range(rank)]


def _expansion(level: Level, shape: list[int], draw: Draw) -> list[int] | None:
    narrow = [axis for axis, extent in enumerate(shape) if extent == 1]
    wide = [axis for axis, extent in enumerate(shape) if extent > 1]
    wider = [draw.integer(2, 4) if axis in narrow else extent for axis, extent in enumerate(shape)]
    if level == "wider":
        return wider if narrow else None
    if level == "more_axes":
        return [draw.integer(2, 3), *wider]
    if level == "ones":
        return [1] * len(shape) if wide else None
    if level == "fewer_axes":
        return wider[draw.integer(1, len(shape) - 1) :] if len(shape) > 1 else None
    if level == "both_ways":
        both = bool(narrow) and bool(wide)
        return [1 if axis in wide else extent for axis, extent in enumerate(wider)] if both else None
    return shape if level == "same" else []


_MISREAD: Mapping[str, tuple[Misreading, ...]] = {
    "extents": (
        ("without ones", "extents of 1 left out", lambda sizes: sizes[sizes != 1]),
        ("at least 1", "extents of 0 taken for 1", lambda sizes: np.maximum(sizes, 1)),
        ("one element", "a scalar taken for one element", lambda sizes: sizes if sizes.size else [1]),
    ),
    "counts": (("first", "the first number of {} for all", lambda counts: np.full_like(counts, counts[0])),),
}
