"""Numbers that say where elements are taken: offsets, locations in an image, corners of regions, boxes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import prod
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
from generator.calls.variables.placements import (
    as_centre,
    box_corners,
    boxes_side_by_side,
    locations_at,
    offsets_at,
    region_ends,
)
from specs.language.expressions import Expression
from specs.model.spec import Constraint

_CORNERS = ("", "x1", "y1", "x2", "y2")
_GREATEST_FLOAT = "3.4028234663852886e+38"


@dataclass(frozen=True)
class CoordinateList(SingleKind):
    """Numbers of an input: `offsets`, `locations`, `regions`, regions that are `pooled`, or `boxes`."""

    needs_own_shape: ClassVar[bool] = True
    misread: ClassVar[tuple[Misreading, ...]] = ()
    rows_alone: ClassVar[bool] = False
    """Whether the numbers are misread in rows alone."""

    def changes(self) -> Iterable[KindChange]:
        for word, text, change in self.misread:
            yield ValueChange(f"{self.name} {word}", text, self.changed_by(change))

    def changed_by(self, change: Callable[[NDArray[Any]], Any]) -> Callable[[CallValues], Bindings]:
        def changed(given: CallValues) -> Bindings:
            numbers = given.numbers(self.name)
            if numbers.dtype.kind != "f" or (self.rows_alone and numbers.ndim != 2):
                raise ValueError("no numbers that numpy has, or no rows of them")
            return {self.name: change(numbers)}

        return changed

    def finite(self, most: str = GREATEST) -> Constraint:
        """The rule that none of the numbers is beyond `most`."""
        inside = f"all(-{most} <= each <= {most} for each in values({self.name}))"
        return self.rule(f"{self.name}_finite", inside, self.given)

    def not_finite(self, scope: Partial) -> Iterator[tuple[str, Bindings]]:
        """The numbers of a call with a first one that breaks that rule."""
        given = np.array(scope.find(self.name), dtype=np.float64)
        for value in (np.nan, np.inf, -np.inf):
            yield f"{self.name}_finite", {self.name: _with(given, slice(0, 1), value)}


def _with(given: NDArray[np.float64], place: Any, value: Any) -> NDArray[np.float64]:
    """The numbers with others at some of their places."""
    wrong = given.copy()
    wrong.reshape(-1)[place] = value
    return wrong


def _axes_exchanged(offsets: NDArray[Any]) -> NDArray[Any]:
    """Of each two that follow each other along the second axis, the other one first."""
    return offsets.reshape(offsets.shape[0], -1, 2, *offsets.shape[2:])[:, :, ::-1].reshape(offsets.shape)


@dataclass(frozen=True)
class _Offsets(CoordinateList):
    """How far the elements that a kernel takes are from where it would take them."""

    misread: ClassVar[tuple[Misreading, ...]] = (
        ("exchanged", "offsets along two axes exchanged", _axes_exchanged),
        ("negated", "offsets to the other side", np.negative),
        ("without fractions", "offsets without their fractions", np.trunc),
    )

    def levels(self) -> tuple[Level, ...]:
        return ("quarters", "none", "whole", "decimals", "far")

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[NDArray[np.float64]]:
        yield offsets_at(level, scope.shape(self.name), draw)

    def rules(self) -> Iterable[Constraint]:
        yield self.finite()

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        return self.not_finite(scope)


@dataclass(frozen=True)
class _Locations(CoordinateList):
    """They lie along the last axis, the innermost axis of `of` first.

    -1 and 1 are the middles of the elements at the corners where `aligned` holds, else their outer ends.
    """

    of: InputName
    aligned: Expression

    misread: ClassVar[tuple[Misreading, ...]] = (
        ("exchanged", "the axes of locations in the other order", lambda grid: grid[..., ::-1]),
        ("negated", "locations mirrored", np.negative),
        ("clipped", "locations brought between -1 and 1", lambda grid: np.clip(grid, -1, 1)),
    )

    def levels(self) -> tuple[Level, ...]:
        return ("quarters", "halves", "borders", "outside", "decimals", "far")

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[NDArray[np.float64]]:
        shape, aligned = scope.shape(self.name), bool(scope.value(self.aligned))
        yield locations_at(str(level), shape, scope.shape(self.of)[:1:-1], aligned, draw)

    def rules(self) -> Iterable[Constraint]:
        yield self.finite()

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        return self.not_finite(scope)


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


@dataclass(frozen=True)
class _Regions(CoordinateList):
    """Rows of x1, y1, x2, y2 in the last two axes of `of`, times `scale`; of some extent where `filled`."""

    of: InputName
    scale: Expression
    filled: Expression

    rows_alone: ClassVar[bool] = True
    misread: ClassVar[tuple[Misreading, ...]] = (
        ("exchanged", "x and y of the regions exchanged", lambda rows: rows[:, [1, 0, 3, 2]]),
        _EXTENTS,
        ("rounded", "the corners of the regions rounded to whole numbers", np.rint),
    )

    def levels(self) -> tuple[Level, ...]:
        return ("quarters", "whole", "decimals", "small", "beyond", "far")

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[NDArray[np.float64]]:
        shape, (height, width) = scope.shape(self.name), scope.shape(self.of)[-2:]
        scale = float(scope.value(self.scale))
        if min(height, width) < 3 or scale <= 0:
            return
        rows = []
        for _ in range(shape[0]):
            pairs = [region_ends(str(level), extent, draw) for extent in (width, height)]
            rows.append([pairs[0][0], pairs[1][0], pairs[0][1], pairs[1][1]])
        yield np.array(rows, dtype=np.float64).reshape(shape) / scale

    def rules(self) -> Iterable[Constraint]:
        name = self.name
        yield self.finite(_GREATEST_FLOAT)
        firsts = f"values({name})[0::4] + values({name})[1::4]"
        pairs = f"zip({firsts}, values({name})[2::4] + values({name})[3::4])"
        ordered = f"all(first <= second for first, second in {pairs})"
        yield self.rule(f"{name}_ordered", ordered, self.given)
        extents = f"all(first != second for first, second in {pairs})"
        yield self.rule(f"{name}_filled", extents, self.filled.text)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        name, given = self.name, np.array(scope.find(self.name), dtype=np.float64)
        if given.size:
            for value in (np.nan, np.inf):
                yield f"{name}_finite", {name: _with(given, slice(2, 3), value)}
            yield f"{name}_ordered", {name: given[:, [2, 1, 0, 3]] + np.array([1.0, 0, 0, 0])}
            yield f"{name}_filled", {name: given[:, [0, 1, 0, 1]]}


@dataclass(frozen=True)
class _PooledRegions(CoordinateList):
    """Rows of the place of an image in the batch, then x1, y1, x2, y2 in the image, times `scale`.

    What a region is that ends outside, or before it begins, no document says.
    """

    of: InputName
    scale: Expression

    rows_alone: ClassVar[bool] = True
    misread: ClassVar[tuple[Misreading, ...]] = (
        ("of the first image", "every region taken of the first image", _first_image),
        ("exchanged", "x and y of the regions exchanged", lambda rows: rows[:, [0, 2, 1, 4, 3]]),
        _EXTENTS,
    )

    def levels(self) -> tuple[Level, ...]:
        return ("inside", "whole", "point", "repeated")

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[NDArray[np.float64]]:
        shape = scope.shape(self.name)
        batch, height, width = (scope.shape(self.of)[axis] for axis in (0, 2, 3))
        scale = float(scope.value(self.scale))
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

    def rules(self) -> Iterable[Constraint]:
        name = self.name
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

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        name, given = self.name, np.array(scope.find(self.name), dtype=np.float64)
        for value in (float(scope.shape(self.of)[0]), -1.0, 0.5):
            yield f"{name}_batch", {name: _with(given, slice(1), value)}
        scale, extents = float(scope.value(self.scale)), scope.shape(self.of)[:1:-1]
        if not given.size or scale <= 0:
            return
        for place, outside in ((1, -1), (2, -2), (3, extents[0]), (4, extents[1] + 2)):
            yield f"{name}_inside_{_CORNERS[place]}", {name: _with(given, place, outside / scale)}
        for place in (1, 2):
            yield (
                f"{name}_order_{_CORNERS[place]}",
                {name: _with(given, [place, place + 2], np.array([1, 0]) / scale)},
            )

    def changes(self) -> Iterable[KindChange]:
        yield from super().changes()
        text = "the second corners of the regions left out"
        yield ValueChange(f"{self.name} without ends", text, self._without_ends)

    def _without_ends(self, given: CallValues) -> Bindings:
        ends = np.array([0, 0, 0, 1, 1]) / float(given.numbers(self.scale.text))
        return self.changed_by(lambda rows: rows - ends)(given)


_BOXES: tuple[tuple[str, str, bool, Callable[[NDArray[Any]], NDArray[Any]]], ...] = (
    (
        "unordered empty",
        "boxes whose second corner is not the greater one taken for empty ones",
        False,
        lambda boxes: np.maximum(boxes[..., :2], boxes[..., 2:]),
    ),
    (
        "as extents",
        "the second corners of the boxes taken for heights and widths",
        False,
        lambda boxes: boxes[..., :2] + boxes[..., 2:],
    ),
    (
        "with ends",
        "boxes one longer, as if their ends were elements",
        False,
        lambda boxes: np.where(boxes[..., 2:] < boxes[..., :2], boxes[..., 2:] - 1, boxes[..., 2:] + 1),
    ),
    (
        "halves",
        "widths and heights of the boxes taken for their halves",
        True,
        lambda boxes: boxes[..., 2:] * 2,
    ),
)
"""In which form (with a centre, or not), and what the last two numbers become."""


@dataclass(frozen=True)
class _Boxes(CoordinateList):
    """Four numbers along the last axis; where `centred` holds a centre, a width and a height.

    `threshold` is the share of their union that two boxes may have in common.
    """

    centred: Expression
    threshold: Expression | None = None

    def levels(self) -> tuple[Level, ...]:
        return ("overlapping", "apart", "nested", "equal", "touching", "other_corners", "degenerate")

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[NDArray[np.float64]]:
        shape = scope.shape(self.name)
        is_centred = bool(scope.value(self.centred))
        if level == "other_corners" and is_centred:
            return
        count = prod(shape[:-1])
        corners = [box_corners(level, place, draw) for place in range(count)]
        found = [as_centre(corner) if is_centred else corner for corner in corners]
        yield np.array(found, dtype=np.float64).reshape(shape)

    def rules(self) -> Iterable[Constraint]:
        wide = f"all({self.name}[at] >= 0 for at in range(len({self.name})) if at % 4 > 1)"
        yield self.rule(f"{self.name}_not_negative", wide, self.centred.text)

    def edges(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        """Pairs that have a little in common, or that a little lies between, where nothing may be common."""
        if self.threshold is None:
            return
        shape = scope.shape(self.name)
        pairs = [each for place in range(-(-prod(shape[:-1]) // 2)) for each in boxes_side_by_side(place)]
        optional = [
            parameter.name for parameter in self.subject.spec.inputs if parameter.option == "optional"
        ]
        yield "boxes_alone", {self.centred.text: None, **dict.fromkeys(optional)}
        for centred in (1, 0):
            found = [as_centre(pair) if centred else pair for pair in pairs[: prod(shape[:-1])]]
            boxes = np.array(found, dtype=np.float64).reshape(shape)
            yield (
                f"{self.name}_{'centred' if centred else 'of_corners'}_side_by_side",
                {self.name: boxes, self.centred.text: centred, self.threshold.text: 0.0},
            )

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        if scope.value(self.centred):
            wrong = np.array(scope.find(self.name), dtype=np.float64)
            if wrong.size:
                wrong.reshape(-1)[2] = -1.0
                yield f"{self.name}_not_negative", {self.name: wrong}

    def changes(self) -> Iterable[KindChange]:
        """What overlaps say: with both axes exchanged they are the same, which is no change."""
        for word, text, centred, change in _BOXES:
            yield ValueChange(f"{self.name} {word}", text, self._boxes_changed_by(centred, change))

    def _boxes_changed_by(
        self, centred: bool, change: Callable[[NDArray[Any]], NDArray[Any]]
    ) -> Callable[[CallValues], Bindings]:
        def changed(given: CallValues) -> Bindings:
            boxes = given.numbers(self.name)
            if bool(given.numbers(self.centred.text)) != centred or boxes.dtype.kind != "f":
                raise ValueError("boxes of the other form, or no numbers")
            return {self.name: np.concatenate([boxes[..., :2], change(boxes)], axis=-1)}

        return changed


CoordinateList.variants = {
    "boxes": _Boxes,
    "locations": _Locations,
    "offsets": _Offsets,
    "pooled": _PooledRegions,
    "regions": _Regions,
}
