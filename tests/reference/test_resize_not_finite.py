"""What is not finite, or becomes so on the way: honest routes near the greatest number, and at infinities."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from conformance.judging.output_comparison import compare_output
from generator.asking.expectations import expected_output
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from reference.answers import OutsideDomain, UnstableLength
from reference.numbers.numbers import encode, largest, layout_of, numbers
from tests.reference.resize_by_loops import Call
from tests.reference.resize_calls import answer_to, calls
from tests.reference.resize_routes import F32, F64, ROUTES, HonestRoute, compute
from tests.reference.test_resize_types import floats, plain, resize

EXAMPLES = int(os.environ.get("OPCERT_EXAMPLES", "40"))
KINDS: dict[str, Any] = {"float": F32, "double": F64, "float16": F32, "bfloat16": F32}


def elements(call: Call, element_type: str) -> Tensor:
    kind = ELEMENT_TYPES[element_type]
    return Tensor(kind, encode(kind, call.data).reshape(call.shape))


def outcome(call: Call, X: Tensor, route: HonestRoute) -> Tensor:
    """What a route makes of X in the precision that it works in, rounded once more to X's type."""
    held: tuple[Any, ...] = tuple(float(number) for number in numbers(X.element_type, X.array))
    with np.errstate(all="ignore"):
        got: NDArray[Any] = compute(replace(call, data=held), route, KINDS[X.element_type.name])
    values = [float(each) for each in got.reshape(-1)]
    return Tensor(X.element_type, encode(X.element_type, values).reshape(got.shape))


def check_routes(call: Call, element_type: str) -> None:
    X = elements(call, element_type)
    try:
        expected = expected_output("Y", answer_to(call, X))
    except (OutsideDomain, UnstableLength):
        assume(False)
    for route in ROUTES:
        found = compare_output(expected, outcome(call, X, route))
        assert found.difference is None, f"{route.name} on {element_type}: {found.worst or found.difference}"


@st.composite
def near_the_greatest(draw: st.DrawFn) -> tuple[Call, str]:
    """Calls on numbers of both signs near the greatest of a type, among zeros and small ones."""
    element_type = draw(st.sampled_from(sorted(KINDS)))
    top = largest(layout_of(ELEMENT_TYPES[element_type]))
    share = st.sampled_from([Fraction(each) for each in (0, 1, -1)])
    near = st.integers(-64, 64).map(lambda parts: Fraction(parts, 64)) | share
    call = draw(calls(("linear", "cubic")))
    sizes = draw(st.lists(near, min_size=len(call.data), max_size=len(call.data)))
    return replace(call, data=tuple(size * top for size in sizes)), element_type


@pytest.mark.slow
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
@given(near_the_greatest())
def test_every_route_is_right_near_the_greatest_number(given_: tuple[Call, str]) -> None:
    check_routes(*given_)


@st.composite
def beside_infinities(draw: st.DrawFn) -> tuple[Call, str]:
    element_type = draw(st.sampled_from(sorted(KINDS)))
    call = draw(calls(("linear", "cubic")))
    special = st.sampled_from([0.0, 1.0, -2.5, math.inf, -math.inf, math.nan])
    data: Any = tuple(draw(st.lists(special, min_size=len(call.data), max_size=len(call.data))))
    return replace(call, data=data), element_type


@pytest.mark.slow
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
@given(beside_infinities())
def test_every_route_is_right_beside_infinities_and_nan(given_: tuple[Call, str]) -> None:
    check_routes(*given_)


@pytest.mark.parametrize("antialias", [0, 1])
@pytest.mark.parametrize("name", ["float", "double", "bfloat16"])
def test_what_an_overflow_along_one_axis_reaches_along_the_next_is_open(name: str, antialias: int) -> None:
    top = float(largest(layout_of(ELEMENT_TYPES[name])))
    column = Tensor(ELEMENT_TYPES[name], floats(-0.99 * top, 0, name=name).array.reshape(2, 1))
    answer = resize(column, scales=[1, 2], mode="cubic", antialias=antialias)
    # The weights of both signs lead the first row beyond; the second has it with weight 0.
    assert plain(answer)[2:] == [0, 0]
    for index in (2, 3):
        assert any(math.isnan(other) for other in others(answer, index))
    half = Tensor(ELEMENT_TYPES[name], floats(-0.5 * top, 0, name=name).array.reshape(2, 1))
    assert resize(half, scales=[1, 2], mode="cubic", antialias=antialias).alternatives is None


def others(answer: Any, index: int) -> list[float]:
    kind = answer.expected.element_type
    found = np.array((answer.alternatives or {}).get(index, ()), kind.storage)
    return [float(number) for number in numbers(kind, found)]


def test_float16_overflows_in_the_result_alone() -> None:
    column = Tensor(ELEMENT_TYPES["float16"], floats(-65000, 0, name="float16").array.reshape(2, 1))
    assert resize(column, scales=[1, 2], mode="cubic").alternatives is None


def test_a_difference_of_numbers_of_both_signs_may_overflow() -> None:
    top = float(largest(layout_of(ELEMENT_TYPES["float"])))
    apart = resize(floats(top, -top, 1, 2), sizes=[8], mode="linear")
    assert any(math.isinf(other) for other in others(apart, 1))
    assert all(math.isfinite(number) for number in plain(apart))
    alike = resize(floats(0.9 * top, 0.8 * top, 1, 2), sizes=[8], mode="linear")
    assert alike.alternatives is None


def test_an_infinity_that_a_route_takes_from_itself_may_be_nan() -> None:
    answer = resize(floats(math.inf, 1, 2), scales=[2], mode="linear")
    assert plain(answer)[:3] == [math.inf] * 3
    assert any(math.isnan(other) for other in others(answer, 1))
    behind = resize(
        floats(1, math.inf), sizes=[3], mode="linear", coordinate_transformation_mode="align_corners"
    )
    assert plain(behind)[1] == math.inf
    # The middle lies behind 1 and before the infinity: 1 + t (infinity - 1).
    assert others(behind, 1) == []


def test_a_weight_that_is_set_to_zero_makes_nan_of_an_infinity() -> None:
    x = floats(math.inf, 1, 2, 3, 4, 5)
    left_out = resize(x, scales=[2], mode="cubic", exclude_outside=1)
    assert plain(left_out)[0] == math.inf
    assert any(math.isnan(other) for other in others(left_out, 0))
    # Here the infinity is too far to be weighed at all.
    assert (left_out.alternatives or {}).get(9) is None
