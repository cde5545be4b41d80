"""Wide draws: everything within the range can be drawn, nothing outside is, and corners come often."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from generator.exploring.fuzzing import wide_draws

RANGES = [(0, 0), (-3, 9), (0, 100), (0, 255), (-128, 127), (-(2**63), 2**63 - 1), (5, 5 + 2**20)]


@given(st.data(), st.sampled_from(RANGES))
def test_whole_numbers_lie_within_their_range(data: st.DataObject, ends: tuple[int, int]) -> None:
    assert ends[0] <= data.draw(wide_draws.whole_numbers(*ends)) <= ends[1]


@pytest.mark.parametrize("ends", RANGES)
def test_a_range_is_drawn_from_end_to_end(ends: tuple[int, int]) -> None:
    drawn = list_of(wide_draws.whole_numbers(*ends))
    if ends[1] - ends[0] <= 100:
        assert set(drawn) == set(range(ends[0], ends[1] + 1))
    quarter = (ends[1] - ends[0]) // 4
    assert min(drawn) <= ends[0] + quarter
    assert max(drawn) >= ends[1] - quarter


@given(st.data(), st.sampled_from([1, 4, 7, 16, 32, 64]))
def test_bits_are_so_many(data: st.DataObject, count: int) -> None:
    assert 0 <= data.draw(wide_draws.bits(count)) < 1 << count


@pytest.mark.parametrize(("width", "kind"), [(16, np.float16), (32, np.float32), (64, np.float64)])
def test_floats_are_those_of_their_width_and_have_its_corners(width: int, kind: Any) -> None:
    drawn = list_of(wide_draws.floats(width))
    assert all(math.isnan(each) or float(kind(each)) == each for each in drawn)
    known = np.finfo(kind)
    for corner in (math.inf, -math.inf, float(known.max), float(known.smallest_subnormal)):
        assert corner in drawn
    assert any(math.isnan(each) for each in drawn)
    assert any(each == 0 and math.copysign(1, each) < 0 for each in drawn)


def test_fractions_are_sixteenths() -> None:
    drawn = list_of(wide_draws.fractions(-1, 4))
    assert {each * 16 for each in drawn} == set(range(-16, 65))


def test_texts_have_ascii_and_others_and_no_surrogate() -> None:
    drawn = list_of(wide_draws.texts(4))
    assert {len(each) for each in drawn} == {0, 1, 2, 3, 4}
    assert any(each and each.isascii() for each in drawn)
    assert not all(each.isascii() for each in drawn)
    for each in drawn:
        each.encode()


def list_of(strategy: st.SearchStrategy[Any]) -> list[Any]:
    """Two thousand draws, always the same."""
    found: list[Any] = []

    @settings(max_examples=2000, derandomize=True, database=None, phases=[Phase.generate])
    @given(strategy)
    def draw(value: Any) -> None:
        found.append(value)

    draw()
    return found
