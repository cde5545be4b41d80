"""Where and how far an output differs from what it must be: planes of elements, for a picture of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.judging.output_comparison import compare_output
from conformance.judging.patterns.elements import Floats, Mask, measure
from conformance.suite.cases import ExpectedOutput
from conformance.suite.values import decode_floats
from opcert.vocabulary.element_types import ElementType
from opcert.vocabulary.tensors import Tensor
from reports.text.phrasing import ratio_text
from reports.text.value_text import element_text

WHOLE = 256
"""A tensor of at most this many elements, in planes of at most `SIDE` by `SIDE`, is shown whole."""
SIDE = 16
WINDOW = 12
"""Rows and columns shown of a larger tensor, around its worst element."""
_RATIOS = (1.5, 10.0, 1000.0)
_SHARES = (0.1, 0.4, 0.8)


@dataclass(frozen=True)
class Plane:
    """Rows and columns of a tensor, from `row` and `column` on; `at` is its place on the other axes.

    `levels` has a digit an element: 0 equal, 1 near enough, 2 to 5 wrong by more and more.
    """

    at: tuple[int, ...]
    row: int
    column: int
    rows: int
    columns: int
    expected: tuple[str, ...]
    got: tuple[str, ...]
    apart: tuple[str, ...]
    allowed: tuple[str, ...]
    levels: str


@dataclass(frozen=True)
class Overview:
    """The whole of the plane of which a part is shown, in tiles of `height` rows and `width` columns."""

    rows: int
    columns: int
    height: int
    width: int
    levels: str
    wrong: tuple[int, ...]


@dataclass(frozen=True)
class Picture:
    """An output of a shape, with `wrong` of its `elements` wrong; `exact` where no error was allowed.

    `overview` is there where the planes do not show every element of the plane of the worst one.
    """

    output: str
    shape: tuple[int, ...]
    elements: int
    wrong: int
    exact: bool
    planes: tuple[Plane, ...]
    overview: Overview | None

    @property
    def first_wrong(self) -> Plane:
        """The first plane with a wrong element."""
        return next(each for each in self.planes if max(each.levels) > "1")


def draw_picture(expected: ExpectedOutput, got: Tensor) -> Picture | None:
    """The picture of an output beside what it must be; None where they differ in type or shape, or not."""
    found = compare_output(expected, got)
    if found.wrong is None or found.worst is None:
        return None
    shape = got.shape
    sheet = _Sheet(expected, got, found.wrong.reshape(_as_planes(shape)))
    worst = tuple(found.worst.index) + (0,) * (2 - len(shape)) if len(shape) < 2 else found.worst.index
    if len(shape) == 1:
        worst = (0, found.worst.index[0])
    planes, rows, columns = sheet.wrong.shape
    overview = None
    if sheet.wrong.size <= WHOLE and rows <= SIDE and columns <= SIDE:
        shown = [sheet.plane(each, 0, 0, rows, columns) for each in range(planes)]
    else:
        lead = int(np.ravel_multi_index(worst[:-2], shape[:-2])) if len(shape) > 2 else 0
        row, height = _window(worst[-2], rows)
        column, width = _window(worst[-1], columns)
        shown = [sheet.plane(lead, row, column, height, width)]
        if (height, width) != (rows, columns):
            overview = sheet.overview(lead)
    return Picture(
        expected.name, shape, got.array.size, found.wrong_elements, sheet.exact, tuple(shown), overview
    )


def _as_planes(shape: Sequence[int]) -> tuple[int, int, int]:
    """A shape as planes of rows and columns; a tensor of one axis is one row."""
    last = tuple(shape[-2:]) if len(shape) > 1 else (1, *shape) if shape else (1, 1)
    return math.prod(shape[:-2]) if len(shape) > 2 else 1, last[0], last[1]


def _window(place: int, extent: int) -> tuple[int, int]:
    """Where the part of an axis begins that is shown around a place, and how long it is."""
    length = min(WINDOW, extent)
    return min(max(place - length // 2, 0), extent - length), length


class _Sheet:
    """An output, its expectation and how far they are apart, as planes of rows and columns."""

    def __init__(self, expected: ExpectedOutput, got: Tensor, wrong: Mask) -> None:
        self.element_type = got.element_type
        self.lead = got.shape[:-2]
        self.wrong = wrong
        self.got = got.array.reshape(wrong.shape)
        self.expected = expected.expected.array.reshape(wrong.shape)
        self.allowed = None if expected.allowed is None else expected.allowed.reshape(wrong.shape)
        self.exact = self.allowed is None or not self.allowed.any()
        with np.errstate(all="ignore"):  # infinities and NaN are ordinary here
            apart, _ = measure(self.element_type, self.got.reshape(-1), self.expected.reshape(-1), None)
        self.apart = apart.reshape(wrong.shape)
        self.levels = self._levels()

    def plane(self, number: int, row: int, column: int, rows: int, columns: int) -> Plane:
        part = (number, slice(row, row + rows), slice(column, column + columns))
        got, expected = self.got[part].reshape(-1), self.expected[part].reshape(-1)
        levels = self.levels[part].reshape(-1)
        allowed = np.zeros(got.shape) if self.allowed is None else self.allowed[part].reshape(-1)
        apart = self.apart[part].reshape(-1)
        at = np.unravel_index(number, self.lead) if self.lead else ()
        return Plane(
            tuple(int(coordinate) for coordinate in at),
            row,
            column,
            rows,
            columns,
            tuple(element_text(each, self.element_type) for each in expected),
            tuple(element_text(each, self.element_type) for each in got),
            tuple(
                _apart_text(self.element_type, one, other, float(far), float(limit), int(level), self.exact)
                for one, other, far, limit, level in zip(got, expected, apart, allowed, levels, strict=True)
            ),
            tuple("" if limit == 0 else f"{limit:.3g}" for limit in allowed.tolist()),
            "".join(map(str, levels.tolist())),
        )

    def overview(self, number: int) -> Overview:
        levels, wrong = self.levels[number], self.wrong[number]
        rows, columns = levels.shape
        height, width = -(-rows // SIDE), -(-columns // SIDE)
        tiles = [
            (slice(row, row + height), slice(column, column + width))
            for row in range(0, rows, height)
            for column in range(0, columns, width)
        ]
        return Overview(
            -(-rows // height),
            -(-columns // width),
            height,
            width,
            "".join(str(int(levels[tile].max())) for tile in tiles),
            tuple(int(np.count_nonzero(wrong[tile])) for tile in tiles),
        )

    def _levels(self) -> NDArray[np.int64]:
        """The level of each element; what is wrong is at least 2, whatever its distance."""
        if self.exact:
            greatest = _greatest(self.element_type, self.expected)
            with np.errstate(over="ignore"):
                measured, steps = self.apart / greatest, _SHARES
        else:
            assert self.allowed is not None
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                measured = np.where(self.allowed > 0, self.apart / self.allowed, np.inf)
            steps = _RATIOS
        level = 2 + np.searchsorted(np.asarray(steps), np.nan_to_num(measured, nan=0.0), side="left")
        return np.where(self.wrong, level, np.where(self.apart > 0, 1, 0))


def _greatest(element_type: ElementType, expected: NDArray[Any]) -> float:
    """The greatest finite magnitude expected; 1 where there is none."""
    if element_type.kind == "complex":
        values: Floats = np.abs(expected).astype(np.float64)
    elif element_type.is_float:
        values = np.abs(decode_floats(element_type, expected))
    elif element_type.is_integer:
        values = np.abs(expected.astype(np.float64))
    else:
        return 1.0
    finite = values[np.isfinite(values)]
    return float(finite.max()) if finite.size and finite.max() > 0 else 1.0


def _apart_text(
    element_type: ElementType,
    got: Any,
    expected: Any,
    apart: float,
    allowed: float,
    level: int,
    exact: bool,
) -> str:
    """How far one element is off: in units of the allowed error; where none is allowed, the difference."""
    if not level:
        return "·"
    if not exact:
        ratio = apart / allowed if allowed > 0 else np.inf
        return ratio_text(ratio).replace(" ", "") if np.isfinite(ratio) else "≠"
    if not np.isfinite(apart) or apart == 0 or element_type.kind == "complex":
        return "≠"
    if element_type.is_float:
        first, second = decode_floats(element_type, np.asarray([got, expected]))
        more = first > second
    else:
        more = int(got) > int(expected)
    return f"{'+' if more else '−'}{float(apart):.3g}"
