"""Nearest-neighbour resampling: elements are moved, bit for bit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference.answers.rounding import Rounded
from reference.shared.interpolation.coordinates import HALF, CoordinateAxis, coordinates


def nearest_pixel(coordinate: Fraction, rule: str) -> int:
    """The pixel that a coordinate takes: floor, ceil, round_prefer_floor or round_prefer_ceil."""
    match rule:
        case "floor":
            return math.floor(coordinate)
        case "ceil":
            return math.ceil(coordinate)
        case "round_prefer_floor":
            return math.ceil(coordinate - HALF)
        case "round_prefer_ceil":
            return math.floor(coordinate + HALF)
    raise ValueError(f"no rule of nearest is called {rule}")


@lru_cache(maxsize=4096)
def pixels(axis: CoordinateAxis, rule: str) -> tuple[tuple[int, ...], ...]:
    """For every position the pixels that routes take, inside the tensor, the exact one first.

    `rule` is one of `nearest_pixel`, or ceil_downsampling: ceil along an axis of scale < 1, else floor.
    """
    last = axis.length_original - 1
    if rule == "ceil_downsampling":
        rule = "ceil" if axis.exact_scale < 1 else "floor"

    def choose(coordinate: Fraction) -> int:
        return min(max(nearest_pixel(coordinate, rule), 0), last)

    return tuple(coordinates(axis).decide(choose))


def move(array: NDArray[Any], chosen: Sequence[tuple[tuple[int, ...], ...]]) -> Rounded:
    """Gather the chosen pixels of every axis; where routes differ, the others are alternatives."""
    shape = tuple(len(each) for each in chosen)
    first = [np.array([options[0] for options in each], dtype=np.intp) for each in chosen]
    moved = array[np.ix_(*first)] if chosen else array
    alternatives: dict[int, tuple[Any, ...]] = {}
    doubtful = np.zeros(shape, dtype=np.bool_)
    for axis, each in enumerate(chosen):
        several = np.array([len(options) > 1 for options in each], dtype=np.bool_)
        doubtful |= several.reshape([-1 if other == axis else 1 for other in range(len(shape))])
    for index in np.argwhere(doubtful):
        options = [each[position] for each, position in zip(chosen, index.tolist(), strict=True)]
        expected = _bits(moved[tuple(index)])
        others = {_bits(array[where]): array[where] for where in product(*options)}
        others.pop(expected, None)
        if others:
            flat = int(np.ravel_multi_index(tuple(index), shape))
            alternatives[flat] = tuple(plain(each) for each in others.values())
    flat_elements = moved.reshape(-1)
    return Rounded(flat_elements, np.zeros(flat_elements.shape), alternatives)


def plain(element: Any) -> Any:
    """An element as a Python value that its storage takes back unchanged."""
    return element.item() if isinstance(element, np.generic) else element


def _bits(element: Any) -> bytes:
    return bytes(element) if isinstance(element, bytes) else np.asarray(element).tobytes()
