"""Data of tensors that are to be quantised: at the ties of their steps, and at the ends of the range."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from opcert.vocabulary.element_types import ElementType
from opcert.vocabulary.tensors import Tensor
from reference.numbers.numbers import encode, numbers
from reference.shared.scales import scale_places

_STEPS = (0.5, 1.5, -0.5, -1.5, 2.5, 3.5, -2.5, 6.5, 1.0, -3.5, 4.5, 0.25, 0.75)
"""Quotients beside which rounding modes part; each of both parities comes first."""
_BESIDE = (Fraction(1, 2), Fraction(0), Fraction(-1, 2), Fraction(1), Fraction(3, 2), Fraction(100))


def data_at_steps(
    tensor: Tensor, data: str, *, scales: Any, zeros: Any, kind: ElementType, axis: int, block_size: int
) -> Tensor:
    """The tensor with ties of the steps where its data is `ties`, with their ends for `large_offset`."""
    if data not in ("ties", "large_offset") or scales is None:
        return tensor
    scale = np.asarray(scales, dtype=np.float64)
    try:
        places = scale_places(tensor.shape, scale.shape, axis, block_size).reshape(-1)
    except (IndexError, ValueError):
        return tensor  # a call that is to be refused
    shifts = np.zeros(scale.size) if zeros is None or not kind.is_integer else np.resize(zeros, scale.size)
    wanted = []
    for at, place in enumerate(places.tolist()):
        quotient = _tie(kind, at) if data == "ties" else _end(kind, at, int(shifts[place]))
        wanted.append(quotient * Fraction(float(scale.reshape(-1)[place])))
    own = tensor.element_type
    if own.is_integer:
        low, high = own.integer_range
        whole = np.array([min(max(round(number), low), high) for number in wanted], dtype=own.storage)
        return Tensor(own, whole.reshape(tensor.shape))
    return Tensor(own, encode(own, wanted).reshape(tensor.shape))


def _tie(kind: ElementType, at: int) -> Fraction:
    """A quotient half-way between two elements of the type, or not quite."""
    if kind.is_integer:
        return Fraction(_STEPS[at % len(_STEPS)])
    known = _finite(kind)
    place = at * 5 % (len(known) - 1)
    return (known[place] + known[place + 1]) / 2


def _end(kind: ElementType, at: int, zero: int) -> Fraction:
    """A quotient at an end of the range, or beside it by parts of a step."""
    sign, beside = (1, -1)[at % 2], _BESIDE[at // 2 % len(_BESIDE)]
    if kind.is_integer:
        low, high = kind.integer_range
        return (high if sign > 0 else low) - zero + sign * beside
    known = _finite(kind)
    return sign * (known[-1] + beside * (known[-1] - known[-2]))


@cache
def _finite(kind: ElementType) -> Sequence[Fraction]:
    """The numbers of a type of at most 8 bits that are not below zero, in order."""
    codes = np.arange(1 << (kind.bits - 1), dtype=kind.storage)
    return sorted({Fraction(number) for number in numbers(kind, codes) if np.isfinite(float(number))})
