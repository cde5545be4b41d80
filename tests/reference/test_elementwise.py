"""References of elementwise operators against formulas written out in numpy's double precision."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import Answer, UnstableLength
from reference.registry import find_operator

Array = NDArray[Any]
NUMBERS = (0.0, 1.0, 0.5, 2.5, 3.0, 1e30, 3e-30, np.inf)
SPECIAL = np.array([*NUMBERS, *(-number for number in NUMBERS), np.nan], np.float32)


def evaluate(name: str, *given: Array | None, **attributes: Any) -> Answer:
    """The answer of an operator's reference; readings at their first option."""
    operator = find_operator(OperatorName.parse(f"ai.onnx::{name}"))
    tensors = [None if array is None else tensor(array) for array in given]
    variadic = operator.inputs == ("data_0",)
    inputs: dict[str, Any] = (
        {"data_0": tuple(tensors)} if variadic else dict(zip(operator.inputs, tensors, strict=False))
    )
    return operator.evaluate(attributes, inputs)[0]


def operands(count: int, seed: int) -> list[Array]:
    """Ordinary numbers of several magnitudes, and every pair of the special ones behind them."""
    draw = np.random.default_rng(seed)
    pairs = np.meshgrid(*[SPECIAL] * count, indexing="ij")
    ordinary = draw.normal(size=(count, 400)) * 10.0 ** draw.integers(-3, 4, (count, 400))
    both = zip(ordinary, pairs, strict=True)
    return [np.concatenate([one, other.reshape(-1)]).astype(np.float32) for one, other in both]


def clipped_line(x: Array, alpha: float, beta: float) -> Array:
    line = x * np.float64(np.float32(alpha)) + np.float64(np.float32(beta))
    with np.errstate(invalid="ignore"):
        return np.where(np.isnan(line), line, np.maximum(0.0, np.minimum(1.0, line)))


def shrunk(x: Array, bias: float, lambd: float) -> Array:
    return np.where(x < -lambd, x + bias, np.where(x > lambd, x - bias, 0.0))


ONE: Mapping[str, tuple[dict[str, float], Callable[[Array], Array]]] = {
    "Abs-13": ({}, np.abs),
    "Neg-13": ({}, np.negative),
    "Sign-13": ({}, np.sign),
    "Sqrt-13": ({}, np.sqrt),
    "Reciprocal-13": ({}, lambda x: 1 / x),
    "Floor-13": ({}, np.floor),
    "Ceil-13": ({}, np.ceil),
    "Round-22": ({}, np.rint),
    "Relu-14": ({}, lambda x: np.maximum(x, 0)),
    "LeakyRelu-16": ({"alpha": 0.3}, lambda x: np.where(x < 0, x * np.float64(np.float32(0.3)), x)),
    "LeakyRelu-6": ({}, lambda x: np.where(x < 0, x * np.float64(np.float32(0.01)), x)),
    "ThresholdedRelu-22": ({"alpha": 2.0}, lambda x: np.where(x > 2, x, 0.0)),
    "HardSigmoid-22": ({}, lambda x: clipped_line(x, 0.2, 0.5)),
    "HardSigmoid-6": ({"alpha": 3.0, "beta": -1.0}, lambda x: clipped_line(x, 3, -1)),
    "HardSwish-22": ({}, lambda x: x * np.clip(x / 6 + 0.5, 0, 1)),
    "Shrink-9": ({"bias": 1.5, "lambd": 0.75}, lambda x: shrunk(x, 1.5, 0.75)),
}
TWO: Mapping[str, tuple[dict[str, int], Callable[[Array, Array], Array]]] = {
    "Max-13": ({}, np.maximum),
    "Min-13": ({}, np.minimum),
    "PRelu-16": ({}, lambda x, slope: np.where(x < 0, slope * x, x)),
    "Mod-13": ({"fmod": 1}, np.fmod),
}


def agree(answer: Answer, exact: Array, tolerance: float) -> None:
    """Within a relative distance of a result in double precision; equal where that is no finite float32."""
    with np.errstate(over="ignore"):
        expected, nearest = answer.expected.array, exact.astype(np.float32)
    finite = np.isfinite(nearest)
    assert np.array_equal(expected[~finite], nearest[~finite], equal_nan=True)
    with np.errstate(over="ignore", under="ignore"):
        apart = np.abs(expected[finite].astype(np.float64) - exact[finite])
    assert (apart <= tolerance * np.abs(exact[finite]) + 2.0**-149).all()


@pytest.mark.parametrize("name", ONE)
def test_one_operand(name: str) -> None:
    attributes, formula = ONE[name]
    (x,) = operands(1, 7)
    with np.errstate(all="ignore"):
        exact = np.asarray(formula(x.astype(np.float64)))
    # The results of one operation, and of HardSwish's and HardSigmoid's lines, are rounded once.
    agree(evaluate(name, x, **attributes), exact, 2.0**-24 * (3 if name.startswith("HardSwish") else 1))


def test_a_slope_of_zero_keeps_an_infinity_to_the_line_or_makes_nan_of_it() -> None:
    operator = find_operator(OperatorName.parse("ai.onnx::HardSigmoid-22"))
    x = tensor(np.array([np.inf, -np.inf, 3.0], np.float32))
    found = {
        each: operator.evaluate(
            {"alpha": 0.0, "beta": 0.25},
            {"X": x},
            {"infinity_in_formula": each, "nan_in_max_min": "propagates"},
        )[0].expected.array.tolist()
        for each in ("limit", "nan")
    }
    assert found["limit"] == [0.25, 0.25, 0.25]
    assert np.isnan(found["nan"][:2]).all()
    assert found["nan"][2] == 0.25


@pytest.mark.parametrize("name", TWO)
def test_two_operands(name: str) -> None:
    attributes, formula = TWO[name]
    x, y = operands(2, 8)
    with np.errstate(all="ignore"):
        exact = np.asarray(formula(x.astype(np.float64), y.astype(np.float64)))
    agree(evaluate(name, x, y, **attributes), exact, 2.0**-24)


def test_mod_of_integers_is_pythons_and_that_of_c() -> None:
    draw = np.random.default_rng(9)
    a, b = draw.integers(-100, 100, (2, 500), dtype=np.int64)
    b = np.where(b == 0, 7, b)
    assert np.array_equal(
        evaluate("Mod-13", a, b, fmod=0).expected.array,
        [x % y for x, y in zip(a.tolist(), b.tolist(), strict=True)],
    )
    assert np.array_equal(
        evaluate("Mod-28", a, b, fmod=1).expected.array,
        [int(math.fmod(x, y)) for x, y in zip(a.tolist(), b.tolist(), strict=True)],
    )


def test_mod_of_floats_rounded_down_is_exact_and_rounded_once() -> None:
    x, y = operands(2, 10)
    finite = np.isfinite(x) & np.isfinite(y) & (y != 0)
    x, y = x[finite], y[finite]
    pairs = [(Fraction(float(a)), Fraction(float(b))) for a, b in zip(x, y, strict=True)]
    exact = [a - math.floor(a / b) * b for a, b in pairs]
    assert np.array_equal(
        evaluate("Mod-28", x, y, fmod=0).expected.array,
        np.array([float(number) for number in exact]).astype(np.float32),
    )


@pytest.mark.parametrize(
    ("a", "b", "floored"),
    [
        (5.0, math.inf, 5.0),
        (5.0, -math.inf, -math.inf),
        (-5.0, math.inf, math.inf),
        (0.0, -math.inf, -0.0),
        (0.0, -2.0, -0.0),
        (math.inf, 2.0, math.nan),
        (1.0, 0.0, math.nan),
    ],
)
def test_special_cases_of_mod(a: float, b: float, floored: float) -> None:
    given = [np.array([each], np.float32) for each in (a, b)]
    found = float(evaluate("Mod-28", *given, fmod=0).expected.array[0])
    assert found == floored or (math.isnan(found) and math.isnan(floored))
    assert math.copysign(1, found) == math.copysign(1, floored) or math.isnan(floored)


@pytest.mark.parametrize(("low", "high"), [(None, None), (-1.0, None), (None, 2.0), (-1.0, 2.0), (2.0, -1.0)])
def test_clip_is_the_lesser_of_the_greater(low: float | None, high: float | None) -> None:
    (x,) = operands(1, 11)
    ends = np.finfo(np.float32)
    bottom, top = (np.float32(each) if each is not None else None for each in (low, high))
    exact = np.minimum(
        ends.max if top is None else top, np.maximum(x, ends.min if bottom is None else bottom)
    )
    given = [None if each is None else np.asarray(each) for each in (bottom, top)]
    assert np.array_equal(evaluate("Clip-13", x, *given).expected.array, exact, equal_nan=True)
    attributes = {name: float(each) for name, each in (("min", low), ("max", high)) if each is not None}
    assert np.array_equal(evaluate("Clip-6", x, **attributes).expected.array, exact, equal_nan=True)


@pytest.mark.parametrize(
    ("start", "limit", "delta"),
    [(0, 10, 3), (10, 0, -3), (5, 5, 1), (1, 5, -1), (0, 1, 0.25), (1, 2.1, 0.5), (-1.5, 3, 0.75)],
)
def test_range_has_the_elements_of_its_formula(start: float, limit: float, delta: float) -> None:
    count = max(math.ceil((Fraction(start) - Fraction(limit)) / -Fraction(delta)), 0)
    exact = [float(Fraction(start) + place * Fraction(delta)) for place in range(count)]
    given = [np.asarray(each, np.float64) for each in (start, limit, delta)]
    assert evaluate("Range-11", *given).expected.array.tolist() == exact
    if all(float(each).is_integer() for each in (start, limit, delta)):
        whole = [np.asarray(each, np.int32) for each in (start, limit, delta)]
        assert evaluate("Range-27", *whole).expected.array.tolist() == exact


def test_a_range_whose_length_hangs_on_rounding_is_no_case() -> None:
    given = [np.asarray(number, np.float32) for number in (0.0, 0.3, 0.1)]
    with pytest.raises(UnstableLength):
        evaluate("Range-11", *given)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.uint64])
def test_bits_and_shifts_are_those_of_python(kind: Any) -> None:
    ends = np.iinfo(kind)
    draw = np.random.default_rng(12)
    a, b = draw.integers(ends.min, ends.max, (2, 80), dtype=kind, endpoint=True)
    amounts = draw.integers(0, ends.bits + 3, 80).astype(kind)
    mask = 2**ends.bits - 1

    def wrapped(values: list[int]) -> Array:
        return np.array([value & mask for value in values], np.uint64).astype(kind)

    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    shifts = list(zip(a.tolist(), amounts.tolist(), strict=True))
    assert np.array_equal(evaluate("BitwiseAnd-18", a, b).expected.array, wrapped([x & y for x, y in pairs]))
    assert np.array_equal(evaluate("BitwiseOr-18", a, b).expected.array, wrapped([x | y for x, y in pairs]))
    assert np.array_equal(evaluate("BitwiseXor-18", a, b).expected.array, wrapped([x ^ y for x, y in pairs]))
    assert np.array_equal(evaluate("BitwiseNot-18", a).expected.array, wrapped([~x for x in a.tolist()]))
    left = evaluate("BitShift-28", a, amounts, direction="LEFT").expected.array
    assert np.array_equal(left, wrapped([x << y for x, y in shifts]))
    right = evaluate("BitShift-28", a, amounts, direction="RIGHT").expected.array
    assert np.array_equal(right, wrapped([x >> y for x, y in shifts]))
    if ends.min < 0:
        gone = evaluate("BitShift-28", np.array([5, -5], kind), np.array([-1, -1], kind), direction="RIGHT")
        assert gone.expected.array.tolist() == [0, -1]


def test_classes_of_floats_are_numpys() -> None:
    x = SPECIAL.astype(np.float64)
    assert np.array_equal(evaluate("IsNaN-20", x).expected.array, np.isnan(x))
    assert np.array_equal(evaluate("IsInf-20", x).expected.array, np.isinf(x))
    assert np.array_equal(evaluate("IsInf-10", x, detect_negative=0).expected.array, np.isposinf(x))
    assert np.array_equal(evaluate("IsInf-10", x, detect_positive=0).expected.array, np.isneginf(x))


def test_equal_strings_are_equal() -> None:
    operator = find_operator(OperatorName.parse("ai.onnx::Equal-19"))
    a, b = (tensor(np.array(each, object), "string") for each in (["a", "b", "c"], ["a", "x", "c"]))
    answer = operator.evaluate({}, {"A": a, "B": b})[0]
    assert answer.expected == Tensor(answer.expected.element_type, np.array([True, False, True]))


def test_which_condition_of_shrink_counts_below_zero_is_a_reading() -> None:
    given = {"input": tensor(np.array([-2, -0.5, 0, 0.5, 2], np.float32))}
    operator = find_operator(OperatorName.parse("ai.onnx::Shrink-9"))
    for option, wanted in (("first", [0, 1.5, 2, 2.5, 0]), ("second", [0, -2.5, -2, -1.5, 0])):
        (found,) = operator.evaluate({"bias": 2.0, "lambd": -1.0}, given, {"both_conditions": option})
        np.testing.assert_array_equal(found.expected.array, np.array(wanted, np.float32))
