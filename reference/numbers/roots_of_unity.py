"""Cosines and sines of parts of a turn: exact where they are rational, else rounded to so many bits."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np

from reference.numbers.binary_numbers import BinaryNumber
from reference.numbers.enclosures import Ball, nearest_binary
from reference.numbers.rationals import Rationals

_ZERO, _HALF, _ONE = BinaryNumber(0, 0), BinaryNumber(1, -1), BinaryNumber(1, 0)
_RATIONAL = {Fraction(0): _ONE, Fraction(1, 6): _HALF, Fraction(1, 4): _ZERO}
"""Of the parts of a turn up to a quarter, those that have a rational cosine; there are no others."""


@lru_cache(maxsize=64)
def roots_of_unity(count: int, bits: int) -> tuple[Rationals, Rationals]:
    """The cosines and the sines of the multiples of a turn's `count`th part, of which there are as many.

    What is alike by symmetry is one number, so that what cancels in exact arithmetic between two places
    that mirror each other cancels here.
    """
    turns = [Fraction(each, count) for each in range(count)]
    cosines = [_cosine(each, bits) for each in turns]
    sines = [_cosine((each - Fraction(1, 4)) % 1, bits) for each in turns]
    return Rationals.of_binary(cosines, (count,)), Rationals.of_binary(sines, (count,))


def places_of_roots(bins: int, count: int) -> np.ndarray[tuple[int, int], np.dtype[np.intp]]:
    """Which root a bin takes of each sample: bins by samples."""
    return np.asarray(np.arange(bins)[:, None] * np.arange(count) % count, dtype=np.intp)


def _cosine(turn: Fraction, bits: int) -> BinaryNumber:
    """The cosine of a part of a turn, from 0 on and below 1."""
    turn = min(turn, 1 - turn)
    if turn > Fraction(1, 4):
        found = _cosine(Fraction(1, 2) - turn, bits)
        return BinaryNumber(-found.whole, found.power)
    if turn in _RATIONAL:
        return _RATIONAL[turn]
    return nearest_binary(_cosine_of_turns, turn.numerator, turn.denominator, bits)


def _cosine_of_turns(turns: Ball) -> Ball:
    return (2 * turns).cos_pi()
