"""Regions of interest: the place of an image in the batch, and two corners."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import CallValues, InputName, KindChange, Level, SingleKind, ValueChange
from specs.language.expressions import Expression
from specs.model.spec import Constraint


def _first_image(rows: NDArray[Any], _: float) -> NDArray[Any]:
    found = rows.copy()
    found[:, 0] = 0
    return found


def _as_extents(rows: NDArray[Any], _: float) -> NDArray[Any]:
    return np.concatenate([rows[:, :3], rows[:, 1:3] + rows[:, 3:]], axis=1)


def _ends_left_out(rows: NDArray[Any], scale: float) -> NDArray[Any]:
    return rows - np.array([0, 0, 0, 1, 1]) / scale


_MISREAD: tuple[tuple[str, str, Callable[[NDArray[Any], float], NDArray[Any]]], ...] = (
    ("of the first image", "every region taken of the first image", _first_image),
    ("exchanged", "x and y of the regions exchanged", lambda rows, _: rows[:, [0, 2, 1, 4, 3]]),
    ("as extents", "the second corners of the regions taken for widths and heights", _as_extents),
    ("without ends", "the second corners of the regions left out", _ends_left_out),
)
"""Of the rows, and of what their coordinates are multiplied with."""
_CORNERS = ("", "x1", "y1", "x2", "y2")


@dataclass(frozen=True)
class Rois(SingleKind):
    """Rows of a batch index and x1, y1, x2, y2 in an input's last two axes, times `scale`.

    What a region is that ends outside, or before it begins, no document says.
    """

    of: InputName
    scale: Expression

    needs_own_shape: ClassVar[bool] = True

    def levels(self) -> tuple[Level, ...]:
        return ("inside", "whole", "point", "repeated")

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[NDArray[np.float64]]:
        batch, height, width = (scope.shape(self.of)[axis] for axis in (0, 2, 3))
        scale = float(scope.value(self.scale))
        if min(batch, height, width) < 1 or scale <= 0:
            return
        rows = []
        for _ in range(scope.shape(self.name)[0]):
            left, top = draw.integer(0, width - 1), draw.integer(0, height - 1)
            right, bottom = draw.integer(left, width - 1), draw.integer(top, height - 1)
            box = {
                "whole": (0, 0, width - 1, height - 1),
                "point": (left, top, left, top),
                "repeated": (0, 0, width // 2, height // 2),
            }.get(str(level), (left, top, right, bottom))
            index = 0 if level == "repeated" else draw.integer(0, batch - 1)
            rows.append([index, *(each / scale for each in box)])
        yield np.array(rows, dtype=np.float64).reshape(scope.shape(self.name))

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
        given = np.asarray(scope.find(self.name), dtype=np.float64)
        for value in (float(scope.shape(self.of)[0]), -1.0, 0.5):
            wrong = given.copy()
            wrong.reshape(-1)[:1] = value
            yield f"{self.name}_batch", {self.name: wrong}
        scale, extents = float(scope.value(self.scale)), scope.shape(self.of)[:1:-1]
        if not given.size or scale <= 0:
            return
        for place, outside in ((1, -1), (2, -2), (3, extents[0]), (4, extents[1] + 2)):
            wrong = given.copy()
            wrong.reshape(-1)[place] = outside / scale
            yield f"{self.name}_inside_{_CORNERS[place]}", {self.name: wrong}
        for place in (1, 2):
            wrong = given.copy()
            wrong.reshape(-1)[[place, place + 2]] = np.array([1, 0]) / scale
            yield f"{self.name}_order_{_CORNERS[place]}", {self.name: wrong}

    def changes(self) -> Iterable[KindChange]:
        for word, text, change in _MISREAD:
            yield ValueChange(f"{self.name} {word}", text, self._changed_by(change))

    def _changed_by(
        self, change: Callable[[NDArray[Any], float], NDArray[Any]]
    ) -> Callable[[CallValues], Bindings]:
        def changed(given: CallValues) -> Bindings:
            rows, scale = given.numbers(self.name), float(given.numbers(self.scale.text))
            if rows.dtype.kind != "f" or rows.ndim != 2:
                raise ValueError("no rows of numbers")
            return {self.name: change(rows, scale)}

        return changed
