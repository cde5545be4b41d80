"""Elements that are indices into one axis of a tensor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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
    InputName,
    KindChange,
    Level,
    SingleKind,
    misread_as,
)
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
    """

    of: InputName
    axis: Expression
    distinct: Expression | None = None
    negative: Expression | None = None
    besides: Expression | None = None

    needs_own_shape: ClassVar[bool] = True

    def levels(self) -> tuple[Level, ...]:
        counted: tuple[Level, ...] = ("negative",) if self.says(self.negative, default=True) else ()
        repeated: tuple[Level, ...] = () if self.always(self.distinct) else ("repeated",)
        instead: tuple[Level, ...] = () if self.besides is None else ("besides",)
        return ("inside", "ends", *repeated, *counted, *instead)

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[NDArray[np.int64]]:
        shape, extent = scope.shape(self.name), self._extent(scope)
        count = prod(int(each) for each in shape)
        apart = self.distinct is not None and bool(scope.value(self.distinct))
        if level == "besides":
            yield from self._beside(shape, count, extent, scope, draw)
            return
        if extent < 1 and count:
            return
        if not apart:
            found = np.array([self._one(level, extent, draw) for _ in range(count)], dtype=np.int64)
            yield found.reshape(shape)
            return
        axis = int(scope.value(self.axis)) % max(len(shape), 1)
        if level == "repeated" or (shape and shape[axis] > extent):
            return
        yield self._apart(level, shape, axis, extent, draw)

    def _one(self, level: Level, extent: int, draw: Draw) -> int:
        if level == "ends":
            counted = [-1, -extent] if self.says(self.negative, default=True) else []
            return draw.choice([0, extent - 1, *counted])
        if level == "negative":
            return draw.integer(-extent, -1)
        return 0 if level == "repeated" else draw.integer(0, extent - 1)

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
        extent = f"shape({self.of})[{self.axis.text}]"
        low = f"-{extent}" if self.says(self.negative, default=True) else "0"
        instead = "" if self.besides is None else f" or each == ({self.besides.text})"
        inside = f"all({low} <= each < {extent}{instead} for each in {self.name})"
        yield self.rule(f"{self.name}_range", inside, self.given)
        if self.distinct is not None:
            yield self.rule(
                f"{self.name}_distinct",
                f"distinct_along(shape({self.name}), values({self.name}), {self.axis.text}, {extent})",
                self.distinct.text,
                otherwise="undefined",
            )

    def shortcuts(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        """As many indices as there are elements, from the first to the last, two between them exchanged."""
        shape, axis = list(scope.shape(self.of)), int(scope.value(self.axis))
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
        extent, shape = self._extent(scope), scope.shape(self.name)
        given = np.asarray(scope.find(self.name))
        if not given.size:
            return
        lowest = -extent - 1 if self.says(self.negative, default=True) else -1
        for value in (extent, lowest, 2**31 - 1):
            if value == self._instead(scope):
                continue
            wrong = given.copy()
            wrong.reshape(-1)[-1] = value
            yield f"{self.name}_range", {self.name: wrong}
        if self.distinct is not None and scope.value(self.distinct) and shape:
            axis = int(scope.value(self.axis)) % len(shape)
            if shape[axis] > 1:
                yield f"{self.name}_distinct", {self.name: np.zeros_like(given)}

    def changes(self) -> Iterable[KindChange]:
        return misread_as(self.name, *INDICES_MISREAD)

    def _extent(self, scope: Partial) -> int:
        shape, axis = scope.shape(self.of), int(scope.value(self.axis))
        if not -len(shape) <= axis < len(shape):
            raise EvaluationError("an index into an axis that the input does not have", got=str(axis))
        return int(shape[axis])
