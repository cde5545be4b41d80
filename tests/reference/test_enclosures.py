"""Enclosed values: one digest whatever version of the library computes them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import arb

from benchmarks.enclosures import digest_of_values
from opcert.vocabulary.errors import InternalError
from reference.enclosures import nearest_value

DIGEST = "476abaee4af09cf44aea89e533e16d5798be2063db8c4b63566a12e04b7b102d"


def test_values_are_those_that_other_versions_of_the_library_gave() -> None:
    assert digest_of_values() == DIGEST


def test_a_value_that_no_precision_tells_from_its_neighbours_is_a_bug_with_its_argument() -> None:
    # 17 is half-way between two numbers of four bits, and no enclosure of a quotient by 3 is a point.
    with pytest.raises(InternalError, match="the argument 17"):
        nearest_value(lambda ball: ball / arb(3) * 3, Fraction(17), 4)


def test_an_infinite_enclosure_is_no_value() -> None:
    with pytest.raises(InternalError):
        nearest_value(lambda ball: 1 / (ball - 1), Fraction(1), 64)
