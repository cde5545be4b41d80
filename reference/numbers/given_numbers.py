"""The elements of a tensor as exact numbers: what they are hangs on no reading, so it is found once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from opcert.vocabulary.tensors import Tensor
from reference.numbers.numbers import bits_of, decode
from reference.numbers.powers_of_two import holds_powers_alone
from reference.numbers.rationals import Rationals
from reference.numbers.working import Floats

_MOST_KNOWN = 64
"""Tensors of which it is remembered: a call is evaluated under several readings, one after the other."""


@dataclass(frozen=True, eq=False)
class GivenNumbers:
    """Exact values, 0 where `sign` is NaN or an infinity; elsewhere `sign` is 1, -1 or a zero with its sign.

    `wide` says that they are integers of more bits than float32 holds; `least` is the least magnitude of a
    number that is not zero, infinity where there is none.
    """

    value: Rationals
    sign: Floats
    wide: bool
    least: float


@lru_cache(maxsize=_MOST_KNOWN)
def given_numbers(given: Tensor) -> GivenNumbers:
    """The elements of a tensor of floating-point numbers or integers."""
    kind = given.element_type
    decoded = decode(kind, given.array)
    scale = decoded.scale
    numerator = decoded.integers
    if scale.numerator != 1:
        numerator = np.asarray(numerator * scale.numerator, dtype=object)
    value = Rationals(numerator, np.array(scale.denominator, dtype=object))
    sign = np.where(decoded.finite, value.signs(), decoded.special)
    if kind.is_float and not holds_powers_alone(kind):
        minus_zero = decoded.finite & (bits_of(given.array) == 1 << (kind.bits - 1))
        sign = np.where(minus_zero, -0.0, sign)
    sign.setflags(write=False)
    sizes = np.abs(value.floats())
    least = np.min(sizes, where=sizes > 0, initial=np.inf)
    return GivenNumbers(value, sign, decoded.wide, float(least))
