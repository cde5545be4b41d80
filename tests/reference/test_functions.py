"""Elementary functions against mpmath, the C library's special values, and programs that compute them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped] # ships no types
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import tensor
from reference.answers import Answer
from reference.answers.number_answers import answer_of
from reference.functions.functions import FUNCTIONS, function_of
from reference.numbers.enclosures import nearest_value
from reference.numbers.number_arrays import Numbers
from reference.numbers.rationals import Rationals
from reference.numbers.working import Working
from reference.readings.choices import Choice
from reference.registry import find_operator
from tests.generator.declared import newest_operators
from tests.reference.test_number_arrays import accepted

Array = NDArray[Any]
C_LIBRARY: dict[str, Callable[[Array], Array]] = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atanh": np.arctanh,
    "cos": np.cos,
    "cosh": np.cosh,
    "erf": np.vectorize(math.erf, otypes=[np.float64]),
    "erfc": np.vectorize(math.erfc, otypes=[np.float64]),
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "sin": np.sin,
    "sinh": np.sinh,
    "tan": np.tan,
    "tanh": np.tanh,
}
OPERATORS = {
    **{name: name.capitalize() for name in FUNCTIONS},
    "sigmoid": "Sigmoid",
}
NEWEST = {
    newest_operator.name: newest_operator
    for newest_operator in newest_operators()
    if newest_operator.domain == "ai.onnx"
}
DOUBLES = Working(ELEMENT_TYPES["double"])
SPECIAL = (0.0, -0.0, 1.0, -1.0, 1.5, -1.5, math.inf, -math.inf, math.nan)


def evaluate(name: str, data: Array, **readings: str) -> Answer:
    """What the reference of the function's operator answers, or the function itself where it has none."""
    if OPERATORS[name] not in NEWEST:
        return answer_of(function_of(name, Numbers.of(tensor(data))), Choice("wrap"))
    operator = find_operator(NEWEST[OPERATORS[name]])
    (given_name,) = operator.inputs
    return operator.evaluate({}, {given_name: tensor(data)}, readings)[0]


def by_mpmath(name: str, value: float) -> Any:
    """The function at a number, by an independent library, with 400 bits; None where it has no real value."""
    with mpmath.workprec(400):
        number = mpmath.mpf(value)
        found = 1 / (1 + mpmath.exp(-number)) if name == "sigmoid" else getattr(mpmath, name)(number)
        return found if isinstance(found, mpmath.mpf) and mpmath.isfinite(found) else None


def arguments(name: str, count: int = 300) -> Array:
    """Numbers of many magnitudes, some inside every domain."""
    draw = np.random.default_rng(sorted(OPERATORS).index(name))
    return np.concatenate(
        [
            draw.uniform(-1, 1, count),
            draw.normal(0, 8, count),
            10.0 ** draw.uniform(-20, 6, count) * draw.choice([-1, 1], count),
            1 + 10.0 ** draw.uniform(-6, 3, count),
        ]
    )


def inside(answer: Answer, got: Array) -> NDArray[np.bool_]:
    """Which elements are accepted, the alternatives among them."""
    expected = np.asarray(answer.expected.array, np.float64).reshape(-1)
    assert answer.allowed is not None
    with np.errstate(invalid="ignore"):
        near = np.abs(got.reshape(-1).astype(np.float64) - expected) <= answer.allowed.reshape(-1)
    same = (got.reshape(-1) == expected) | (np.isnan(got.reshape(-1)) & np.isnan(expected))
    for index, values in (answer.alternatives or {}).items():
        near[index] |= any(float(got.reshape(-1)[index]) == float(value) for value in values)
    return np.asarray(near | same)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("name", OPERATORS)
def test_values_are_those_of_mpmath_rounded_once(name: str, kind: type) -> None:
    data: Array = arguments(name).astype(kind)
    found = evaluate(name, data).expected.array
    compared = 0
    for value, got in zip(data.tolist(), found.tolist(), strict=True):
        exact = by_mpmath(name, value)
        if exact is not None:
            with mpmath.workprec(24 if kind is np.float32 else 53), np.errstate(over="ignore"):
                wanted = kind(float(+exact))
            if abs(wanted) > np.finfo(kind).tiny:
                assert got == wanted, (name, value)
                compared += 1
    assert compared > 200


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_no_number_and_zeros_are_as_in_the_c_library(name: str) -> None:
    data = np.array(SPECIAL)
    found = evaluate(name, data).expected.array
    with np.errstate(all="ignore"):
        wanted = C_LIBRARY[name](data)
    for value, got, right in zip(SPECIAL, found.tolist(), wanted.tolist(), strict=True):
        assert got == pytest.approx(right, rel=1e-14, abs=0, nan_ok=True), (name, value)
        assert math.copysign(1, got) == math.copysign(1, right) or math.isnan(right), (name, value)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_c_library_is_inside_its_allowance(name: str, kind: type) -> None:
    data: Array = arguments(name).astype(kind)
    with np.errstate(all="ignore"):
        got: Array = C_LIBRARY[name](data).astype(kind)
    assert inside(evaluate(name, data), got).all()


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_the_formula_of_sigmoid_as_it_is_written_is_inside(kind: type) -> None:
    data: Array = np.linspace(-120, 120, 2000).astype(kind)
    with np.errstate(all="ignore"):
        got = kind(1) / (kind(1) + np.exp(-data))
    flushed = evaluate("sigmoid", data, subnormals="flushed", accumulation_type="input")
    kept = evaluate("sigmoid", data, accumulation_type="input")
    assert (inside(flushed, got) | inside(kept, got)).all()


def table_of_12_bits(x: Array) -> Array:
    with np.errstate(over="ignore"):
        return np.exp(np.round(x * 4096) / 4096)


def error_function_by_tanh(x: Array) -> Array:
    return np.asarray(np.tanh(np.sqrt(4 / np.pi) * (x + 0.08949129 * x**3)))


def sigmoid_cut_off(x: Array) -> Array:
    with np.errstate(over="ignore"):
        return np.where(x < -18, 0.0, 1 / (1 + np.exp(-x)))


def sigmoid_by_tanh(x: Array) -> Array:
    return np.asarray((np.tanh(x / 2).astype(np.float32) + np.float32(1)) / np.float32(2))


def sine_of_short_pi(x: Array) -> Array:
    pi = np.float64(np.float32(np.pi))
    return np.sin(x - np.round(x / (2 * pi)) * 2 * pi)


def logarithm_by_two(x: Array) -> Array:
    with np.errstate(all="ignore"):
        return np.log2(x) * np.float64(np.float16(np.log(2)))


@pytest.mark.parametrize(
    ("name", "program", "least"),
    [
        ("exp", table_of_12_bits, 100),
        ("erf", error_function_by_tanh, 100),
        ("sigmoid", sigmoid_cut_off, 20),
        ("sigmoid", sigmoid_by_tanh, 100),
        ("sin", sine_of_short_pi, 100),
        ("log", logarithm_by_two, 100),
        ("tanh", lambda x: np.clip(x * (27 + x * x) / (27 + 9 * x * x), -1, 1), 100),
        ("cos", np.sin, 100),
        ("sinh", np.tan, 100),
    ],
)
def test_programs_that_compute_something_near_are_outside(
    name: str, program: Callable[[Array], Array], least: int
) -> None:
    data = np.concatenate([arguments(name), np.linspace(-60, 60, 400)]).astype(np.float32)
    with np.errstate(over="ignore"):
        got = program(data.astype(np.float64)).astype(np.float32)
    assert np.count_nonzero(~inside(evaluate(name, data), got)) >= least


@pytest.mark.parametrize("name", FUNCTIONS)
def test_whatever_lies_within_the_error_of_an_argument_stays_within_that_of_the_value(name: str) -> None:
    draw = np.random.default_rng(5)
    at = arguments(name, 60)
    off = np.abs(at) * 10.0 ** draw.uniform(-6, -1, at.size)
    working = Working(tensor(np.zeros(1)).element_type)
    given_numbers = Numbers(
        working,
        Rationals.of([Fraction(each) for each in at.tolist()]),
        off,
        np.sign(at),
        np.zeros(at.shape, np.bool_),
    )
    found = function_of(name, given_numbers)
    values = found.value.spread(found.shape).fractions()
    for place, share in enumerate(draw.uniform(-1, 1, at.size).tolist()):
        moved = by_mpmath(name, at[place] + share * off[place])
        if found.finite[place] and not found.lost[place] and moved is not None:
            with mpmath.workprec(400):
                exact = mpmath.mpf(values[place].numerator) / values[place].denominator
                assert abs(moved - exact) <= mpmath.mpf(float(found.error[place]))
    assert np.isfinite(found.error[found.finite]).any()


def test_an_argument_that_may_be_beyond_the_domain_or_at_a_pole_loses_the_value() -> None:
    working = Working(tensor(np.zeros(1)).element_type)
    for name, at in (("log", 1e-3), ("atanh", 0.9995), ("acos", 0.9995), ("acosh", 1.0005), ("tan", 1.5702)):
        doubtful = Numbers(
            working, Rationals.of([Fraction(at)]), np.array([1e-3]), np.ones(1), np.zeros(1, np.bool_)
        )
        assert function_of(name, doubtful).lost.all(), name


@given(st.floats(-700, 700), st.sampled_from([64, 200, 320]))
def test_more_bits_round_to_fewer(argument: float, bits: int) -> None:
    if argument == 0:
        return
    function = FUNCTIONS["exp"].enclose
    few = nearest_value(function, Fraction(argument), bits)
    many = nearest_value(function, Fraction(argument), 2 * bits)
    assert abs(few - many) <= abs(many) * Fraction(1, 1 << bits)
    assert few.numerator.bit_length() - (few.numerator & -few.numerator).bit_length() < bits


def test_a_negative_subnormal_may_count_as_zero_where_it_is_flushed() -> None:
    """Its logarithm is no number; that of the zero with its sign is minus infinity."""
    inputs = {"input": tensor(np.array([-1e-40, -1.0, 2.0], np.float32))}
    log = find_operator(OperatorName.parse("ai.onnx::Log-13"))
    (kept,) = log.evaluate({}, inputs, {"subnormals": "kept"})
    (flushed,) = log.evaluate({}, inputs, {"subnormals": "flushed"})
    infinite = np.array([-np.inf, np.nan, np.log(2)], np.float32)
    assert accepted(kept, infinite).tolist() == [False, True, True]
    assert accepted(flushed, infinite).tolist() == [True, True, True]
    assert not accepted(flushed, np.array([np.nan, 0, 0], np.float32))[1:].any()


def test_the_sign_of_a_number_that_is_flushed_is_zero_and_no_other_one() -> None:
    inputs = {"input": tensor(np.array([-1e-40, 1e-40, 2.0], np.float32))}
    sign = find_operator(OperatorName.parse("ai.onnx::Sign-13"))
    (kept,) = sign.evaluate({}, inputs, {"subnormals": "kept"})
    (flushed,) = sign.evaluate({}, inputs, {"subnormals": "flushed"})
    right, zeros = np.array([-1, 1, 1], np.float32), np.array([0, 0, 1], np.float32)
    assert accepted(kept, right).all()
    assert accepted(flushed, right).all()
    assert accepted(kept, zeros).tolist() == [False, False, True]
    assert accepted(flushed, zeros).all()
    assert {repr(each) for each in (flushed.alternatives or {})[0]} == {"0.0", "-0.0"}
    for garbage in ([1, -1, 0], [-1e-40, 1e-40, 2], [np.nan, np.inf, np.nan]):
        assert not accepted(flushed, np.array(garbage, np.float32)).any()


@pytest.mark.parametrize(
    ("name", "attributes", "right", "zeros"),
    [
        ("Sqrt-13", {}, [np.nan, np.sqrt(np.float32(1e-40)), 2], [-0.0, 0, 2]),
        ("Shrink-9", {"lambd": 0.0, "bias": 1.0}, [1, -1, 3], [0, 0, 3]),
    ],
)
def test_a_number_that_is_flushed_is_zero_where_it_is_compared(
    name: str, attributes: dict[str, Any], right: list[float], zeros: list[float]
) -> None:
    operator = find_operator(OperatorName.parse(f"ai.onnx::{name}"))
    inputs = {"X" if name == "Sqrt-13" else "input": tensor(np.array([-1e-40, 1e-40, 4.0], np.float32))}
    (kept,) = operator.evaluate(attributes, inputs, {"subnormals": "kept"})
    (flushed,) = operator.evaluate(attributes, inputs, {"subnormals": "flushed"})
    assert accepted(kept, np.array(right, np.float32)).all()
    assert not accepted(kept, np.array(zeros, np.float32))[:2].any()
    for answer in (right, zeros):
        assert accepted(flushed, np.array(answer, np.float32)).all()
    assert not accepted(flushed, np.array([-3, 3, 5], np.float32)).any()
    if np.isnan(right[0]):  # the other zeros lie within an allowed error
        assert {repr(each) for each in (flushed.alternatives or {})[0]} == {"0.0", "-0.0"}


def test_a_divisor_that_is_flushed_leaves_no_number() -> None:
    inputs = {
        name: tensor(np.array(values, np.float32)) for name, values in (("A", [1, 5]), ("B", [1e-40, 3]))
    }
    modulus = find_operator(OperatorName.parse("ai.onnx::Mod-13"))
    (kept,) = modulus.evaluate({"fmod": 1}, inputs, {"subnormals": "kept"})
    (flushed,) = modulus.evaluate({"fmod": 1}, inputs, {"subnormals": "flushed"})
    assert accepted(kept, np.fmod(inputs["A"].array, inputs["B"].array)).all()
    assert accepted(kept, np.array([np.nan, 2], np.float32)).tolist() == [False, True]
    assert accepted(flushed, np.array([np.nan, 2], np.float32)).all()
    assert not accepted(flushed, np.array([1, np.nan], np.float32)).any()


@pytest.mark.parametrize("name", [name for name, function in FUNCTIONS.items() if function.steeper])
def test_where_a_function_is_steeper_tells_how_far_it_may_be_off(name: str) -> None:
    """The same as of the values at both ends, worked out with all bits."""
    function, draw, told = FUNCTIONS[name], np.random.default_rng(7), 0
    for argument in arguments(name, 40).tolist():
        off = float(abs(argument) * 2.0 ** draw.integers(-60, 1))
        ends = [Fraction(argument) - Fraction(off), Fraction(argument) + Fraction(off)]
        points = [*ends, Fraction(argument)]
        if not all(function.has_value_at(*each.as_integer_ratio()) for each in points) or abs(argument) > 60:
            continue
        numbers = replace(Numbers.exact([Fraction(argument)], DOUBLES), error=np.array([off]))
        with mpmath.workprec(2000):
            low, high, middle = (
                getattr(mpmath, name)(mpmath.mpf(each.numerator) / each.denominator) for each in points
            )
            reach = max(middle - low, high - middle)
        found = function_of(name, numbers)
        rounding = function_of(name, Numbers.exact([Fraction(argument)], DOUBLES)).error[0]
        assert reach <= found.error[0] <= float(reach) * (1 + 1e-9) + 4 * rounding + 5e-324
        told += 1
    assert told > 30
