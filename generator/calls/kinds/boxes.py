"""Boxes, as two corners or as a centre with width and height."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import CallValues, KindChange, Level, SingleKind, ValueChange
from specs.language.expressions import Expression
from specs.model.spec import Constraint

_MISREAD: tuple[tuple[str, str, bool, Callable[[NDArray[Any]], NDArray[Any]]], ...] = (
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
class Boxes(SingleKind):
    """Four numbers along the last axis; where `centred` holds a centre, a width and a height.

    `threshold` is the share of their union that two boxes may have in common.
    """

    centred: Expression
    threshold: Expression | None = None

    needs_own_shape: ClassVar[bool] = True

    def levels(self) -> tuple[Level, ...]:
        return ("overlapping", "apart", "nested", "equal", "touching", "other_corners", "degenerate")

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[NDArray[np.float64]]:
        shape = scope.shape(self.name)
        is_centred = bool(scope.value(self.centred))
        if level == "other_corners" and is_centred:
            return
        count = prod(shape[:-1])
        corners = [_corners(level, place, draw) for place in range(count)]
        found = [_as_centre(corner) if is_centred else corner for corner in corners]
        yield np.array(found, dtype=np.float64).reshape(shape)

    def rules(self) -> Iterable[Constraint]:
        wide = f"all({self.name}[at] >= 0 for at in range(len({self.name})) if at % 4 > 1)"
        yield self.rule(f"{self.name}_not_negative", wide, self.centred.text)

    def edges(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        """Pairs that have a little in common, or that a little lies between, where nothing may be common."""
        if self.threshold is None:
            return
        shape = scope.shape(self.name)
        pairs = [each for place in range(-(-prod(shape[:-1]) // 2)) for each in _beside(place)]
        optional = [
            parameter.name for parameter in self.subject.spec.inputs if parameter.option == "optional"
        ]
        yield "boxes_alone", {self.centred.text: None, **dict.fromkeys(optional)}
        for centred in (1, 0):
            found = [_as_centre(pair) if centred else pair for pair in pairs[: prod(shape[:-1])]]
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
        for word, text, centred, change in _MISREAD:
            yield ValueChange(f"{self.name} {word}", text, self._changed_by(centred, change))

    def _changed_by(
        self, centred: bool, change: Callable[[NDArray[Any]], NDArray[Any]]
    ) -> Callable[[CallValues], Bindings]:
        def changed(given: CallValues) -> Bindings:
            boxes = given.numbers(self.name)
            if bool(given.numbers(self.centred.text)) != centred or boxes.dtype.kind != "f":
                raise ValueError("boxes of the other form, or no numbers")
            return {self.name: np.concatenate([boxes[..., :2], change(boxes)], axis=-1)}

        return changed


def _corners(level: Level, place: int, draw: Draw) -> tuple[float, float, float, float]:
    """The corners of a box, in quarters, so that areas are exact."""
    if level == "apart":
        return (4.0 * place, 0.0, 4.0 * place + 2.0, 2.0)
    if level == "nested":
        return (0.25 * place, 0.25 * place, 16.0 - 0.25 * place, 16.0 - 0.25 * place)
    if level == "equal":
        return (0.0, 0.0, 2.0, 1.0)
    if level == "touching":
        return (2.0 * place, 0.0, 2.0 * place + 2.0, 2.0)
    y, x = (draw.integer(0, 12) / 4 for _ in range(2))
    high, wide = (draw.integer(1, 12) / 4 for _ in range(2))
    if level == "degenerate":
        return (y, x, y + (high if place % 2 else 0.0), x)
    if level == "other_corners":
        return (y + high, x, y, x + wide) if place % 2 else (y + high, x + wide, y, x)
    return (y, x, y + high, x + wide)


def _beside(place: int) -> tuple[tuple[float, float, float, float], tuple[float, float, float, float]]:
    """Two boxes far from those of other places, the second in one of four directions from the first.

    Their halves and thirds are exact.
    """
    y, x, high, wide = 16.0 * place, 8.0, 3.0, 1.5
    apart = (-0.125, 0.125)[place // 4 % 2]
    down, right = ((high + apart, 0.0), (0.0, wide + apart), (-high - apart, 0.0), (0.0, -wide - apart))[
        place % 4
    ]
    return (y, x, y + high, x + wide), (y + down, x + right, y + down + high, x + right + wide)


def _as_centre(box: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    y, x, bottom, right = box
    return ((x + right) / 2, (y + bottom) / 2, right - x, bottom - y)
