"""Finite numbers that say where elements are taken: offsets, locations in an image, corners of regions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import (
    GREATEST,
    CallValues,
    InputName,
    KindChange,
    Level,
    Misreading,
    SingleKind,
    ValueChange,
)
from generator.calls.variables.kind_checks import need_word
from specs.language.expressions import Expression
from specs.model.spec import Constraint

_LEVELS: Mapping[str, tuple[Level, ...]] = {
    "offsets": ("quarters", "none", "whole", "decimals", "far"),
    "locations": ("quarters", "halves", "borders", "outside", "decimals", "far"),
    "regions": ("quarters", "whole", "decimals", "small", "beyond", "far"),
    "pooled": ("inside", "whole", "point", "repeated"),
}
_CORNERS = ("", "x1", "y1", "x2", "y2")
_GREATEST_FLOAT = "3.4028234663852886e+38"


@dataclass(frozen=True)
class CoordinateList(SingleKind):
    """What they are is `what`.

    `offsets` are how far the elements that a kernel takes are from where it would take them; `locations` lie
    along the last axis, the innermost axis of `of` first, where -1 and 1 are the middles of the elements at
    the corners where `aligned` holds, else their outer ends; `regions` are rows of x1, y1, x2, y2 in the last
    two axes of `of`, times `scale`, and where `filled` holds of some extent. Regions that are `pooled` have
    the place of an image in the batch before these; what one is that ends outside, or before it begins, no
    document says.
    """

    what: Expression
    of: InputName | None = None
    aligned: Expression | None = field(default=None, kw_only=True)
    scale: Expression | None = field(default=None, kw_only=True)
    filled: Expression | None = field(default=None, kw_only=True)

    needs_own_shape: ClassVar[bool] = True

    def __post_init__(self) -> None:
        needed = {
            "locations": ("of", "aligned"),
            "regions": ("of", "scale", "filled"),
            "pooled": ("of", "scale"),
        }
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
        elif self._what == "pooled":
            yield from self._pooled(level, shape, scope, draw)
        elif self.scale is not None:
            height, width = scope.shape(str(self.of))[-2:]
            scale = self._scale(scope)
            if min(height, width) < 3 or scale <= 0:
                return
            rows = []
            for _ in range(shape[0]):
                pairs = [_ends(str(level), extent, draw) for extent in (width, height)]
                rows.append([pairs[0][0], pairs[1][0], pairs[0][1], pairs[1][1]])
            yield np.array(rows, dtype=np.float64).reshape(shape) / scale

    def _pooled(
        self, level: Level, shape: tuple[int, ...], scope: Partial, draw: Draw
    ) -> Iterator[NDArray[np.float64]]:
        batch, height, width = (scope.shape(str(self.of))[axis] for axis in (0, 2, 3))
        scale = self._scale(scope)
        if min(batch, height, width) < 1 or scale <= 0:
            return
        rows = []
        for _ in range(shape[0]):
            left, top = draw.integer(0, width - 1), draw.integer(0, height - 1)
            right, bottom = draw.integer(left, width - 1), draw.integer(top, height - 1)
            box = {
                "whole": (0, 0, width - 1, height - 1),
                "point": (left, top, left, top),
                "repeated": (0, 0, width // 2, height // 2),
            }.get(str(level), (left, top, right, bottom))
            index = 0 if level == "repeated" else draw.integer(0, batch - 1)
            rows.append([index, *(corner / scale for corner in box)])
        yield np.array(rows, dtype=np.float64).reshape(shape)

    def _scale(self, scope: Partial) -> float:
        assert self.scale is not None, "it is needed with regions"
        return float(scope.value(self.scale))

    def rules(self) -> Iterable[Constraint]:
        return self._rules_of_pooled() if self._what == "pooled" else self._rules_of_places()

    def _rules_of_pooled(self) -> Iterable[Constraint]:
        name = self.name
        assert self.scale is not None
        inside = f"each == int(each) and 0 <= each < shape({self.of})[0]"
        yield self.rule(f"{name}_batch", f"all({inside} for each in values({name})[::5])", self.given)
        height, width = (f"shape({self.of})[{axis}]" for axis in (2, 3))
        scaled = f"each * {self.scale.text}"
        bounds = (f"0 <= {scaled}",) * 2 + tuple(f"{scaled} < {each} - 0.5" for each in (width, height))
        for place, bound in enumerate(bounds, 1):
            within = f"all({bound} for each in values({name})[{place}::5])"
            yield self.rule(f"{name}_inside_{_CORNERS[place]}", within, self.given, otherwise="undefined")
        for place in (1, 2):
            first, second = (f"values({name})[5 * each + {one}]" for one in (place, place + 2))
            ordered = f"all({first} <= {second} for each in range(shape({name})[0]))"
            yield self.rule(f"{name}_order_{_CORNERS[place]}", ordered, self.given, otherwise="undefined")

    def _rules_of_places(self) -> Iterable[Constraint]:
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
        found = self._wrong_pooled(given, scope) if self._what == "pooled" else self._wrong_places(given)
        for rule, wrong in found:
            yield f"{self.name}_{rule}", {self.name: wrong}

    def _wrong_pooled(
        self, given: NDArray[np.float64], scope: Partial
    ) -> Iterator[tuple[str, NDArray[np.float64]]]:
        for value in (float(scope.shape(str(self.of))[0]), -1.0, 0.5):
            yield "batch", _with(given, slice(1), value)
        scale, extents = self._scale(scope), scope.shape(str(self.of))[:1:-1]
        if not given.size or scale <= 0:
            return
        for place, outside in ((1, -1), (2, -2), (3, extents[0]), (4, extents[1] + 2)):
            yield f"inside_{_CORNERS[place]}", _with(given, place, outside / scale)
        for place in (1, 2):
            yield f"order_{_CORNERS[place]}", _with(given, [place, place + 2], np.array([1, 0]) / scale)

    def _wrong_places(self, given: NDArray[np.float64]) -> Iterator[tuple[str, NDArray[np.float64]]]:
        if self.filled is not None and not given.size:
            return
        place, values = (0, (np.nan, np.inf, -np.inf)) if self.filled is None else (2, (np.nan, np.inf))
        for value in values:
            yield "finite", _with(given, slice(place, place + 1), value)
        if self.filled is not None:
            yield "ordered", given[:, [2, 1, 0, 3]] + np.array([1.0, 0, 0, 0])
            yield "filled", given[:, [0, 1, 0, 1]]

    def changes(self) -> Iterable[KindChange]:
        for word, text, change in _MISREAD[self._what]:
            yield ValueChange(f"{self.name} {word}", text, self._changed_by(change))
        if self._what == "pooled":
            text = "the second corners of the regions left out"
            yield ValueChange(f"{self.name} without ends", text, self._without_ends)

    def _without_ends(self, given: CallValues) -> Bindings:
        assert self.scale is not None
        ends = np.array([0, 0, 0, 1, 1]) / float(given.numbers(self.scale.text))
        return self._changed_by(lambda rows: rows - ends)(given)

    def _changed_by(self, change: Callable[[NDArray[Any]], Any]) -> Callable[[CallValues], Bindings]:
        def changed(given: CallValues) -> Bindings:
            numbers = given.numbers(self.name)
            if numbers.dtype.kind != "f" or (self.scale is not None and numbers.ndim != 2):
                raise ValueError("no numbers that numpy has, or no rows of them")
            return {self.name: change(numbers)}

        return changed


def _with(given: NDArray[np.float64], place: Any, value: Any) -> NDArray[np.float64]:
    """The numbers with others at some of their places."""
    wrong = given.copy()
    wrong.reshape(-1)[place] = value
    return wrong


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
    """The second corner of each row, which ends it, counted from the first one."""
    return np.concatenate([rows[:, :-2], rows[:, -4:-2] + rows[:, -2:]], axis=1)


def _first_image(rows: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([np.zeros_like(rows[:, :1]), rows[:, 1:]], axis=1)


_EXTENTS: Misreading = (
    "as extents",
    "the second corners of the regions taken for widths and heights",
    _as_extents,
)

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
        _EXTENTS,
        ("rounded", "the corners of the regions rounded to whole numbers", np.rint),
    ),
    "pooled": (
        ("of the first image", "every region taken of the first image", _first_image),
        ("exchanged", "x and y of the regions exchanged", lambda rows: rows[:, [0, 2, 1, 4, 3]]),
        _EXTENTS,
    ),
}
