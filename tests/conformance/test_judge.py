"""The judge against a scalar oracle that knows nothing of arrays, and its verdicts one by one."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from conformance.cases import Alternative, Expectation, ExpectedOutput
from conformance.comparison import compare_output
from conformance.judge import FAILING, VERDICTS, Judgement, judge, worst_verdict
from conformance.responses import (
    Answered,
    Crashed,
    HarnessFailed,
    NotOffered,
    NotTensor,
    Refused,
    Response,
    TimedOut,
)
from conformance.values import decode_floats, element_to_json
from opcert.element_types import ELEMENT_TYPES, ElementType
from opcert.tensors import Tensor, tensor
from tests.conformance.samples import expect, make_case, sample
from tests.conformance.test_suites import tensors


def value_of(element_type: ElementType, element: Any) -> Any:
    """One element as Python has it, without numpy: a float, an int, a pair, bytes."""
    if element_type.is_float:
        return float(decode_floats(element_type, np.array([element], dtype=element_type.storage))[0])
    if element_type.kind == "complex":
        return float(element.real), float(element.imag)
    return element if element_type.kind == "string" else int(element)


def oracle_same(kind: str, got: Any, expected: Any) -> bool:
    if kind == "complex":
        return all(oracle_same("float", left, right) for left, right in zip(got, expected, strict=True))
    if kind == "float":
        if math.isnan(got) or math.isnan(expected):
            return math.isnan(got) and math.isnan(expected)
        return bool(got == expected and math.copysign(1, got) == math.copysign(1, expected))
    return bool(got == expected)


def oracle_near(kind: str, got: Any, expected: Any, allowed: float) -> bool:
    if math.isinf(allowed) or oracle_same(kind, got, expected):
        return True
    if kind == "complex":
        return all(
            oracle_near("float", left, right, allowed) for left, right in zip(got, expected, strict=True)
        )
    if kind in ("string", "bool"):
        return False
    if kind == "float" and not (math.isfinite(got) and math.isfinite(expected)):
        return False
    return abs(Fraction(got) - Fraction(expected)) <= Fraction(allowed)


@given(st.data())
@settings(max_examples=300)
def test_elements_are_right_or_wrong_as_the_oracle_says(data: st.DataObject) -> None:
    element_type = data.draw(st.sampled_from(list(ELEMENT_TYPES.values())))
    expected = data.draw(tensors(element_type))
    size = int(expected.array.size)
    assume(size > 0)
    got = data.draw(near_copies(expected))
    allowed = data.draw(st.none() | st.just("drawn"))
    bounds = None
    if allowed is not None:
        bounds = np.array([data.draw(allowances(element_type, got, expected, each)) for each in range(size)])
        bounds = bounds.reshape(expected.shape)
    index = data.draw(st.integers(0, size - 1))
    alternatives = data.draw(
        st.sampled_from(
            [(), (Alternative(index, (got.array.reshape(-1)[data.draw(st.integers(0, size - 1))],)),)]
        )
    )
    found = compare_output(ExpectedOutput("Y", expected, bounds, alternatives), got)
    wrong = []
    for position in range(size):
        left, right = (value_of(element_type, each.array.reshape(-1)[position]) for each in (got, expected))
        limit = 0.0 if bounds is None else float(bounds.reshape(-1)[position])
        fine = (
            oracle_same(element_type.kind, left, right)
            if bounds is None
            else oracle_near(element_type.kind, left, right, limit)
        )
        for each in alternatives:
            if each.index == position:
                fine = fine or oracle_same(element_type.kind, left, value_of(element_type, each.values[0]))
        if not fine:
            wrong.append(position)
    assert found.wrong_elements == len(wrong)
    assert (found.difference is None) == (not wrong)
    if wrong:
        assert found.worst is not None
        assert int(np.ravel_multi_index(found.worst.index, expected.shape)) in wrong
        assert found.worst.ratio is None or found.worst.ratio > 1 - 1e-9


@st.composite
def near_copies(draw: st.DrawFn, original: Tensor) -> Tensor:
    """The tensor with a few elements changed a little or altogether."""
    element_type = original.element_type
    flat = original.array.reshape(-1).copy()
    for _ in range(draw(st.integers(0, 3))):
        position = draw(st.integers(0, flat.size - 1))
        if element_type.kind == "string":
            flat[position] = flat[position] + b"!"
        elif element_type.kind == "bool":
            flat[position] = not flat[position]
        elif element_type.kind == "complex":
            flat[position] = 1j * flat[position].imag + np.nextafter(flat[position].real, np.float32(7))
        elif element_type.is_integer:
            low, high = element_type.integer_range
            flat[position] = min(max(int(flat[position]) + draw(st.integers(-3, 3)), low), high)
        else:
            unsigned = flat.view(f"u{flat.dtype.itemsize}")
            unsigned[position] ^= draw(st.sampled_from([1, 2, 1 << (element_type.bits - 1), 3]))
    return Tensor(element_type, flat.reshape(original.shape))


def allowances(
    element_type: ElementType, got: Tensor, expected: Tensor, position: int
) -> st.SearchStrategy[float]:
    """Bounds around the very distance of an element, where decisions are made."""
    left, right = (value_of(element_type, each.array.reshape(-1)[position]) for each in (got, expected))
    base = 1.0
    if element_type.is_float and math.isfinite(left) and math.isfinite(right):
        base = abs(left - right)
    elif element_type.is_integer:
        base = float(abs(left - right))
    near = [base, math.nextafter(base, math.inf), math.nextafter(base, 0.0), 0.0, math.inf]
    return st.sampled_from([each for each in near if each >= 0 and not math.isnan(each)])


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


def verdict(response: Response, demand: Any = "answer", **more: Any) -> Judgement:
    return judge(make_case(seed=1, demand=demand), response, **more)


RIGHT = Answered((sample(1),))
REFUSED = Refused("RuntimeError", "no\nreason")


def test_every_kind_of_response_has_its_verdict() -> None:
    assert verdict(RIGHT).verdict == "pass"
    assert verdict(Answered((sample(2),))).verdict == "mismatch"
    assert verdict(Answered((NotTensor("int", "5"),))).verdict == "mismatch"
    assert verdict(REFUSED).verdict == "rejected_valid"
    assert verdict(Refused("NotImplemented", "", unsupported="NotImplemented: it")).verdict == "unsupported"
    assert verdict(NotOffered("not here")).verdict == "unsupported"
    assert verdict(RIGHT, "refuse").verdict == "accepted_invalid"
    assert verdict(REFUSED, "refuse").verdict == "pass"
    assert verdict(REFUSED, "refuse", valid_case_answered=False).verdict == "unsupported"
    assert verdict(RIGHT, "survive").verdict == "observed"
    assert verdict(REFUSED, "survive").verdict == "observed"
    for demand in ("answer", "refuse", "survive"):
        assert verdict(Crashed("killed by SIGSEGV"), demand).verdict == "crash"
        assert verdict(TimedOut(20, "run"), demand).verdict == "timeout"
        assert verdict(HarnessFailed("ours"), demand).verdict == "harness_error"


def test_any_expectation_that_matches_makes_a_pass_and_names_its_options() -> None:
    first, second = sample(1), sample(2)
    case = make_case(
        seed=1,
        expectations=(
            expect(first, ties="up", edge="in"),
            expect(second, ties="even", edge="in"),
            expect(first, ties="down", edge="in"),
        ),
    )
    found = judge(case, Answered((first,)))
    assert found.verdict == "pass"
    assert found.readings == {"edge": ("in",), "ties": ("up", "down")}
    assert found.matched == (0,)
    assert judge(case, Answered((second,))).matched == (1,)
    wrong = judge(case, Answered((sample(3),)))
    assert (wrong.verdict, wrong.readings) == ("mismatch", {})


def test_a_mismatch_is_described_against_the_closest_expectation() -> None:
    near, far = sample(1), sample(1, (3, 2))
    case = make_case(seed=1, expectations=(expect(far, order="b"), expect(near, order="a")))
    got = near.array.copy()
    got[1, 1] += 1
    found = judge(case, Answered((Tensor(near.element_type, got),)))
    assert (found.expectation, found.difference, found.wrong) == (1, "value", 1)
    assert found.reason == "1 of 6 elements wrong; worst Y[1, 1]: got 5.125, expected 4.125"


def test_a_behaviour_is_named() -> None:
    expectation = Expectation((ExpectedOutput("Y", sample(1)),), {}, {"flush": ("yes", "no")})
    found = judge(make_case(seed=1, expectations=(expectation,)), RIGHT)
    assert found.behaviour == "flush: yes or no"


def test_the_worst_element_is_measured_in_its_own_allowance() -> None:
    wanted = tensor(np.array([100.0, 1.0, 0.0], dtype=np.float32))
    got = tensor(np.array([101.0, 1.5, 0.0], dtype=np.float32))
    case = make_case(given=wanted, expectations=(expect(wanted, np.array([0.5, 0.125, 0.0])),))
    worst = judge(case, Answered((got,))).worst
    assert worst is not None
    assert (worst.index, worst.ratio, worst.allowed) == ((1,), 4.0, 0.125)
    almost = tensor(np.array([100.25, 1.0, 0.0], dtype=np.float32))
    passed = judge(case, Answered((almost,)))
    assert passed.verdict == "pass"
    assert passed.worst is not None
    assert passed.worst.ratio == 0.5


@pytest.mark.parametrize(
    ("change", "pattern"),
    [
        (lambda array: array + 1, "every element is off by 1.0"),
        (lambda array: array[::-1].copy(), "the expected output reversed along axis 0"),
        (lambda array: np.roll(array, 1, 1), "the expected output shifted by one towards the end of axis 1"),
        (
            lambda array: np.roll(array, -1, 0),
            "the expected output shifted by one towards the start of axis 0",
        ),
        (lambda array: array.T.copy(), "the expected output with its axes in the order [1, 0]"),
        (lambda array: array * 0, "all elements are zero"),
        (lambda array: array * 0 + 9, "all elements are the same"),
        (
            lambda array: np.where(np.pad(np.ones((2, 2)), 1) == 1, array, array * 3 + 1).astype(np.float32),
            "wrong only at the border",
        ),
        (lambda array: array * array, None),
    ],
)
def test_simple_patterns_are_named(change: Any, pattern: str | None) -> None:
    wanted = tensor(sample(1, (4, 4)).array ** 2)
    case = make_case(given=sample(9), expectations=(expect(wanted),))
    found = judge(case, Answered((tensor(change(wanted.array), "float"),)))
    assert (found.verdict, found.pattern) == ("mismatch", pattern)


def test_an_output_that_is_an_input_is_said_to_be() -> None:
    case = make_case(seed=1, expectations=(expect(sample(2, (4,))),))
    assert judge(case, RIGHT).pattern == "equals the input X"


def test_the_worst_of_several_verdicts_is_a_failing_one() -> None:
    for each in VERDICTS:
        assert worst_verdict([each]) == each
        if each in FAILING:
            assert worst_verdict(["pass", each, "unsupported"]) == each


@pytest.mark.parametrize(
    ("name", "storage", "printed"),
    [
        ("float", np.float32(0.1), 0.1),
        ("double", np.float64(math.inf), "Infinity"),
        ("float16", np.float16(math.nan), "NaN"),
        ("bfloat16", np.uint16(0x3F80), 1.0),
        ("float8e4m3fn", np.uint8(0x7F), "NaN"),
        ("float8e5m2", np.uint8(0xFC), "-Infinity"),
        ("int64", np.int64(2**60), str(2**60)),
        ("int8", np.int8(-5), -5),
        ("bool", np.bool_(True), True),
        ("string", b"\xffa", "\\xffa"),
        ("complex64", np.complex64(1 - 2j), [1.0, -2.0]),
    ],
)
def test_elements_are_printed_as_json_has_them(name: str, storage: Any, printed: Any) -> None:
    assert element_to_json(ELEMENT_TYPES[name], storage) == printed


def test_small_floats_are_decoded_as_ml_dtypes_has_them() -> None:
    import ml_dtypes

    for name, theirs in {
        "float8e4m3fn": ml_dtypes.float8_e4m3fn,
        "float8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
        "float8e5m2": ml_dtypes.float8_e5m2,
        "float8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    }.items():
        every = np.arange(256, dtype=np.uint8)
        ours = decode_floats(ELEMENT_TYPES[name], every)
        np.testing.assert_array_equal(ours, every.view(theirs).astype(np.float64))
    bits = np.arange(65536).astype(np.uint16)
    with np.errstate(invalid="ignore"):
        wanted = bits.view(ml_dtypes.bfloat16).astype(np.float64)
    np.testing.assert_array_equal(decode_floats(ELEMENT_TYPES["bfloat16"], bits), wanted)
