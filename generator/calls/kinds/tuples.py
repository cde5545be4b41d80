"""Rows of indices, each of them into an axis of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import (
    INDICES_MISREAD,
    KindChange,
    Level,
    SingleKind,
    misread_as,
)
from specs.language.expressions import Expression
from specs.model.spec import Constraint


@dataclass(frozen=True)
class Tuples(SingleKind):
    """Rows, along the last axis, of `length` indices into axes of these extents, the first of them.

    `distinct` says when no two rows may be the same (scattering without a reduction).
    """

    extents: Expression
    length: Expression
    distinct: Expression | None = None

    needs_own_shape: ClassVar[bool] = True

    def levels(self) -> tuple[Level, ...]:
        repeated: tuple[Level, ...] = () if self.always(self.distinct) else ("repeated",)
        return ("inside", "ends", "negative", *repeated)

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[NDArray[np.int64]]:
        extents, length = self._told(scope)
        shape = scope.shape(self.name)
        if not 1 <= length <= len(extents) or min(extents[:length]) < 1 or not shape:
            return
        rows = prod(shape[:-1])
        apart = self.distinct is not None and bool(scope.value(self.distinct))
        if apart and (level == "repeated" or rows > prod(extents[:length])):
            return
        drawn = [tuple(self._one(level, each, draw) for each in extents[:length]) for _ in range(rows)]
        if apart:
            drawn = self._apart(drawn, extents[:length], level, draw)
        yield np.array(drawn, dtype=np.int64).reshape(shape)

    @staticmethod
    def _one(level: Level, extent: int, draw: Draw) -> int:
        if level == "ends":
            return draw.choice((0, -1, -extent, extent - 1))
        if level == "negative":
            return draw.integer(-extent, -1)
        return 0 if level == "repeated" else draw.integer(0, extent - 1)

    @staticmethod
    def _apart(
        drawn: list[tuple[int, ...]], extents: list[int], level: Level, draw: Draw
    ) -> list[tuple[int, ...]]:
        """As many rows that differ from each other, those that were drawn first among them."""
        seen: dict[tuple[int, ...], tuple[int, ...]] = {}
        others = draw.shuffled(list(product(*map(range, extents))))
        shift = extents if level == "negative" else [0] * len(extents)
        for row in (*drawn, *(tuple(a - b for a, b in zip(each, shift, strict=True)) for each in others)):
            plain = tuple(a % b for a, b in zip(row, extents, strict=True))
            seen.setdefault(plain, tuple(int(each) for each in row))
        return list(seen.values())[: len(drawn)]

    def rules(self) -> Iterable[Constraint]:
        name, extents = self.name, self.extents.text
        yield self.rule(f"{name}_length", f"1 <= {self.length.text} <= len({extents})", self.given)
        inside = f"rows_inside(values({name}), {self.length.text}, {extents})"
        yield self.rule(f"{name}_range", inside, self.given)
        if self.distinct is not None:
            apart = f"rows_differ(values({name}), {self.length.text}, {extents})"
            yield self.rule(f"{name}_distinct", apart, self.distinct.text, otherwise="undefined")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        extents, length = self._told(scope)
        given = np.asarray(scope.find(self.name))
        if not given.size:
            return
        for value in (extents[0], -extents[0] - 1, 2**31 - 1):
            wrong = given.copy()
            wrong.reshape(-1, length)[-1, 0] = value
            yield f"{self.name}_range", {self.name: wrong}
        if self.distinct is not None and scope.value(self.distinct) and given.size > length:
            yield f"{self.name}_distinct", {self.name: np.zeros_like(given)}
        long = np.zeros((*given.shape[:-1], len(extents) + 1), dtype=np.int64)
        yield f"{self.name}_length", {self.name: long, f"shape:{self.name}": long.shape}

    def changes(self) -> Iterable[KindChange]:
        turned = ("turned", "the axes of {} in reverse order", lambda rows: rows[..., ::-1])
        return misread_as(self.name, turned, *INDICES_MISREAD)

    def _told(self, scope: Partial) -> tuple[list[int], int]:
        return list(scope.value(self.extents)), int(scope.value(self.length))
