"""Values at random: nothing outside a type's range is drawn, and its corners come often."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from generator.calls.data.draws import Draw
from generator.exploring.fuzzing.steps import random_amount, random_element, random_float, random_text
from opcert.vocabulary.element_types import ELEMENT_TYPES

TIMES = 1500


@pytest.mark.parametrize(("width", "kind"), [(16, np.float16), (32, np.float32), (64, np.float64)])
def test_floats_are_those_of_their_width_and_have_its_corners(width: int, kind: Any) -> None:
    draw = Draw("floats")
    drawn = [random_float(draw, width) for _ in range(TIMES)]
    assert all(math.isnan(value) or float(kind(value)) == value for value in drawn)
    known = np.finfo(kind)
    for corner in (math.inf, -math.inf, float(known.max), float(known.smallest_subnormal)):
        assert corner in drawn
    assert any(math.isnan(value) for value in drawn)
    assert any(value == 0 and math.copysign(1, value) < 0 for value in drawn)


@pytest.mark.parametrize("name", ["int8", "uint8", "int64", "uint64"])
def test_integers_are_drawn_from_end_to_end(name: str) -> None:
    kind, draw = ELEMENT_TYPES[name], Draw(name)
    drawn = [int(random_element(draw, kind)[0]) for _ in range(TIMES)]
    low, high = kind.integer_range
    assert {min(drawn), max(drawn)} == {low, high}
    assert any(low + 1000 < value < high - 1000 for value in drawn) or kind.bits == 8
    assert len({value for value in drawn if abs(value) < 10}) > 5


def test_every_type_has_elements_and_amounts() -> None:
    for name, kind in ELEMENT_TYPES.items():
        for made in (random_element, random_amount):
            assert made(Draw(name), kind).shape == (1,)
            assert made(Draw(name), kind).dtype == kind.storage


def test_texts_have_ascii_and_others_and_no_surrogate() -> None:
    draw = Draw("texts")
    drawn = [random_text(draw) for _ in range(TIMES)]
    assert {len(text) for text in drawn} == {0, 1, 2, 3, 4}
    assert any(text and text.isascii() for text in drawn)
    assert not all(text.isascii() for text in drawn)
    for text in drawn:
        text.encode()
