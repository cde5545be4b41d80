"""How far an output of a model is from another one, in the model's own units: steps, ULP, classes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from conformance.judging.patterns.elements import measure, same_elements, ulp_distances
from conformance.suite.values import decode_floats
from opcert.vocabulary.element_types import ElementType
from opcert.vocabulary.tensors import Tensor

Unit = Literal["step", "ulp", "value"]
_MOST_STEP_BITS = 16
_MOST_CLASSES = 1 << 16


@dataclass(frozen=True)
class Apart:
    """How far two tensors of one type and shape are apart.

    `elements` of `of_elements` differ, the nearest of them by `least` units and the farthest by `most`; these
    are None where none differs, and of a `value`, which has no distance. `lost` of those that differ are NaN
    or infinite in one of the two alone. `classes` of `rows` have another largest element along the last axis.
    `is_far` says that more than rounding separates them: more than a step of small integers, any other value
    of wide ones, or more than half of the digits of floats, beside the largest of them.
    """

    unit: Unit
    elements: int
    of_elements: int
    least: int | None = None
    most: int | None = None
    lost: int = 0
    classes: int = 0
    rows: int = 0
    is_far: bool = False


def apart(one: Tensor, other: Tensor, step: float | None = None) -> Apart | str:
    """How far the second is from the first; in words where type or shape are others.

    `step` is how far two neighbours among the values are apart, where floats are integers times a scale.
    """
    kind = one.element_type
    if other.element_type is not kind or other.shape != one.shape:
        return f"{other.element_type} {list(other.shape)} in place of {kind} {list(one.shape)}"
    left, right = one.array.reshape(-1), other.array.reshape(-1)
    differing = ~same_elements(kind, left, right)
    count = int(np.count_nonzero(differing))
    unit: Unit = (
        "step" if kind.is_integer or (kind.is_float and step) else "ulp" if kind.is_float else "value"
    )
    if not count:
        return Apart(unit, 0, int(left.size))
    left, right = left[differing], right[differing]
    classes, rows = _classes(one, other)
    if unit == "value":
        return Apart(unit, count, int(one.array.size), is_far=True)
    with np.errstate(all="ignore"):
        distance, _ = measure(kind, right, left, None)
        kept = np.isfinite(distance)
        distance = distance / step if kind.is_float and step else distance
        steps = ulp_distances(kind, right, left) if unit == "ulp" else np.rint(distance)
    assert steps is not None
    known = steps[kept]
    return Apart(
        unit,
        count,
        int(one.array.size),
        int(known.min()) if known.size else None,
        int(known.max()) if known.size else None,
        int(count - np.count_nonzero(kept)),
        classes,
        rows,
        bool(distance.max() > 1.5) if kind.is_float and step else _is_far(kind, one, distance),
    )


def _is_far(kind: ElementType, one: Tensor, distance: np.ndarray[tuple[int], np.dtype[np.float64]]) -> bool:
    if not np.isfinite(distance).all():
        return True
    if kind.is_integer:
        return bool(distance.max() > (1 if kind.bits <= _MOST_STEP_BITS else 0))
    values = np.abs(decode_floats(kind, one.array.reshape(-1)))
    finite = values[np.isfinite(values)]
    digits = kind.layout.precision if kind.layout is not None else 0
    return bool(distance.max() > math.ldexp(1.0, -(digits // 2)) * (finite.max() if finite.size else 0.0))


def _classes(one: Tensor, other: Tensor) -> tuple[int, int]:
    """In how many rows the largest element is another one, of how many."""
    kind, shape = one.element_type, one.shape
    if not (kind.is_float or kind.is_integer) or not 1 <= len(shape) <= 2:
        return 0, 0
    if not 2 <= shape[-1] <= _MOST_CLASSES:
        return 0, 0
    arrays = [decode_floats(kind, each.array) if kind.is_float else each.array for each in (one, other)]
    first, second = (each.argmax(-1).reshape(-1) for each in arrays)
    return int(np.count_nonzero(first != second)), int(first.size)
