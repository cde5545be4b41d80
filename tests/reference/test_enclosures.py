"""Enclosed values: one digest whatever version of the library computes them."""

from __future__ import annotations

import hashlib
import random
from fractions import Fraction

import pytest
from flint import arb

from opcert.vocabulary.errors import InternalError
from reference.functions.functions import DOUBLE_BITS, FUNCTIONS, USUAL_BITS
from reference.numbers.enclosures import nearest_value

DIGEST = "476abaee4af09cf44aea89e533e16d5798be2063db8c4b63566a12e04b7b102d"
"""Of 150 values of each function with each number of bits, at random arguments inside its domain."""
_WIDEST = 60.0


def digest_of_values() -> str:
    draw, found = random.Random(1), hashlib.sha256()
    for _, function in sorted(FUNCTIONS.items()):
        low, high = (float(end) if end is not None else None for end in function.ends)
        ends = (-_WIDEST if low is None else low, _WIDEST if high is None else high)
        for bits in (USUAL_BITS, DOUBLE_BITS):
            for _ in range(150):
                argument = Fraction(draw.uniform(*ends))
                found.update(str(nearest_value(function.enclose, argument, bits)).encode())
    return found.hexdigest()


def test_values_are_those_that_other_versions_of_the_library_gave() -> None:
    assert digest_of_values() == DIGEST


def test_a_value_that_no_precision_tells_from_its_neighbours_is_a_bug_with_its_argument() -> None:
    # 17 is half-way between two numbers of four bits, and no enclosure of a quotient by 3 is a point.
    with pytest.raises(InternalError, match="the argument 17"):
        nearest_value(lambda ball: ball / arb(3) * 3, Fraction(17), 4)


def test_an_infinite_enclosure_is_no_value() -> None:
    with pytest.raises(InternalError):
        nearest_value(lambda ball: 1 / (ball - 1), Fraction(1), 64)
