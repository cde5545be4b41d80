"""Functions by OpenCL's table of unsafe math: programs that compute so are right by it, faults are not."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from conformance.judging.judge import judge
from conformance.judging.responses import Answered
from conformance.suite.cases import Case
from opcert.vocabulary.arithmetics import Arithmetic
from opcert.vocabulary.tensors import tensor
from tests.generator.test_other_arithmetics import case_of, derived, floats, verdict
from tests.reference.float32_terms import Array

RELAXED = Arithmetic(functions="relaxed")
F = np.float32
Formula = Callable[..., Array]


def exp2(x: Array) -> Array:
    """A unit for powers of two with 22 bits."""
    return np.asarray(np.exp2(x.astype(np.float64)) * (1 + 2.0**-23), F)


def log2(x: Array) -> Array:
    """A unit for logarithms in steps of 2^-22, or of 22 bits beyond 1."""
    exact = np.log2(x.astype(np.float64))
    return np.asarray(
        np.where(np.abs(exact) <= 1, np.rint(exact * 2.0**22) / 2.0**22, exact * (1 + 2.0**-23)), F
    )


def exp(x: Array) -> Array:
    return exp2(x * F(math.log2(math.e)))


def log(x: Array) -> Array:
    return log2(x) * F(math.log(2))


def sin(x: Array) -> Array:
    """By a table with 2^10 entries for each unit of the argument."""
    return np.asarray(np.sin(np.rint(x.astype(np.float64) * 1024) / 1024), F)


def cos(x: Array) -> Array:
    return np.asarray(np.cos(np.rint(x.astype(np.float64) * 1024) / 1024), F)


def inverse(x: Array) -> Array:
    """Two units in the last place too small."""
    found = np.asarray(1 / x.astype(np.float64), F)
    return np.nextafter(np.nextafter(found, F(0)), F(0))


def quotient(x: Array, y: Array) -> Array:
    return x * inverse(y)


def sinh(x: Array) -> Array:
    return np.where(np.abs(x) <= 2.0**-10, x, F(0.5) * (exp(x) - exp(-x)))


def tanh(x: Array) -> Array:
    near, held = np.abs(x) <= 2.0**-10, np.clip(x, F(-40), F(40))
    return np.where(near, x, quotient(exp(held) - exp(-held), exp(held) + exp(-held)))


def power(x: Array, y: Array) -> Array:
    found = exp2(y * log2(np.abs(x)))
    return np.where((x < 0) & (y % 2 != 0), -found, found)


def arc(x: Array) -> Array:
    """The arc cosine by a polynomial of degree three times a root (Abramowitz and Stegun, 4.4.45)."""
    size = np.abs(x)
    series = ((F(-0.0187293) * size + F(0.0742610)) * size - F(0.2121144)) * size + F(1.5707288)
    found = np.sqrt(1 - size) * series
    return np.asarray(np.where(x < 0, F(np.pi) - found, found), F)


def softmax(x: Array) -> Array:
    powers = exp(x - x.max(axis=-1, keepdims=True))
    return quotient(powers, powers.sum(axis=-1, keepdims=True))


def numbers(low: float, high: float, count: int = 60) -> Array:
    """From one to the other, and the same many times nearer to 0 where that lies between."""
    found = np.linspace(low, high, count)
    near = found[1::3] * 2.0**-12 if low <= 0 <= high else found[1::3]
    return floats([*found, *near])


ONE, LEFT = numbers(-3.1, 3.1), numbers(0.01, 60)
PROGRAMS: Mapping[str, tuple[Mapping[str, Array], Formula]] = {
    "Exp": ({"input": numbers(-80, 80)}, exp),
    "Log": ({"input": LEFT}, log),
    "Sin": ({"input": ONE}, sin),
    "Cos": ({"input": ONE}, cos),
    "Tan": ({"input": numbers(-1.4, 1.4)}, lambda x: sin(x) * inverse(cos(x))),
    "Sinh": ({"input": numbers(-80, 80)}, sinh),
    "Cosh": ({"input": numbers(-80, 80)}, lambda x: F(0.5) * (exp(x) + exp(-x))),
    "Tanh": ({"input": numbers(-100, 100)}, tanh),
    "Acos": ({"input": numbers(-0.99, 0.99)}, arc),
    "Asinh": ({"input": LEFT * F(2.0**-9)}, lambda x: log(x + np.sqrt(x * x + 1))),
    "Acosh": ({"input": numbers(1.001, 1.5)}, lambda x: log(x + np.sqrt(x * x - 1))),
    "Atanh": ({"input": numbers(0.01, 0.9)}, lambda x: F(0.5) * log(quotient(1 + x, 1 - x))),
    "Pow": ({"X": floats([2, -3, 1.7, 0.2, 9, 1.001]), "Y": floats([7, 3, 2.5, -9.25, 12, 3000])}, power),
    "Div": ({"A": ONE, "B": numbers(0.3, 7e5)}, quotient),
    "Reciprocal": ({"X": LEFT}, inverse),
    "Softmax": ({"input": np.rint(ONE.reshape(-1, 8).T * 12)}, softmax),
    "Sigmoid": ({"X": numbers(-80, 80)}, lambda x: inverse(1 + exp(-x))),
}


def case_and_values(name: str) -> tuple[Case, list[Array]]:
    inputs = PROGRAMS[name][0]
    return case_of(name, inputs), list(inputs.values())


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_of_unsafe_math_are_right_by_it_and_wrong_by_the_full_column(name: str) -> None:
    case, values = case_and_values(name)
    with np.errstate(all="ignore"):
        got = np.asarray(PROGRAMS[name][1](*values), F)
    assert verdict(derived(case, RELAXED), got) == "pass"
    # A softmax by powers of two of its scores times a constant is right by either.
    assert (verdict(case, got) == "pass") is (name == "Softmax")


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_the_full_column_accepts_is_right_by_unsafe_math_as_well(name: str) -> None:
    case, _ = case_and_values(name)
    narrow = derived(case, RELAXED).expectations[0].outputs[0]
    wide = case.expectations[0].outputs[0]
    assert wide.allowed is not None
    assert narrow.allowed is not None
    assert (narrow.allowed >= wide.allowed).all()
    assert np.isfinite(narrow.allowed).all()
    for text in ("tf32,functions=relaxed", "float16,functions=relaxed", "bf16x3,functions=relaxed"):
        assert verdict(derived(case, Arithmetic.parse(text)), wide.expected.array) == "pass", text


def units(count: float) -> Callable[[Array, Array], Array]:
    """So many units in the last place of float32."""
    return lambda _, y: np.asarray(count * np.spacing(np.abs(y).astype(F)), np.float64)


ROWS: Mapping[str, tuple[list[float], Callable[[Array], Array], Callable[[Array, Array], Array]]] = {
    "Exp": ([0.3, -5.2, 40.1], np.exp, lambda x, y: (3 + np.floor(2 * np.abs(x))) * np.spacing(y.astype(F))),
    "Log": ([0.6, 1.9], np.log, lambda x, y: np.full(x.shape, 2.0**-21)),
    "Sin": ([0.3, -3.1], np.sin, lambda x, y: np.full(x.shape, 2.0**-11)),
    "Cos": ([0.3, -3.1], np.cos, lambda x, y: np.full(x.shape, 2.0**-11)),
    "Acos": ([0.3, -0.8], np.arccos, units(4096)),
    "Asin": ([0.3, -0.8], np.arcsin, units(4096)),
    "Atan": ([0.3, -80], np.arctan, units(4096)),
    "Tanh": ([0.6, -2], np.tanh, units(8192)),
    "Reciprocal": ([3, 7e5], np.reciprocal, units(2.5)),
}
"""Arguments, the function, and how far off the table lets it be."""


@pytest.mark.parametrize("name", ROWS)
def test_as_far_off_as_the_table_says_is_right_and_half_as_far_again_is_wrong(name: str) -> None:
    arguments, function, reach = ROWS[name]
    x = floats(arguments)
    case = derived(case_of(name, {"X" if name == "Reciprocal" else "input": x}), RELAXED)
    exact = function(x.astype(np.float64))
    most = reach(x, exact)
    for sign in (-1, 1):
        got = np.asarray(exact + sign * most, F)
        got = np.where(np.abs(got - exact) > most, np.nextafter(got, F(-sign * np.inf)), got)
        assert verdict(case, got) == "pass"
        assert verdict(case, np.asarray(exact + sign * (1.5 * most + np.spacing(got)), F)) == "mismatch"


FAULTS: Mapping[str, tuple[str, Formula]] = {
    "a hundredth more": ("Exp", lambda x: np.exp(x) * F(1.01)),
    "powers of two": ("Exp", np.exp2),
    "to base ten": ("Log", np.log10),
    "in degrees": ("Sin", lambda x: np.sin(np.deg2rad(x))),
    "eight bits of a sine": ("Sin", lambda x: np.rint(np.sin(x) * 256) / 256),
    "the sign of a cosine lost": ("Cos", lambda x: np.abs(np.cos(x))),
    "a tangent by its series": ("Tan", lambda x: x + x**3 / 3),
    "x / (1 + |x|)": ("Tanh", lambda x: x / (1 + np.abs(x))),
    "NaN of large arguments": ("Tanh", lambda x: np.sinh(x) / np.cosh(x)),
    "an arc sine": ("Acos", np.arcsin),
    "the sign of a base lost": ("Pow", lambda x, y: np.abs(x) ** y),
    "ten bits of a quotient": ("Div", lambda x, y: np.rint(np.ldexp(x / y, 10)) / 1024),
    "shares along the other axis": ("Softmax", lambda x: np.exp(x) / np.exp(x).sum(axis=0)),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_wrong_by_unsafe_math_too(fault: str) -> None:
    name, program = FAULTS[fault]
    case, values = case_and_values(name)
    with np.errstate(all="ignore"):
        got = np.asarray(program(*values), F)
    assert verdict(derived(case, RELAXED), got) == "mismatch"


def test_what_the_table_does_not_name_keeps_the_full_column_and_what_it_leaves_undefined_is_open() -> None:
    for name, key in (("Erf", "input"), ("Sqrt", "X")):
        case = case_of(name, {key: LEFT})
        got = case.expectations[0].outputs[0].expected.array
        assert verdict(derived(case, RELAXED), got) == "pass"
        assert verdict(derived(case, RELAXED), got * F(1 + 2.0**-18)) == "mismatch"
    open_to_all: Mapping[str, tuple[dict[str, Any], Array]] = {
        "Sin": ({"input": floats([3.5, 1])}, floats([np.nan, np.sin(1)])),
        "Sinh": ({"input": floats([89, 1])}, floats([np.inf, np.sinh(1)])),
        "Pow": ({"X": floats([-2, 2]), "Y": floats([0.5, 3])}, floats([7, 8])),
        "Reciprocal": ({"X": floats([1e38, 4])}, floats([0, 0.25])),
    }
    for name, (inputs, got) in open_to_all.items():
        case = derived(case_of(name, inputs), RELAXED)
        assert verdict(case, got) == "pass", name
        assert verdict(case, floats([got[0], got[1] + 1])) == "mismatch", name


def test_a_power_of_zero_may_be_zero() -> None:
    case = case_of("Pow", {"X": floats([0, 0]), "Y": floats([-1, 2])})
    assert verdict(derived(case, RELAXED), floats([0, 0])) == "pass"
    assert verdict(derived(case, RELAXED), floats([np.inf, 0])) == "pass"
    assert verdict(derived(case, RELAXED), floats([1, 0])) == "mismatch"
    assert verdict(case, floats([0, 0])) == "mismatch"


def test_cells_compute_with_relaxed_functions_too() -> None:
    draw = np.random.default_rng(1)
    x, w, r = (np.asarray(draw.normal(size=shape), F) for shape in ((3, 1, 2), (1, 2, 2), (1, 2, 2)))
    for word, function in (("Tanh", tanh), ("Sigmoid", lambda each: inverse(1 + exp(-each)))):
        inputs = {"X": x, "W": w, "R": r}
        case = derived(case_of("RNN", inputs, hidden_size=2, activations=(word,)), RELAXED)
        state, states = np.zeros((1, 2), F), []
        for each in x:
            state = function(each @ w[0].T + state @ r[0].T)
            states.append(state)
        got = np.stack(states)[:, None]
        for factor, told in ((1, "pass"), (1.01, "mismatch")):
            answer = Answered((tensor(got * F(factor)), tensor(state[None] * F(factor))))
            assert judge(case, answer).verdict == told, word
