"""Pictures of differences: which elements they show, and how wrong they call each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from conformance.suite.cases import Alternative, ExpectedOutput
from opcert.vocabulary.tensors import tensor
from reports.single_cases.pictures import SIDE, WHOLE, WINDOW, Picture, draw_picture


def draw(
    got: ArrayLike, expected: ArrayLike, element_type: str = "float", allowed: Any = None, **more: Any
) -> Picture | None:
    wanted = tensor(expected, element_type)
    limit = None if allowed is None else np.broadcast_to(np.asarray(allowed, float), wanted.shape)
    return draw_picture(ExpectedOutput("Y", wanted, limit, **more), tensor(got, element_type))


def drawn(*given: Any, **more: Any) -> Picture:
    found = draw(*given, **more)
    assert found is not None
    return found


def test_what_is_as_it_must_be_has_no_picture() -> None:
    assert draw([1.0, 2.0], [1.0, 2.0]) is None
    assert draw([1.0, 2.25], [1.0, 2.0], allowed=0.5) is None
    assert draw([[1.0, 2.0]], [1.0, 2.0]) is None


def test_levels_of_moved_elements_are_shares_of_the_largest() -> None:
    picture = drawn([10.0, 9.5, 7.0, 3.0, -5.0], [10.0, 10.0, 10.0, 10.0, 10.0])
    assert picture.exact
    assert picture.wrong == 4
    (plane,) = picture.planes
    assert (plane.rows, plane.columns) == (1, 5)
    assert plane.levels == "02345"
    assert plane.apart == ("·", "−0.5", "−3", "−7", "−15")
    assert plane.allowed == ("",) * 5


def test_levels_of_computed_elements_are_ratios() -> None:
    picture = drawn([1.0, 1.5, 2.4, 6.0, 99.0, 1e6], [1.0] * 6, allowed=1.0)
    assert not picture.exact
    assert picture.planes[0].levels == "012345"
    assert picture.planes[0].apart == ("·", "0.50", "1.4×", "5.0×", "98.0×", "999,999×")


@pytest.mark.filterwarnings("error")
def test_what_is_not_finite_is_drawn_in_silence() -> None:
    picture = drawn([float("inf"), float("nan"), 0.0], [float("inf"), 1.0, float("-inf")])
    assert picture.planes[0].apart == ("·", "≠", "≠")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("allowed", [None, 1e-300])
def test_what_is_too_far_off_to_be_measured_is_drawn_in_silence(allowed: float | None) -> None:
    picture = drawn([1e300, 1e-300], [1e-300, 1e-300], element_type="double", allowed=allowed)
    assert picture.planes[0].levels == "50"


def test_what_cannot_be_measured_is_not_equal() -> None:
    assert drawn([float("nan")], [1.0]).planes[0].apart == ("≠",)
    assert drawn([0.0], [-0.0]).planes[0].levels == "2"
    assert drawn(["a"], ["b"], element_type="string").planes[0].apart == ("≠",)
    assert drawn([1 + 1j], [1 + 2j], element_type="complex64").planes[0].apart == ("≠",)
    picture = drawn([-(2**63)], [2**63 - 1], element_type="int64")
    assert picture.planes[0].apart == ("−1.84e+19",)


def test_a_further_value_that_is_accepted_is_not_wrong() -> None:
    picture = drawn([5.0, 7.0], [1.0, 1.0], allowed=0.5, alternatives=(Alternative(0, (np.float32(5.0),)),))
    assert picture.wrong == 1
    assert picture.planes[0].levels[0] == "1"


def test_every_plane_of_a_small_tensor_is_shown() -> None:
    expected = np.arange(24.0).reshape(2, 1, 3, 4)
    got = expected.copy()
    got[1, 0, 2, 3] += 1
    picture = drawn(got, expected)
    assert [plane.at for plane in picture.planes] == [(0, 0), (1, 0)]
    assert picture.overview is None
    assert picture.first_wrong is picture.planes[1]
    assert picture.planes[1].got[-1] == "24"


def test_of_a_large_tensor_the_part_around_the_worst_element_is_shown() -> None:
    expected = np.zeros((3, 100, 50))
    got = expected.copy()
    got[2, 99, 0] = 9
    got[2, 10, 49] = 1
    got[0, 0, 0] = 2
    picture = drawn(got, expected)
    assert picture.wrong == 3
    (plane,) = picture.planes
    assert plane.at == (2,)
    assert (plane.row, plane.column, plane.rows, plane.columns) == (100 - WINDOW, 0, WINDOW, WINDOW)
    assert plane.levels.count("5") == 1
    assert picture.overview is not None
    assert sum(picture.overview.wrong) == 2
    assert picture.overview.rows * picture.overview.height >= 100
    assert max(picture.overview.rows, picture.overview.columns) <= SIDE


@given(
    st.lists(st.integers(1, 18), min_size=0, max_size=3),
    st.integers(0, 2**32),
    st.sampled_from(["float", "float16", "int8", "uint64", "bool", "complex64"]),
    st.booleans(),
)
def test_a_picture_shows_the_worst_element_and_counts_all(
    shape: list[int], seed: int, element_type: str, allowed: bool
) -> None:
    size = int(np.prod(shape))
    bits = np.array([(seed * (place + 3) >> place % 29) % 5 for place in range(size)]).reshape(shape)
    wanted = tensor(np.where(bits < 2, bits, 0), element_type)
    got = tensor(bits if element_type != "bool" else bits > 3, element_type)
    limit = np.full(wanted.shape, 0.5) if allowed else None
    picture = draw_picture(ExpectedOutput("Y", wanted, limit), got)
    different = int(np.count_nonzero(wanted.array != got.array))
    if not different:
        assert picture is None
        return
    assert picture is not None
    assert (picture.elements, picture.wrong) == (size, different)
    shown = sum(level > "1" for plane in picture.planes for level in plane.levels)
    assert 1 <= shown <= different
    if size <= WHOLE and max(shape, default=1) <= SIDE:
        assert shown == different
        assert sum(len(plane.levels) for plane in picture.planes) == size
    for plane in picture.planes:
        lengths = {
            len(each) for each in (plane.levels, plane.expected, plane.got, plane.apart, plane.allowed)
        }
        assert lengths == {plane.rows * plane.columns}


def test_a_tensor_without_axes_has_one_element() -> None:
    picture = draw_picture(ExpectedOutput("Y", tensor(1.0, "float")), tensor(2.0, "float"))
    assert picture is not None
    assert picture.shape == ()
    assert picture.planes[0].levels == "5"
