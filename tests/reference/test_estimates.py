"""Estimates hold what float32 arithmetic makes of a formula, however it goes about it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opcert.vocabulary.element_types import BINARY32, ELEMENT_TYPES
from reference.numbers.estimates import Estimate, hull
from reference.numbers.numbers import decode
from reference.numbers.rationals import Rationals
from reference.shared.interpolation.kernels import cubic, linear
from reference.sums.sums import weighted_sums
from reference.sums.weights import AxisWeights

F32 = np.float32
SMALL = st.one_of(
    st.integers(-9, 9).map(float), st.floats(-100, 100, width=32).filter(lambda x: abs(x) > 1e-3)
)


def exact(value: float) -> Estimate:
    return Estimate.exact(Fraction(float(F32(value))))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("+-*/%"), SMALL), min_size=1, max_size=6), SMALL)
def test_a_chain_of_operations_stays_inside(steps: list[tuple[str, float]], start: float) -> None:
    estimate, single, precise = exact(start), F32(start), Fraction(float(F32(start)))
    for operation, operand in steps:
        other, fraction = F32(operand), Fraction(float(F32(operand)))
        match operation:
            case "+":
                estimate, single, precise = estimate + exact(operand), single + other, precise + fraction
            case "-":
                estimate, single, precise = estimate - exact(operand), single - other, precise - fraction
            case "*":
                estimate, single, precise = estimate * exact(operand), single * other, precise * fraction
            case _ if fraction != 0:
                # % stands for the quotient by multiplication with the reciprocal.
                single = single / other if operation == "/" else single * (F32(1) / other)
                estimate, precise = estimate / exact(operand), precise / fraction
    assert estimate.value.fractions() == [precise]
    assert abs(Fraction(float(single)) - precise) <= Fraction(float(estimate.error))
    if estimate.is_exact:
        assert Fraction(float(single)) == precise


@settings(max_examples=100, deadline=None)
@given(st.lists(SMALL, min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_a_sum_stays_inside_in_any_order(terms: list[float], random: Any) -> None:
    values = [Fraction(float(F32(term))) for term in terms]
    estimate = Estimate.exact(values).total(axis=0)
    random.shuffle(terms)
    single = F32(0)
    for term in terms:
        single = single + F32(term)
    assert abs(Fraction(float(single)) - sum(values)) <= Fraction(float(estimate.error[0]))


def test_shared_errors_cancel() -> None:
    coordinate = (Estimate.exact(7) / 3).tied()
    assert float(coordinate.error) > 0
    difference = (coordinate - 2) - (coordinate - 1)
    # Only the three subtractions' own roundings are left of it.
    assert float(difference.error) < float(coordinate.error)
    assert float(np.abs(difference.shared)) == 0


def test_what_every_route_computes_exactly_has_no_error() -> None:
    x = Estimate.exact([[Fraction(1, 4), Fraction(3)]])
    assert ((x + Fraction(1, 2)) / 2 - Fraction(1, 2)).is_exact.all()
    assert not (x / 3).is_exact.any()
    # The quotient 6 / 3 is exact, and its reciprocal route is not.
    assert not (Estimate.exact(6) / 3).is_exact
    assert Estimate.exact(6).divide_once(3).is_exact


def test_a_divisor_that_may_be_zero_makes_the_error_infinite() -> None:
    doubtful = Estimate(Rationals.of(Fraction(1, 10**6)), np.array(0.0), np.array(1e-3))
    assert np.isinf((Estimate.exact(1) / doubtful).error)


def test_numbers_that_do_not_fit_are_rounded_once() -> None:
    third = Estimate.held(Fraction(1, 3))
    assert (
        abs(Fraction(float(F32(1 / 3))) - Fraction(1, 3)) <= Fraction(float(third.error)) < Fraction(1, 10**7)
    )
    assert Estimate.held(Fraction(1, 4)).is_exact


def test_hull_spans_the_pieces_that_may_be_reached() -> None:
    one, three = Estimate.exact([1, 1]), Estimate.exact([3, 3])
    here, there = np.array([True, True]), np.array([True, False])
    got = hull([(here, here, one), (~here, there, three)])
    assert got.value.fractions() == [1, 1]
    assert got.error[0] >= 2
    assert got.is_exact.tolist() == [False, True]


@settings(max_examples=200, deadline=None)
@given(st.fractions(-3, 3, max_denominator=40), st.floats(-1, 1), st.sampled_from([-0.75, -0.5, -0.3]))
def test_kernels_hold_for_every_coordinate_in_doubt(distance: Fraction, where: float, a: float) -> None:
    slack = 2.0**-20
    doubtful = Estimate(Rationals.of([distance]), np.array([slack]), np.zeros(1))
    at = F32(abs(float(distance) + where * slack))
    parameter = F32(a)
    hat = max(F32(0), F32(1) - at)
    if at <= 1:
        keys = ((parameter + F32(2)) * at - (parameter + F32(3))) * at * at + F32(1)
    elif at < 2:
        keys = ((parameter * at - F32(5) * parameter) * at + F32(8) * parameter) * at - F32(4) * parameter
    else:
        keys = F32(0)
    exact_a = Fraction(float(parameter))
    for estimate, got in ((linear(doubtful), hat), (cubic(doubtful, exact_a), keys)):
        apart = abs(Fraction(float(got)) - estimate.value.fractions()[0])
        # `at` itself was rounded, by less than 2**-22, and no kernel is steeper than 3.
        assert float(apart) <= float(estimate.error[0]) + 3 * 2.0**-22


def plain_weights(rows: list[list[Fraction]]) -> AxisWeights:
    """Weights without errors, one tap on each element."""
    value = Rationals.of(rows)
    floats = value.floats()
    nothing = np.zeros(floats.shape)
    used = floats != 0
    return AxisWeights(
        value,
        np.abs(floats),
        nothing,
        nothing,
        np.count_nonzero(used, axis=1),
        np.minimum(Estimate.exact(value).value.each(lambda n, d: 1 / d, np.float64).min(axis=1), 1.0),
        used,
        np.sign(floats).astype(np.int8),
        np.zeros(floats.shape, bool),
    )


@pytest.mark.parametrize(("span", "is_exact"), [(2.0**10, True), (2.0**24, False)])
def test_sums_are_exact_where_the_significand_holds_every_partial_sum(span: float, is_exact: bool) -> None:
    data = decode(ELEMENT_TYPES["float"], np.array([1, 3, span], F32))
    weights = plain_weights([[Fraction(1, 4), Fraction(1, 2), Fraction(1, 4)]])
    sums = weighted_sums(data, [(0, weights)], BINARY32, direct=1, flush=False)
    assert sums.value.fractions() == [Fraction(1, 4) + Fraction(3, 2) + Fraction(span) / 4]
    assert bool(sums.error[0] == 0) == is_exact


def test_a_copy_has_no_error_and_a_sum_of_zeros_has_none() -> None:
    data = decode(ELEMENT_TYPES["float"], np.array([0.1, 1e30, 0], F32))
    weights = plain_weights(
        [[Fraction(1), Fraction(0), Fraction(0)], [Fraction(0), Fraction(0), Fraction(1)]]
    )
    sums = weighted_sums(data, [(0, weights)], BINARY32, direct=1, flush=False)
    assert sums.error.tolist() == [0, 0]
