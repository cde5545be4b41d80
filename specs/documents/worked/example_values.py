"""What the values of example code can be beside Python's own and numpy's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from specs.model.relations import Assignment, Bounds


@dataclass(frozen=True)
class UnknownValue:
    """A value that is not read: random data, or a call outside the whitelist; shape and type where known."""

    shape: tuple[int, ...] | None = None
    dtype: np.dtype[Any] | None = None


@dataclass(frozen=True)
class SliceOfUnknown:
    """A slice of a variable whose data is unknown: `x[5:15, 1:8, :]`."""

    name: str
    index: tuple[Bounds, ...]
    shape: tuple[int, ...] | None
    dtype: np.dtype[Any] | None


@dataclass(frozen=True)
class Built:
    """Zeros into which slices of unknown variables were assigned."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    steps: tuple[Assignment, ...] = ()


@dataclass(frozen=True)
class Typed:
    """A tensor made by make_tensor: shape, flattened elements, element type (our name)."""

    shape: tuple[int, ...]
    data: tuple[Any, ...]
    element_type: str


UNREAD = UnknownValue()


def is_read(value: Any) -> bool:
    """Whether a value, and everything in it, is an array or Python's own."""
    if isinstance(value, list):
        return all(map(is_read, value))
    if isinstance(value, dict):
        return all(map(is_read, value.values()))
    return not isinstance(value, UnknownValue | SliceOfUnknown | Built | Typed)
