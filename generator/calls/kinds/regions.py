"""Regions of images, each by two corners."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import CallValues, InputName, KindChange, Level, ValueChange
from generator.calls.variables.single_kind import SingleKind
from specs.language.expressions import Expression
from specs.model.spec import Constraint

_GREATEST = "3.4028234663852886e+38"
_MISREAD: tuple[tuple[str, str, Callable[[NDArray[Any]], NDArray[Any]]], ...] = (
    ("exchanged", "x and y of the regions exchanged", lambda rows: rows[:, [1, 0, 3, 2]]),
    (
        "as extents",
        "the second corners of the regions taken for widths and heights",
        lambda rows: np.concatenate([rows[:, :2], rows[:, :2] + rows[:, 2:]], axis=1),
    ),
    ("rounded", "the corners of the regions rounded to whole numbers", lambda rows: np.rint(rows)),
)


@dataclass(frozen=True)
class Regions(SingleKind):
    """Rows of x1, y1, x2, y2 in an input's last two axes, times `scale`; where `filled`, of some extent."""

    of: InputName
    scale: Expression
    filled: Expression

    needs_own_shape: ClassVar[bool] = True

    def levels(self) -> tuple[Level, ...]:
        return ("quarters", "whole", "decimals", "small", "beyond", "far")

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[NDArray[np.float64]]:
        height, width = scope.shape(self.of)[-2:]
        scale = float(scope.value(self.scale))
        if min(height, width) < 3 or scale <= 0:
            return
        rows = []
        for _ in range(scope.shape(self.name)[0]):
            pairs = [_ends(str(level), extent, draw) for extent in (width, height)]
            rows.append([pairs[0][0], pairs[1][0], pairs[0][1], pairs[1][1]])
        yield np.array(rows, dtype=np.float64).reshape(scope.shape(self.name)) / scale

    def rules(self) -> Iterable[Constraint]:
        name = self.name
        finite = f"all(-{_GREATEST} <= each <= {_GREATEST} for each in values({name}))"
        yield self.rule(f"{name}_finite", finite, self.given)
        pairs = (
            f"zip(values({name})[0::4] + values({name})[1::4], values({name})[2::4] + values({name})[3::4])"
        )
        yield self.rule(f"{name}_ordered", f"all(first <= second for first, second in {pairs})", self.given)
        extents = f"all(first != second for first, second in {pairs})"
        yield self.rule(f"{name}_filled", extents, self.filled.text)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        given = np.array(scope.find(self.name), dtype=np.float64)
        if not given.size:
            return
        for value in (float("nan"), float("inf")):
            wrong = given.copy()
            wrong.reshape(-1)[2] = value
            yield f"{self.name}_finite", {self.name: wrong}
        yield f"{self.name}_ordered", {self.name: given[:, [2, 1, 0, 3]] + np.array([1.0, 0, 0, 0])}
        yield f"{self.name}_filled", {self.name: given[:, [0, 1, 0, 1]]}

    def changes(self) -> Iterable[KindChange]:
        for word, text, change in _MISREAD:
            yield ValueChange(f"{self.name} {word}", text, self._changed_by(change))

    def _changed_by(self, change: Callable[[NDArray[Any]], NDArray[Any]]) -> Callable[[CallValues], Bindings]:
        def changed(given: CallValues) -> Bindings:
            rows = given.numbers(self.name)
            if rows.dtype.kind != "f" or rows.ndim != 2:
                raise ValueError("no rows of numbers")
            return {self.name: change(rows)}

        return changed


def _ends(level: str, extent: int, draw: Draw) -> tuple[float, float]:
    """Where a region begins and ends along one axis, in elements."""
    last = max(extent - 1, 1)
    if level == "whole":
        return 0.0, float(last)
    if level == "small":
        first = draw.integer(2, 4 * last - 4) / 4
        return first, first + draw.integer(1, 3) / 4
    if level == "beyond":
        return draw.integer(-8, 2 * last) / 4, last + draw.integer(1, 12) / 4
    if level == "far":
        return extent + 1.5, extent + 1.5 + draw.integer(1, 8) / 2
    parts = 10 if level == "decimals" else 4
    first = draw.integer(-(-parts // 2), parts * (last - 1)) / parts
    return first, draw.integer(round(parts * first) + parts, parts * last) / parts
