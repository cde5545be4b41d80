"""Finite numbers that say where elements are taken: offsets, locations in an image, corners of regions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
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
    ValueChange,
)
from generator.calls.variables.kind_checks import need_word
from generator.calls.variables.single_kind import GREATEST, SingleKind
from specs.language.expressions import Expression
from specs.model.spec import Constraint

_LEVELS: Mapping[str, tuple[Level, ...]] = {
    "offsets": ("quarters", "none", "whole", "decimals", "far"),
    "locations": ("quarters", "halves", "borders", "outside", "decimals", "far"),
    "regions": ("quarters", "whole", "decimals", "small", "beyond", "far"),
}
_GREATEST_FLOAT = "3.4028234663852886e+38"


@dataclass(frozen=True)
class CoordinateList(SingleKind):
    """What they are is `what`.

    `offsets` are how far the elements that a kernel takes are from where it would take them; `locations` lie
    along the last axis, the innermost axis of `of` first, where -1 and 1 are the middles of the elements at
    the corners where `aligned` holds, else their outer ends; `regions` are rows of x1, y1, x2, y2 in the last
    two axes of `of`, times `scale`, and where `filled` holds of some extent.
    """

    what: Expression
    of: InputName | None = None
    aligned: Expression | None = field(default=None, kw_only=True)
    scale: Expression | None = field(default=None, kw_only=True)
    filled: Expression | None = field(default=None, kw_only=True)

    @property
    def needs_own_shape(self) -> bool:
        return True

    def __post_init__(self) -> None:
        needed = {"locations": ("of", "aligned"), "regions": ("of", "scale", "filled")}
        need_word(self, self._what, _LEVELS, needed)

    @property
    def _what(self) -> str:
        return str(self.what.evaluate({}))

    def levels(self) -> tuple[Level, ...]:
        return _LEVELS[self._what]

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[NDArray[np.float64]]:
        shape = scope.shape(self.name)
        if self._what == "offsets":
            yield _offsets(level, shape, draw)
        elif self._what == "locations" and self.aligned is not None:
            aligned = bool(scope.value(self.aligned))
            yield _locations(str(level), shape, scope.shape(str(self.of))[:1:-1], aligned, draw)
        elif self.scale is not None:
            height, width = scope.shape(str(self.of))[-2:]
            scale = float(scope.value(self.scale))
            if min(height, width) < 3 or scale <= 0:
                return
            rows = []
            for _ in range(shape[0]):
                pairs = [_ends(str(level), extent, draw) for extent in (width, height)]
                rows.append([pairs[0][0], pairs[1][0], pairs[0][1], pairs[1][1]])
            yield np.array(rows, dtype=np.float64).reshape(shape) / scale

    def rules(self) -> Iterable[Constraint]:
        name = self.name
        most = _GREATEST_FLOAT if self._what == "regions" else GREATEST
        finite = f"all(-{most} <= each <= {most} for each in values({name}))"
        yield self.rule(f"{name}_finite", finite, self.given)
        if self.filled is not None:
            firsts = f"values({name})[0::4] + values({name})[1::4]"
            pairs = f"zip({firsts}, values({name})[2::4] + values({name})[3::4])"
            ordered = f"all(first <= second for first, second in {pairs})"
            yield self.rule(f"{name}_ordered", ordered, self.given)
            extents = f"all(first != second for first, second in {pairs})"
            yield self.rule(f"{name}_filled", extents, self.filled.text)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        given = np.array(scope.find(self.name), dtype=np.float64)
        if self.filled is not None and not given.size:
            return
        place, values = (0, (np.nan, np.inf, -np.inf)) if self.filled is None else (2, (np.nan, np.inf))
        for value in values:
            wrong = given.copy()
            wrong.reshape(-1)[place : place + 1] = value
            yield f"{self.name}_finite", {self.name: wrong}
        if self.filled is not None:
            yield f"{self.name}_ordered", {self.name: given[:, [2, 1, 0, 3]] + np.array([1.0, 0, 0, 0])}
            yield f"{self.name}_filled", {self.name: given[:, [0, 1, 0, 1]]}

    def changes(self) -> Iterable[KindChange]:
        for word, text, change in _MISREAD[self._what]:
            yield ValueChange(f"{self.name} {word}", text, self._changed_by(change))

    def _changed_by(self, change: Callable[[NDArray[Any]], Any]) -> Callable[[CallValues], Bindings]:
        def changed(given: CallValues) -> Bindings:
            numbers = given.numbers(self.name)
            if numbers.dtype.kind != "f" or (self.filled is not None and numbers.ndim != 2):
                raise ValueError("no numbers that numpy has, or no rows of them")
            return {self.name: change(numbers)}

        return changed


def _offsets(level: Level, shape: tuple[int, ...], draw: Draw) -> NDArray[np.float64]:
    """Few elements far, with quarters as a rule."""
    drawn = draw.integers(-6, 6, shape)
    steps = {"none": drawn * 0.0, "whole": (drawn % 3) - 1.0, "decimals": drawn / 10, "far": drawn * 1e3}
    return np.asarray(steps.get(str(level), drawn / 4), dtype=np.float64)


def _locations(
    level: str, shape: tuple[int, ...], extents: tuple[int, ...], aligned: bool, draw: Draw
) -> NDArray[np.float64]:
    grid = np.zeros(shape)
    for index in np.ndindex(shape):
        # Of an axis that the image does not have, or that is empty, any number is a location.
        extent = max((1, *extents[index[-1] : index[-1] + 1])) if index else 1
        grid[index] = _location(level, extent, aligned, draw)
    return grid


def _location(level: str, extent: int, aligned: bool, draw: Draw) -> float:
    """One number of a location: as the level says where in elements, or which number itself."""
    if level == "decimals":
        return draw.integer(-10, 10) / 10
    if level == "far":
        return draw.choice((-1.0, 1.0)) * draw.choice((16.0, 1000.0, 8589934592.0))
    if level == "borders":
        ends = (-1.0, -0.75, -0.5, -0.25, extent - 0.75, extent - 0.5, extent - 0.25, extent + 0.0)
        place = draw.choice(ends)
        return draw.choice((-1.0, 1.0, _normalized(place, extent, aligned)))
    span = extent - 1 if aligned else extent
    if level == "halves":
        # Halves that a float holds, so that which index is the nearest one hangs on no rounding.
        exact = span & (span - 1) == 0
        place = draw.integer(-1, 2 * extent - 1) / 2
        return _normalized(place, extent, aligned) if exact else draw.choice((-1.0, 1.0, 0.0, -0.5, 0.5))
    beyond = 1 + draw.integer(0, 12 * extent) / 4 + 0.125
    inside = draw.integer(0, extent - 1) + draw.choice((0.0, 0.25, -0.25))
    place = (
        draw.choice((-beyond, extent - 1 + beyond))
        if level == "outside"
        else min(max(inside, 0.0), extent - 1.0)
    )
    return _normalized(place, extent, aligned)


def _normalized(place: float, extent: int, aligned: bool) -> float:
    """A place in elements as a number that is between -1 and 1 inside."""
    if not aligned:
        return (2 * place + 1) / extent - 1
    return 2 * place / (extent - 1) - 1 if extent > 1 else place / 2


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


def _axes_exchanged(offsets: NDArray[Any]) -> NDArray[Any]:
    """Of each two that follow each other along the second axis, the other one first."""
    return offsets.reshape(offsets.shape[0], -1, 2, *offsets.shape[2:])[:, :, ::-1].reshape(offsets.shape)


def _as_extents(rows: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([rows[:, :2], rows[:, :2] + rows[:, 2:]], axis=1)


_MISREAD: Mapping[str, tuple[Misreading, ...]] = {
    "offsets": (
        ("exchanged", "offsets along two axes exchanged", _axes_exchanged),
        ("negated", "offsets to the other side", np.negative),
        ("without fractions", "offsets without their fractions", np.trunc),
    ),
    "locations": (
        ("exchanged", "the axes of locations in the other order", lambda grid: grid[..., ::-1]),
        ("negated", "locations mirrored", np.negative),
        ("clipped", "locations brought between -1 and 1", lambda grid: np.clip(grid, -1, 1)),
    ),
    "regions": (
        ("exchanged", "x and y of the regions exchanged", lambda rows: rows[:, [1, 0, 3, 2]]),
        ("as extents", "the second corners of the regions taken for widths and heights", _as_extents),
        ("rounded", "the corners of the regions rounded to whole numbers", np.rint),
    ),
}
