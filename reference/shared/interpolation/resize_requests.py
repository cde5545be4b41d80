"""A resize as it is asked for: axes, scales or sizes, regions, and the method."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property, lru_cache

from opcert.vocabulary.tensors import Tensor
from reference.numbers.numbers import numbers
from reference.shared.interpolation.axis_weights import Kernel
from reference.shared.interpolation.methods import Method


@dataclass(frozen=True, eq=False)
class Request:
    """The numbers of a call, one for each entry of `axes` (not negative, none repeated).

    Either `scales` or `sizes` is given. `roi` holds (start, end), or is None where none was given in full.
    """

    shape: tuple[int, ...]
    axes: tuple[int, ...]
    mode: str
    scales: tuple[Fraction, ...] | None
    sizes: tuple[int, ...] | None
    roi: tuple[tuple[Fraction, Fraction], ...] | None
    policy: str

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        # A request is planned under every combination of readings.
        return hash(tuple(getattr(self, each.name) for each in fields(self)))


@lru_cache(maxsize=64)
def read_method(
    mode: str,
    nearest_mode: str,
    cubic_coeff_a: float = -0.75,
    antialias: int = 0,
    exclude_outside: int = 0,
    extrapolation_value: float = 0.0,
) -> Method:
    """The method that the attributes ask for."""
    kernel = Kernel(mode, Fraction(cubic_coeff_a), bool(antialias), bool(exclude_outside))
    return Method(nearest_mode, None if mode == "nearest" else kernel, Fraction(extrapolation_value))


def read_request(
    X: Tensor,
    roi: Tensor | None,
    scales: Tensor | None,
    sizes: Tensor | None,
    axes: Sequence[int] | None,
    mode: str,
    policy: str = "stretch",
) -> Request:
    """The request that the inputs make."""
    return _read_request(X.shape, roi, scales, sizes, None if axes is None else tuple(axes), mode, policy)


@lru_cache(maxsize=64)
def _read_request(
    shape: tuple[int, ...],
    roi: Tensor | None,
    scales: Tensor | None,
    sizes: Tensor | None,
    axes: tuple[int, ...] | None,
    mode: str,
    policy: str,
) -> Request:
    # A call is read once, and then again under every combination of readings.
    chosen = _read_axes(len(shape), axes)
    factors = None if scales is None else _exactly(scales)
    lengths = None if sizes is None else tuple(int(each) for each in sizes.array)
    region = None if roi is None else _read_roi(roi, len(chosen))
    return Request(shape, chosen, mode, factors, lengths, region, policy)


def _read_axes(rank: int, axes: Sequence[int] | None) -> tuple[int, ...]:
    return tuple(range(rank)) if axes is None else tuple(axis % rank for axis in axes)


def _exactly(values: Tensor) -> tuple[Fraction, ...]:
    return tuple(Fraction(each) for each in numbers(values.element_type, values.array))


def _read_roi(roi: Tensor, count: int) -> tuple[tuple[Fraction, Fraction], ...] | None:
    """The region of each axis; None where there is none, or not the numbers of one."""
    if roi.array.size == 0 or not all(map(math.isfinite, numbers(roi.element_type, roi.array))):
        return None
    bounds = _exactly(roi)
    return tuple(zip(bounds[:count], bounds[count:], strict=True))
