"""Numbers rounded all at once, against one ratio after another."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from reference.answers.rounding import round_floats
from reference.numbers.nearest_floats import nearest_floats, ratio_up
from reference.numbers.numbers import encode_bits, largest, layout_of, numbers, storage_of
from reference.numbers.rationals import Rationals
from reference.sums.sums import Sums

TYPES = [
    element_type
    for element_type in ELEMENT_TYPES.values()
    if element_type.is_float and element_type.layout is not None
]
FURTHEST = float(np.finfo(np.float64).max)
POWERS = (0, 24, 53, 149, 298, 1000, 1080, 2148)


@st.composite
def ratios(draw: st.DrawFn, element_type: ElementType) -> tuple[int, int]:
    """A ratio: any, or beside the middle of two numbers of the type, or beside its ends."""
    layout = element_type.layout
    assert layout is not None
    denominator = draw(
        st.one_of(st.sampled_from(POWERS).map(lambda each: 1 << each), st.integers(1, 1 << 40))
    )
    exponent = draw(
        st.one_of(
            st.integers(-70, 70),
            st.integers(layout.least_exponent - 3 - layout.precision, layout.least_exponent),
            st.integers(layout.greatest_exponent - 3, layout.greatest_exponent + 1),
        )
    )
    significand = draw(st.one_of(st.integers(0, 1 << layout.precision + 1), st.just(1 << layout.precision)))
    near = Fraction(2) ** (exponent - layout.precision) * significand * denominator
    numerator = draw(st.one_of(st.integers(0, 1 << 120), st.just(int(near))))
    numerator = max(numerator + draw(st.integers(-1, 1)), 0)
    return draw(st.sampled_from((1, -1))) * numerator, denominator


@st.composite
def arrays(draw: st.DrawFn) -> tuple[ElementType, list[tuple[int, int]]]:
    element_type = draw(st.sampled_from(TYPES))
    return element_type, draw(st.lists(ratios(element_type), min_size=1, max_size=4))


def as_rationals(pairs: list[tuple[int, int]]) -> Rationals:
    """Over one denominator where all have the same, as sums have."""
    numerator, denominator = np.empty(len(pairs), dtype=object), np.empty(len(pairs), dtype=object)
    numerator[:], denominator[:] = [pair for pair, _ in pairs], [pair for _, pair in pairs]
    if len({pair for _, pair in pairs}) == 1:
        denominator = np.array(pairs[0][1], dtype=object)
    return Rationals(numerator, denominator)


@given(arrays())
def test_each_is_rounded_as_one_alone(made: tuple[ElementType, list[tuple[int, int]]]) -> None:
    element_type, pairs = made
    found = nearest_floats(element_type, as_rationals(pairs))
    bits = np.array([encode_bits(element_type, *pair) for pair in pairs], dtype=np.uint64)
    assert found.bits.tolist() == bits.tolist()
    held = [float(number) for number in numbers(element_type, storage_of(element_type, bits))]
    assert np.array_equal(found.results, held, equal_nan=True)


@given(arrays())
def test_the_way_to_each_is_rounded_up_once(made: tuple[ElementType, list[tuple[int, int]]]) -> None:
    element_type, pairs = made
    found = nearest_floats(element_type, as_rationals(pairs))
    finite = np.isfinite(found.results)
    for apart, result, pair, chosen in zip(found.moved(finite), found.results, pairs, finite, strict=True):
        if not chosen:
            assert apart == 0
            continue
        exact = abs(Fraction(*pair) - Fraction(float(result)))
        assert Fraction(float(apart)) >= exact
        assert apart == 0 or Fraction(float(np.nextafter(apart, 0.0))) < exact


@given(st.integers(0, 1 << 2200), st.integers(1, 1 << 2200))
def test_a_ratio_rounded_up_is_the_least_float_not_below(numerator: int, denominator: int) -> None:
    found, exact = ratio_up(numerator, denominator), Fraction(numerator, denominator)
    if np.isinf(found):
        assert exact > Fraction(float(np.finfo(np.float64).max))
        return
    assert Fraction(found) >= exact
    assert found == 0 or Fraction(float(np.nextafter(found, 0.0))) < exact


@given(
    st.sampled_from(["float", "float16", "bfloat16", "double"]).map(ELEMENT_TYPES.__getitem__),
    st.sampled_from([Fraction(each, 8) for each in (0, 1, 7, 8, 9, 24)]),
    st.sampled_from([0.0, 0.125, 0.875, 0.9999, 1.0]),
    st.sampled_from((1, -1)),
    st.booleans(),
)
def test_what_an_error_carries_beyond_the_greatest_number_may_be_infinite(
    kind: ElementType, share: Fraction, part: float, sign: int, lost: bool
) -> None:
    layout = layout_of(kind)
    top = largest(layout)
    step = Fraction(2) ** (layout.greatest_exponent - layout.precision + 1)
    value, error = sign * share * top, float(top) * part
    sums = Sums(Rationals.of([value]), np.array([error]))
    rounded = round_floats(kind, sums, np.array([lost]), flush=False)
    least, most = abs(value) - Fraction(error), abs(value) + Fraction(error)
    infinite = abs(value) >= top + step / 2
    direction = -1 if value < 0 else 1
    expected = [direction * math.inf] if not infinite and most >= top + step / 2 else []
    if infinite and top < least < top + step / 2:
        expected = [float(direction * top)]
    if anything := infinite and least <= top:
        expected = []
    elif lost:
        expected = list(dict.fromkeys([*expected, math.inf, -math.inf, math.nan]))
    stored = np.array(rounded.alternatives.get(0, ()), dtype=kind.storage)
    assert str([float(number) for number in numbers(kind, stored)]) == str(expected)
    # An error of the greatest float64, rounded up, is infinite in any case.
    assert bool(np.isinf(rounded.allowed[0])) == (anything or (not infinite and error >= FURTHEST))
