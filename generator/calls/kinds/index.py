"""Elements that are indices: into one axis of a tensor, rows of them into several, or classes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import (
    INDICES_MISREAD,
    InputName,
    KindChange,
    Level,
    SingleKind,
    misread_as,
)
from generator.calls.variables.kind_checks import need_word
from specs.language.evaluation import EvaluationError
from specs.language.expressions import Expression
from specs.model.spec import Constraint

_RANGE = 5


@dataclass(frozen=True)
class Index(SingleKind):
    """Indices into an axis of an input, counted from its end where they are negative.

    `distinct` says when those along the same axis of the indices themselves must differ from each other
    (scattering); `negative=False` leaves counting from the end out. An element may be what `besides` says
    instead, where the call gives that.

    With `extents` they are rows, along the last axis, of `length` indices into axes of these extents, the
    first of them; `distinct` says when no two rows may be the same. With a `count` they are classes below
    it, negative ones and ones outside: each has a meaning, so that none is wrong, but negative ones where
    these are left out.
    """

    of: InputName | None = None
    axis: Expression | None = None
    distinct: Expression | None = None
    negative: Expression | None = None
    besides: Expression | None = None
    extents: Expression | None = field(default=None, kw_only=True)
    length: Expression | None = field(default=None, kw_only=True)
    count: Expression | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        needed = {"extents": ("length",), "axis": ("of", "axis")}
        word = "count" if self.count is not None else "axis" if self.extents is None else "extents"
        need_word(self, word, (*needed, "count"), needed)

    needs_own_shape: ClassVar[bool] = True

    @property
    def _may_be_negative(self) -> bool:
        return self.says(self.negative, default=True)

    def levels(self) -> tuple[Level, ...]:
        counted: tuple[Level, ...] = ("negative",) if self._may_be_negative else ()
        repeated: tuple[Level, ...] = () if self.always(self.distinct) else ("repeated",)
        if self.count is not None:
            return ("inside", "ends", *counted, "outside", *repeated)
        if self.extents is not None:
            return ("inside", "ends", *counted, *repeated)
        return ("inside", "ends", *repeated, *counted, *(() if self.besides is None else ("besides",)))

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[NDArray[np.int64]]:
        shape = scope.shape(self.name)
        if self.extents is not None:
            yield from self._rows(level, shape, scope, draw)
            return
        extent, count = self._extent(scope), prod(int(length) for length in shape)
        apart = self.distinct is not None and bool(scope.value(self.distinct))
        if level == "besides":
            yield from self._beside(shape, count, extent, scope, draw)
            return
        if self.count is None and extent < 1 and count:
            return
        if not apart:
            found = np.array([self._one(level, extent, draw) for _ in range(count)], dtype=np.int64)
            yield found.reshape(shape)
            return
        axis = self._axis(scope) % max(len(shape), 1)
        if level == "repeated" or (shape and shape[axis] > extent):
            return
        yield self._apart(level, shape, axis, extent, draw)

    def _one(self, level: Level, extent: int, draw: Draw) -> int:
        if level == "ends":
            ends, counted = [0, max(extent - 1, 0)], [-1, -extent] if self._may_be_negative else []
            return draw.choice([0, *counted, extent - 1] if self.extents is not None else [*ends, *counted])
        if level == "negative":
            return draw.integer(-extent, -1) if extent else -1
        if level == "outside":
            return draw.choice([extent, extent + 1, 0, *([-extent - 1] if self._may_be_negative else [])])
        return draw.integer(0, extent - 1) if extent and level == "inside" else 0

    def _rows(
        self, level: Level, shape: tuple[int, ...], scope: Partial, draw: Draw
    ) -> Iterator[NDArray[np.int64]]:
        """Rows of indices, different from each other where they have to be."""
        extents, length = self._told(scope)
        if not 1 <= length <= len(extents) or min(extents[:length]) < 1 or not shape:
            return
        rows = prod(shape[:-1])
        apart = self.distinct is not None and bool(scope.value(self.distinct))
        if apart and (level == "repeated" or rows > prod(extents[:length])):
            return
        drawn = [tuple(self._one(level, extent, draw) for extent in extents[:length]) for _ in range(rows)]
        if apart:
            drawn = _different_rows(drawn, extents[:length], level, draw)
        yield np.array(drawn, dtype=np.int64).reshape(shape)

    def _beside(
        self, shape: Sequence[int], count: int, extent: int, scope: Partial, draw: Draw
    ) -> Iterator[NDArray[np.int64]]:
        """Indices of which one at least is what stands instead of them."""
        instead = self._instead(scope)
        if instead is None or not count:
            return
        found = [draw.choice([instead, *self._inside(extent, draw)]) for _ in range(count)]
        found[draw.integer(0, count - 1)] = instead
        yield np.array(found, dtype=np.int64).reshape(shape)

    @staticmethod
    def _inside(extent: int, draw: Draw) -> tuple[int, ...]:
        """An index into the axis; none where that has no elements."""
        return (draw.integer(0, extent - 1),) if extent else ()

    def _instead(self, scope: Partial) -> int | None:
        said = None if self.besides is None else scope.value(self.besides)
        return None if said is None else int(said)

    @staticmethod
    def _apart(level: Level, shape: Sequence[int], axis: int, extent: int, draw: Draw) -> NDArray[np.int64]:
        found = np.zeros(tuple(shape), dtype=np.int64)
        lines = np.moveaxis(found, axis, -1) if shape else found
        for place in product(*map(range, lines.shape[:-1])):
            order = draw.shuffled(range(extent))
            if level == "ends":
                order = [*(each for each in order if each in (0, extent - 1)), *order]
                order = list(dict.fromkeys(order))
            line = order[: lines.shape[-1]]
            lines[place] = [each - extent for each in line] if level == "negative" else line
        return found

    def rules(self) -> Iterable[Constraint]:
        name = self.name
        if self.count is not None:
            if not self._may_be_negative:
                yield self.rule(f"{name}_not_negative", f"all(each >= 0 for each in {name})")
            return
        if self.extents is not None and self.length is not None:
            told = f"values({name}), {self.length.text}, {self.extents.text}"
            fits = f"1 <= {self.length.text} <= len({self.extents.text})"
            yield self.rule(f"{name}_length", fits, self.given)
            inside, apart = f"rows_inside({told})", f"rows_differ({told})"
        else:
            assert self.axis is not None
            extent = f"shape({self.of})[{self.axis.text}]"
            low = f"-{extent}" if self._may_be_negative else "0"
            instead = "" if self.besides is None else f" or each == ({self.besides.text})"
            inside = f"all({low} <= each < {extent}{instead} for each in {name})"
            apart = f"distinct_along(shape({name}), values({name}), {self.axis.text}, {extent})"
        yield self.rule(f"{name}_range", inside, self.given)
        if self.distinct is not None:
            yield self.rule(f"{name}_distinct", apart, self.distinct.text, otherwise="undefined")

    def shortcuts(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        """As many indices as there are elements, from the first to the last, two between them exchanged."""
        if self.of is None:
            return
        shape, axis = list(scope.shape(self.of)), self._axis(scope)
        if not -len(shape) <= axis < len(shape):
            return
        shape[axis] = _RANGE
        order = np.array([0, *range(2, _RANGE - 1), 1, _RANGE - 1], dtype=np.int64)
        along = [1] * len(shape)
        along[axis] = _RANGE
        whole = np.broadcast_to(order.reshape(along), shape).copy()
        for found in (order, whole):
            bound = {f"shape:{self.of}": tuple(shape), f"shape:{self.name}": found.shape, self.name: found}
            yield "nearly_a_range", bound

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        name, shape = self.name, scope.shape(self.name)
        if self.count is not None:
            if not self._may_be_negative:
                yield f"{name}_not_negative", {name: np.full(shape, -1, dtype=np.int64)}
            return
        given = np.asarray(scope.find(name))
        extents, length = ([self._extent(scope)], 1) if self.extents is None else self._told(scope)
        if not given.size:
            return
        for value in (extents[0], -extents[0] - 1 if self._may_be_negative else -1, 2**31 - 1):
            if self.besides is None or value != self._instead(scope):
                wrong = given.copy()
                wrong.reshape(-1)[-length] = value
                yield f"{name}_range", {name: wrong}
        if self.distinct is not None and scope.value(self.distinct):
            along = shape[self._axis(scope) % len(shape)] if self.axis is not None and shape else 1
            if along > 1 if self.extents is None else given.size > length:
                yield f"{name}_distinct", {name: np.zeros_like(given)}
        if self.extents is not None:
            long = np.zeros((*given.shape[:-1], len(extents) + 1), dtype=np.int64)
            yield f"{name}_length", {name: long, f"shape:{name}": long.shape}

    def changes(self) -> Iterable[KindChange]:
        if self.count is not None:
            return ()
        turned = ("turned", "the axes of {} in reverse order", lambda rows: rows[..., ::-1])
        return misread_as(self.name, *(() if self.extents is None else (turned,)), *INDICES_MISREAD)

    def _told(self, scope: Partial) -> tuple[list[int], int]:
        """The extents of the axes that rows are of, and how long a row is."""
        assert self.extents is not None
        assert self.length is not None
        return list(scope.value(self.extents)), int(scope.value(self.length))

    def _axis(self, scope: Partial) -> int:
        assert self.axis is not None
        axis = scope.value(self.axis)
        if axis is None:
            raise EvaluationError("an index into an axis that nothing says", got=f"{self.axis.text} left out")
        return int(axis)

    def _extent(self, scope: Partial) -> int:
        if self.count is not None:
            return int(np.asarray(scope.value(self.count)).reshape(-1)[0])
        shape, axis = scope.shape(str(self.of)), self._axis(scope)
        if not -len(shape) <= axis < len(shape):
            raise EvaluationError("an index into an axis that the input does not have", got=str(axis))
        return int(shape[axis])


def _different_rows(
    drawn: list[tuple[int, ...]], extents: list[int], level: Level, draw: Draw
) -> list[tuple[int, ...]]:
    """As many rows that differ from each other, those that were drawn first among them."""
    seen: dict[tuple[int, ...], tuple[int, ...]] = {}
    others = draw.shuffled(list(product(*map(range, extents))))
    shift = extents if level == "negative" else [0] * len(extents)
    for row in (*drawn, *(tuple(a - b for a, b in zip(other, shift, strict=True)) for other in others)):
        plain = tuple(a % b for a, b in zip(row, extents, strict=True))
        seen.setdefault(plain, tuple(int(each) for each in row))
    return list(seen.values())[: len(drawn)]
