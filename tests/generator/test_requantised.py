"""Integers in steps of a scale come of sums as an arithmetic says: programs of each kind are held to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from math import frexp

import numpy as np
import pytest

from conformance.suite.cases import Case
from generator.asking.calls import Call
from generator.asking.other_arithmetics import NoBound, in_arithmetic
from generator.making.operators.workshop import Options, Workshop, open_workshop
from opcert.vocabulary.arithmetics import Arithmetic, Requantise
from opcert.vocabulary.attributes import attribute
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import tensor
from tests.generator.test_other_arithmetics import case_of as plain_case
from tests.generator.test_other_arithmetics import floats, verdict
from tests.generator.test_other_arithmetics import workshop_of as plain_workshop
from tests.reference.float32_terms import Array

KINDS: tuple[Requantise, ...] = ("exact", "float32", "fixed-point", "one-step")
F = np.float32
NAMES = {
    "MatMul": "ai.onnx::QLinearMatMul-21",
    "Conv": "ai.onnx::QLinearConv-10",
    "Gemm": "com.microsoft::QGemm-1",
    "Mul": "com.microsoft::QLinearMul-1",
    "Add": "com.microsoft::QLinearAdd-1",
    "Where": "com.microsoft::QLinearWhere-1",
    "LeakyRelu": "com.microsoft::QLinearLeakyRelu-1",
    "Softmax": "com.microsoft::QLinearSoftmax-1",
    "Mean": "com.microsoft::QLinearGlobalAveragePool-1",
}
Requantised = Callable[[Array, float, float, float], Array]
"""Whole numbers of sums, and of two scales and a step, in steps."""


@cache
def workshop_of(name: str) -> Workshop:
    return open_workshop(OperatorName.parse(NAMES[name]), Options())


def case_of(name: str, inputs: Mapping[str, Array]) -> Case:
    given = {"opset": attribute("int", 13)} if name == "Softmax" else {}
    call = Call(given, tuple((key, tensor(each)) for key, each in inputs.items()), outputs=None)
    return workshop_of(name).make_valid("boundary", "made", call)


def derived(case: Case, how: Requantise, form: str = "float32") -> Case:
    for name, full in NAMES.items():
        if full == str(case.operator):
            workshop = workshop_of(name)
            return in_arithmetic(workshop.spec, workshop.reference, case, Arithmetic(form, requantise=how))
    raise AssertionError(case.operator)


def verdicts(case: Case, got: Array) -> list[str]:
    """Of an answer, as of each way in the order of their names."""
    return [verdict(derived(case, how), got) for how in KINDS]


def exactly(sums: Array, first: float, second: float, step: float) -> Array:
    """To nearest, halves to even, in 64 bits: of scales of 24 bits each that is far finer than any tie."""
    wide = np.longdouble
    return np.asarray(np.rint(sums.astype(wide) * wide(first) * wide(second) / wide(step)), np.int64)


def in_float32(sums: Array, first: float, second: float, step: float) -> Array:
    return np.asarray(np.rint(sums.astype(F) * F(F(F(first) * F(second)) / F(step))), np.int64)


def multiplier_of(factor: float) -> tuple[int, int]:
    """QuantizeMultiplier of TensorFlow Lite: 31 bits and a shift to the left."""
    fraction, shift = frexp(factor)
    whole = round(fraction * (1 << 31))
    return (whole // 2, shift + 1) if whole == 1 << 31 else (whole, shift)


def multiplied(value: int, factor: float) -> int:
    """MultiplyByQuantizedMultiplier: a doubling high multiplication, and a rounding shift to the right."""
    multiplier, shift = multiplier_of(factor)
    product = (value << max(shift, 0)) * multiplier
    nudge = 1 << 30 if product >= 0 else 1 - (1 << 30)
    high = abs(product + nudge) >> 31
    high = high if product + nudge >= 0 else -high
    right = max(-shift, 0)
    mask, rest = (1 << right) - 1, high & ((1 << right) - 1)
    return (high >> right) + (rest > (mask >> 1) + (high < 0))


def by_gemmlowp(sums: Array, first: float, second: float, step: float) -> Array:
    factor = float(first) * float(second) / float(step)
    return np.asarray(np.vectorize(lambda each: multiplied(int(each), factor))(sums), np.int64)


def to_a_neighbour(sums: Array, first: float, second: float, step: float) -> Array:
    return np.asarray(exactly(sums, first, second, step) + np.resize([1, -1, 0], sums.shape))


PROGRAMS: Mapping[Requantise, Requantised] = {
    "exact": exactly,
    "float32": in_float32,
    "fixed-point": by_gemmlowp,
    "one-step": to_a_neighbour,
}


def scalar(value: float) -> Array:
    return np.asarray(value, F)


def product_case(seed: int, scales: tuple[float, float, float]) -> tuple[Case, Array]:
    """A product of matrices, and its sums."""
    draw = np.random.default_rng(seed)
    a, b = (draw.integers(-128, 128, shape).astype(np.int8) for shape in ((12, 5), (5, 9)))
    zeros = np.int8(3), np.int8(-4)
    names = ("a_scale", "b_scale", "y_scale")
    given = dict(zip(names, map(scalar, scales), strict=True))
    inputs = {
        "a": a, "a_scale": given["a_scale"], "a_zero_point": np.asarray(zeros[0]),
        "b": b, "b_scale": given["b_scale"], "b_zero_point": np.asarray(zeros[1]),
        "y_scale": given["y_scale"], "y_zero_point": np.asarray(np.int8(7)),
    }  # fmt: skip
    sums = (a.astype(np.int64) - int(zeros[0])) @ (b.astype(np.int64) - int(zeros[1]))
    return case_of("MatMul", inputs), sums


def finished(steps: Array, zero: int = 7) -> Array:
    return np.asarray(np.clip(steps + zero, -128, 127), np.int8)


def some_scales(seed: int) -> tuple[float, float, float]:
    draw = np.random.default_rng(seed)
    first, second, step = floats([*draw.uniform(0.01, 0.2, 2), draw.uniform(0.5, 6)]).tolist()
    return first, second, step


def test_programs_of_each_kind_are_right_under_their_own_demand_and_wrong_under_a_narrower_one() -> None:
    wrong: Counter[tuple[str, str]] = Counter()
    for seed in range(24):
        scales = (0.25, 0.5, 2.0) if seed % 3 == 0 else some_scales(seed)
        case, sums = product_case(seed, scales)
        for kind, program in PROGRAMS.items():
            told = dict(zip(KINDS, verdicts(case, finished(program(sums, *scales))), strict=True))
            assert told[kind] == told["one-step"] == "pass", (kind, scales)
            wrong.update((kind, how) for how, each in told.items() if each != "pass")
    assert wrong["fixed-point", "float32"] > 3
    assert wrong["fixed-point", "exact"] > 3
    assert [wrong["one-step", how] for how in KINDS] == [24, 24, 24, 0]
    assert not any(wrong["exact", how] for how in KINDS)


def test_what_float32_rounds_to_the_other_side_of_a_half_is_wrong_where_integers_are_exact() -> None:
    factors = np.arange(-127, 128)
    for seed in range(40):
        scales = some_scales(seed)
        sums = np.outer(factors, factors)
        other = (in_float32(sums, *scales) != exactly(sums, *scales)) & (
            np.abs(sums) * np.prod(scales[:2]) < 100 * scales[2]
        )
        for a, b in factors[np.argwhere(other)][:1]:
            given = {"A": np.array([a], np.int8), "A_scale": scalar(scales[0]), "B": np.array([b], np.int8)}
            rest = {"B_scale": scalar(scales[1]), "C_scale": scalar(scales[2])}
            case = case_of("Mul", _in_order("Mul", {**given, **rest}))
            got = finished(in_float32(np.array([a * b]), *scales), 0)
            assert verdicts(case, got) == ["mismatch", "pass", "pass", "pass"]
            return
    raise AssertionError("no sum lies so near to a half")


FAULTS: Mapping[str, Callable[[Array, tuple[float, float, float]], Array]] = {
    "two steps off": lambda sums, scales: finished(exactly(sums, *scales) + 2),
    "the zero point left out": lambda sums, scales: finished(exactly(sums, *scales), 0),
    "wrapped": lambda sums, scales: (exactly(sums, *scales) + 7).astype(np.int8),
    "the other scale squared": lambda sums, scales: finished(exactly(sums, scales[0], scales[0], scales[2])),
    "a step of twice the size": lambda sums, scales: finished(exactly(sums, *scales) // 2),
    "transposed": lambda sums, scales: finished(exactly(sums.reshape(9, 12).T, *scales)),
    "the multiplier of 8 bits": lambda sums, scales: finished(
        exactly(sums, float(np.ldexp(np.rint(np.ldexp(scales[0], 5)), -5)), *scales[1:])
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_wrong_however_integers_are_requantised(fault: str) -> None:
    scales = (0.11, 0.07, 0.3)
    case, sums = product_case(5, scales)
    assert verdicts(case, FAULTS[fault](sums, scales)) == ["mismatch"] * 4


def test_rounding_down_is_a_step_off_and_no_fixed_point() -> None:
    scales = (0.11, 0.07, 2.3)
    case, sums = product_case(5, scales)
    down = np.floor(sums * np.prod(scales[:2]) / scales[2]).astype(np.int64)
    assert verdicts(case, finished(down)) == ["mismatch", "mismatch", "mismatch", "pass"]


def _in_order(name: str, inputs: Mapping[str, Array]) -> dict[str, Array]:
    order = [each.name for each in workshop_of(name).spec.inputs]
    return {each: inputs[each] for each in order if each in inputs}


def added(a: Array, b: Array, first: float, second: float, step: float) -> Array:
    """The quantised addition of TensorFlow Lite: operands shifted by 20 bits, three multipliers."""
    twice = 2 * max(first, second)

    def of(x: int, y: int) -> int:
        raw = multiplied(x << 20, first / twice) + multiplied(y << 20, second / twice)
        return multiplied(raw, twice / ((1 << 20) * step))

    return np.asarray(np.vectorize(of)(a, b), np.int64)


def test_the_quantised_addition_of_gemmlowp_is_right_in_fixed_point() -> None:
    values = np.array([*range(-120, 121, 7), 0, 1], np.int8)
    a, b = (each.reshape(-1).astype(np.int8) for each in np.meshgrid(values, values))
    wrong = 0
    for scales in ((0.5, 0.25, 1.0), (0.5 - 2**-25, 0.25, 1.0), (0.031, 0.27, 0.55), (0.011, 0.013, 0.021)):
        first, second, step = floats(scales).tolist()
        names = {"A_scale": scalar(first), "B_scale": scalar(second), "C_scale": scalar(step)}
        case = case_of("Add", _in_order("Add", {"A": a, "B": b, **names}))
        got = finished(added(a.astype(np.int64), b.astype(np.int64), first, second, step), 0)
        told = dict(zip(KINDS, verdicts(case, got), strict=True))
        assert told["fixed-point"] == told["one-step"] == "pass", scales
        assert verdicts(case, finished(np.where(a > 0, 1, 0) + got.astype(np.int64), 0))[2] == "mismatch"
        wrong += told["exact"] != "pass" != told["float32"]
    assert wrong == 1


def test_each_operator_with_one_factor_is_right_in_fixed_point() -> None:
    draw = np.random.default_rng(2)
    x, w = (draw.integers(0, 256, shape).astype(np.uint8) for shape in ((1, 2, 5, 5), (3, 2, 2, 2)))
    bias = draw.integers(-4000, 4000, 3).astype(np.int32)
    per_feature = floats([0.013, 0.021, 0.5])
    zero = np.asarray(np.uint8(128))
    conv = {
        "x": x, "x_scale": scalar(0.017), "x_zero_point": zero, "w": w, "w_scale": per_feature,
        "w_zero_point": np.full(3, 128, np.uint8), "y_scale": scalar(0.37), "y_zero_point": zero, "B": bias,
    }  # fmt: skip
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.int64) - 128, (2, 2), axis=(2, 3))
    sums = np.einsum("nchwij,fcij->nfhw", windows, w.astype(np.int64) - 128) + bias[:, None, None]
    steps = np.stack(
        [by_gemmlowp(sums[:, f], float(F(0.017)), float(per_feature[f]), float(F(0.37))) for f in range(3)], 1
    )
    _check_fixed_point(case_of("Conv", conv), bytes_of(steps))

    signed = x.astype(np.int64) - 128
    for scale, step in ((0.3, 0.7), (0.9, 1.1), (1.3, 0.6)):
        given = {"X": x, "X_scale": scalar(scale), "X_zero_point": zero}
        leaky = {**given, "Y_scale": scalar(step), "Y_zero_point": zero}
        below, above = (
            by_gemmlowp(signed, float(F(scale)), each, float(F(step))) for each in (float(F(0.01)), 1.0)
        )
        _check_fixed_point(case_of("LeakyRelu", leaky), bytes_of(np.where(signed < 0, below, above)))

    a, b, c = draw.integers(0, 256, (3, 4)), draw.integers(0, 256, (4, 2)), draw.integers(-999, 999, (3, 2))
    gemm = {
        "A": a.astype(np.uint8), "a_scale": scalar(0.02), "a_zero_point": zero,
        "B": b.astype(np.uint8), "b_scale": scalar(0.03), "b_zero_point": zero,
        "C": c.astype(np.int32), "y_scale": scalar(1.1), "y_zero_point": zero,
    }  # fmt: skip
    steps = by_gemmlowp((a - 128) @ (b - 128) + c, float(F(0.02)), float(F(0.03)), float(F(1.1)))
    _check_fixed_point(case_of("Gemm", gemm), bytes_of(steps))


def bytes_of(steps: Array) -> Array:
    return np.asarray(np.clip(steps + 128, 0, 255), np.uint8)


def _check_fixed_point(case: Case, got: Array) -> None:
    """Right as it is, and wrong with each element a step away that is not at an end of its type."""
    away = np.where((got > 1) & (got < 254), got + 1, got).astype(np.uint8)
    assert [verdict(derived(case, "fixed-point"), each) for each in (got, away)] == ["pass", "mismatch"]
    assert verdict(derived(case, "one-step"), got) == "pass"


def test_of_what_is_no_product_of_a_sum_and_a_factor_fixed_point_has_no_bound() -> None:
    x, zero = np.arange(8, dtype=np.uint8).reshape(1, 2, 2, 2), np.asarray(np.uint8(3))
    mean = {
        "X": x,
        "x_scale": scalar(0.3),
        "x_zero_point": zero,
        "y_scale": scalar(0.7),
        "y_zero_point": zero,
    }
    shares = {
        "X": x[0, 0],
        "X_scale": scalar(0.3),
        "x_zero_point": zero,
        "y_scale": scalar(0.01),
        "y_zero_point": zero,
    }
    for name, inputs in (("Mean", mean), ("Softmax", shares)):
        case = case_of(name, _in_order(name, inputs))
        for how in KINDS:
            if how == "fixed-point":
                with pytest.raises(NoBound, match="factors multiply"):
                    derived(case, how)
            else:
                assert verdict(derived(case, how), case.expectations[0].outputs[0].expected.array) == "pass"


def test_cases_that_requantise_nothing_stay_what_they_are() -> None:
    scaled = {"X": floats(np.ones((1, 1, 2, 2))), "roi": floats([]), "scales": floats([1, 1, 1.5, 2])}
    steps = {"x": floats([0.3, 7]), "y_scale": scalar(0.3), "y_zero_point": np.asarray(np.uint8(3))}
    for case in (
        plain_case("Resize", scaled),
        plain_case("QuantizeLinear", steps),
        plain_case("Exp", {"input": floats([1])}),
    ):
        workshop = plain_workshop(case.operator.name)
        for how in KINDS:
            assert in_arithmetic(workshop.spec, workshop.reference, case, Arithmetic(requantise=how)) is case
    chain = replace(case, model=b"QuantizeLinear")
    workshop = plain_workshop("Exp")
    with pytest.raises(NoBound, match="several nodes"):
        in_arithmetic(workshop.spec, workshop.reference, chain, Arithmetic(requantise="fixed-point"))
