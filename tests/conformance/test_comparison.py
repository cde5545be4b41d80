"""Comparing outputs, against a scalar oracle that knows nothing of arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from conformance.judging.output_comparison import compare_output
from conformance.judging.patterns.elements import ulp_distance
from conformance.suite.cases import Alternative, ExpectedOutput
from conformance.suite.values import decode_floats
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor, tensor
from tests.conformance.oracle import (
    expectations_near,
    near_copies,
    oracle_ratio,
    oracle_wrong,
    value_of,
)
from tests.conformance.test_suites import tensors

ALL = st.sampled_from(list(ELEMENT_TYPES.values()))


@pytest.mark.slow
@given(st.data())
@settings(max_examples=400)
def test_elements_are_right_or_wrong_as_the_oracle_says(data: st.DataObject) -> None:
    element_type = data.draw(ALL)
    wanted = data.draw(tensors(element_type))
    assume(wanted.array.size > 0)
    got = data.draw(near_copies(wanted))
    expected = data.draw(expectations_near(wanted, got))
    found = compare_output(expected, got)
    wrong = oracle_wrong(expected, got)
    assert found.wrong_elements == len(wrong)
    assert (found.difference is None) == (not wrong)
    if not wrong:
        assert found.wrong is None
        return
    assert found.wrong is not None
    assert np.flatnonzero(found.wrong).tolist() == wrong
    assert found.worst is not None
    place = int(np.ravel_multi_index(found.worst.index, wanted.shape))
    assert place in wrong
    if expected.allowed is not None:
        ratios = {}
        for each in wrong:
            left, right = (value_of(element_type, one.array.reshape(-1)[each]) for one in (got, wanted))
            limit = float(expected.allowed.reshape(-1)[each])
            ratios[each] = oracle_ratio(element_type.kind, left, right, limit)
        assert ratios[place] >= max(ratios.values()) * (1 - 1e-9) or math.isinf(max(ratios.values()))
        if found.worst.ratio is not None:
            assert found.worst.ratio == pytest.approx(ratios[place], rel=1e-9)


@given(st.data())
def test_blocks_do_not_show(data: st.DataObject) -> None:
    """Elements beyond the first block are judged as those in it are."""
    count = data.draw(st.sampled_from([1 << 15, (1 << 15) + 1, (1 << 16) + 77]))
    places = data.draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=4, unique=True))
    wanted = np.zeros(count, dtype=np.float32)
    got = wanted.copy()
    for step, place in enumerate(places, start=1):
        got[place] = step
    allowed = np.full(count, 0.25) if data.draw(st.booleans()) else None
    found = compare_output(ExpectedOutput("Y", tensor(wanted), allowed), tensor(got))
    assert found.wrong is not None
    assert np.flatnonzero(found.wrong).tolist() == sorted(places)
    assert found.worst is not None
    assert (found.worst.index, found.worst.got) == ((places[-1],), float(len(places)))
    assert found.worst.ratio == (None if allowed is None else 4.0 * len(places))


@given(st.data())
def test_equal_tensors_have_the_same_bits(data: st.DataObject) -> None:
    wanted = data.draw(tensors())
    found = compare_output(ExpectedOutput("Y", wanted), Tensor(wanted.element_type, wanted.array.copy()))
    assert (found.difference, found.same_bits, found.worst) == (None, True, None)


@pytest.mark.parametrize(
    "name", ["float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "float16"]
)
def test_ulps_count_the_numbers_between(name: str) -> None:
    element_type = ELEMENT_TYPES[name]
    unsigned = f"u{element_type.bits // 8}"
    every = np.arange(1 << element_type.bits).astype(unsigned).view(element_type.storage)
    values = decode_floats(element_type, every)
    numbers = {value: rank for rank, value in enumerate(sorted(set(values[~np.isnan(values)].tolist())))}
    source = np.random.default_rng(1)
    for first, second in source.integers(0, every.size, (500, 2)):
        found = ulp_distance(element_type, every[first], every[second])
        if math.isnan(values[first]) or math.isnan(values[second]):
            assert found is None
        else:
            assert found == abs(numbers[float(values[first])] - numbers[float(values[second])])


@given(st.data())
def test_the_ulps_of_right_elements_are_those_of_the_one_that_is_farthest_off(data: st.DataObject) -> None:
    element_type = data.draw(st.sampled_from([each for each in ELEMENT_TYPES.values() if each.is_float]))
    wanted = data.draw(tensors(element_type))
    assume(wanted.array.size > 0)
    got = data.draw(near_copies(wanted))
    limit = data.draw(st.sampled_from([0.0, 1e-3, 1.0, 1e30, math.inf]))
    expected = ExpectedOutput("Y", wanted, np.full(wanted.shape, limit))
    wrong = set(oracle_wrong(expected, got))
    pairs = zip(got.array.reshape(-1), wanted.array.reshape(-1), strict=True)
    steps = [ulp_distance(element_type, *pair) for place, pair in enumerate(pairs) if place not in wrong]
    assert compare_output(expected, got).ulps == max((step for step in steps if step is not None), default=0)


@pytest.mark.parametrize("storage", [np.float32, np.float64])
def test_ulps_count_steps_through_zero_and_to_infinity(storage: Any) -> None:
    element_type = tensor(np.zeros(1, dtype=storage)).element_type
    facts: Any = np.finfo(storage)
    for start, steps in ((1.0, 5), (-3 * facts.smallest_subnormal, 7), (facts.max - facts.max / 4, 3)):
        reached = storage(start)
        for _ in range(steps):
            reached = np.nextafter(reached, storage(np.inf))
        assert ulp_distance(element_type, reached, storage(start)) == steps
    assert ulp_distance(element_type, storage(-0.0), storage(0.0)) == 0
    assert ulp_distance(ELEMENT_TYPES["int32"], np.int32(1), np.int32(2)) is None
    assert ulp_distance(element_type, storage(np.inf), facts.max) == 1
    far = ulp_distance(element_type, storage(np.inf), storage(0))
    assert far is not None
    assert ulp_distance(element_type, storage(np.inf), storage(-np.inf)) == 2 * far


def test_ulps_of_complex_elements_are_those_of_the_worse_component() -> None:
    one, step = np.float32(1), np.nextafter(np.float32(1), np.float32(2))
    got = tensor(np.array([complex(step, 1)], dtype=np.complex64))
    wanted = tensor(np.array([complex(one, 1)], dtype=np.complex64))
    worst = compare_output(ExpectedOutput("Y", wanted), got).worst
    assert worst is not None
    assert worst.ulps == 1


def test_a_distance_that_rounds_to_the_allowance_is_decided_exactly() -> None:
    # 1 + 2**-60 is no double: the distance rounds to 1, and is more than 1.
    wanted = tensor(np.array([-(2.0**-60)]), "double")
    got = tensor(np.array([1.0]), "double")
    assert compare_output(ExpectedOutput("Y", wanted, np.array([1.0])), got).difference == "value"
    assert (
        compare_output(ExpectedOutput("Y", wanted, np.array([math.nextafter(1.0, 2)])), got).difference
        is None
    )


def test_64_bit_integers_are_compared_beyond_2_to_53() -> None:
    wanted, got = (tensor(np.array([2**63 - each], dtype=np.uint64), "uint64") for each in (0, 1))
    assert compare_output(ExpectedOutput("Y", wanted), got).difference == "value"
    assert compare_output(ExpectedOutput("Y", wanted, np.array([1.0])), got).difference is None
    lowest = tensor(np.array([-(2**63)], dtype=np.int64), "int64")
    highest = tensor(np.array([2**63 - 1], dtype=np.int64), "int64")
    limit = np.array([math.nextafter(2.0**64, 0)])
    assert compare_output(ExpectedOutput("Y", lowest, limit), highest).difference == "value"
    assert compare_output(ExpectedOutput("Y", lowest, np.array([2.0**64])), highest).difference is None


@pytest.mark.parametrize("name", ["float", "double", "float16"])
def test_the_sign_of_zero_and_nan_count_where_bits_are_asked(name: str) -> None:
    storage: Any = ELEMENT_TYPES[name].storage
    zero, minus, nan = (tensor(np.array([each], dtype=storage), name) for each in (0.0, -0.0, math.nan))
    other_nan = Tensor(nan.element_type, (nan.array.view(f"u{nan.array.dtype.itemsize}") ^ 1).view(storage))
    assert compare_output(ExpectedOutput("Y", zero), minus).difference == "value"
    found = compare_output(ExpectedOutput("Y", nan), other_nan)
    assert (found.difference, found.same_bits) == (None, False)
    assert compare_output(ExpectedOutput("Y", nan), zero).difference == "value"
    assert compare_output(ExpectedOutput("Y", zero, np.array([math.inf])), nan).difference is None


@pytest.mark.parametrize(
    ("got", "right"),
    [
        (complex(math.nan, 2.25), True),
        (complex(math.nan, 2.75), False),
        (complex(1.25, 2), True),
        (complex(math.inf, 2), False),
        (complex(7, 8.25), False),
        (complex(7, 8), True),
    ],
)
def test_a_part_that_is_as_expected_in_a_further_value_keeps_its_allowed_error(
    got: complex, right: bool
) -> None:
    further = Alternative(0, (complex(math.nan, 2), complex(7, 8)))
    expected = ExpectedOutput("Y", tensor([1 + 2j], "complex64"), np.array([0.5]), (further,))
    assert (compare_output(expected, tensor([got], "complex64")).difference is None) == right
