"""Programs that compute float in less than float32, as hardware does: nothing here is the reference's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from tests.reference.float32_formulas import FAMILIES, Elementwise, Multiplied, Summed
from tests.reference.float32_terms import Array, Values

Rounding = Callable[[Array], Array]


def through_float16(given: Array) -> Array:
    return given.astype(np.float16).astype(np.float32)


def through_bfloat16(given: Array) -> Array:
    return given.astype(ml_dtypes.bfloat16).astype(np.float32)


def through_tf32(given: Array) -> Array:
    """To 11 bits, halves to even, in the range of float32."""
    parts, exponents = np.frexp(given.astype(np.float64))
    least = np.maximum(exponents, -125)
    scaled = np.ldexp(parts, 11 + exponents - least)
    return np.asarray(np.ldexp(np.rint(scaled), least - 11), np.float32)


def in_two_parts(given: Array) -> Array:
    """The sum of two bfloat16."""
    high = through_bfloat16(given)
    return high + np.where(np.isfinite(high), through_bfloat16(given - high), np.float32(0))


ROUNDINGS: Mapping[str, Rounding] = {
    "float32": lambda given: given.astype(np.float32),
    "bf16x3": in_two_parts,
    "tf32": through_tf32,
    "float16": through_float16,
    "bfloat16": through_bfloat16,
}


@dataclass(frozen=True)
class Program:
    """How sums of products are computed: whether products, each partial sum and the result are rounded."""

    rounding: Rounding
    products: bool
    sums: bool
    result: bool
    in_parts: bool = False

    def of(self, a: Array, b: Array) -> np.float32:
        """The sum of products from the first on."""
        total = np.float32(0)
        products = self._products(a, b)
        for each in self.rounding(products) if self.products else products:
            total = np.float32(total + each)
            if self.sums:
                total = self.held(total)
        return total

    def held(self, number: np.float32) -> np.float32:
        """A number rounded to the format."""
        return np.float32(self.rounding(np.asarray(number)))

    def _products(self, a: Array, b: Array) -> Array:
        a, b = np.asarray(a, np.float32), np.asarray(b, np.float32)
        if not self.in_parts:
            return a * b
        (high, low), (other, less) = (
            (through_bfloat16(each), each - through_bfloat16(each)) for each in (a, b)
        )
        # The lesser part of what is not finite is none.
        low, less = (np.where(np.isfinite(each), each, np.float32(0)) for each in (low, less))
        lesser = high * less + low * other
        return high * other + np.where(np.isfinite(lesser), lesser, np.float32(0))


def programs(form: str) -> Mapping[str, Program]:
    """Programs of a format with sums in float32, and under `same` one with sums in it."""
    rounding, parts = ROUNDINGS[form], form == "bf16x3"
    return {
        "products exact": Program(rounding, False, False, False, parts),
        "result rounded": Program(rounding, False, False, True, parts),
        "products rounded": Program(rounding, True, False, True, parts),
        "same": Program(rounding, True, True, True, parts),
    }


def answers(name: str, values: Values, program: Program) -> Iterator[Array]:
    """What a program makes of a call of one of the operators of the formulas, whole; operands are rounded."""
    formula = next(formulas[name] for formulas in FAMILIES.values() if name in formulas)
    rounded = values.changed(program.rounding)
    ended = program.rounding if program.result else ROUNDINGS["float32"]
    if isinstance(formula, Summed):
        for end in formula.ends:
            every = formula.terms(rounded)
            found = [end(_held(program, terms.a, terms.b), terms, rounded) for terms in every]
            yield ended(np.array(found, np.float32))
    elif isinstance(formula, Elementwise):
        for way in formula.ways:
            yield ended(np.asarray(way(rounded), np.float32))
    elif isinstance(formula, Multiplied):
        yield ended(next(iter(formula.honest(rounded))))


def _softmax(values: Values, held: Rounding) -> Array:
    x, axis = values.given("input"), values.attribute("axis", -1)
    powers = held(np.exp(held(x - x.max(axis=axis, keepdims=True))))
    return powers / held(powers.sum(axis=axis, keepdims=True))


def _log_softmax(values: Values, held: Rounding) -> Array:
    x, axis = values.given("input"), values.attribute("axis", -1)
    apart = held(x - x.max(axis=axis, keepdims=True))
    return apart - held(np.log(held(held(np.exp(apart)).sum(axis=axis, keepdims=True))))


def _layer_normalization(values: Values, held: Rounding) -> Array:
    x, axis = values.given("X"), values.attribute("axis", -1)
    axes = tuple(range(axis % x.ndim, x.ndim))
    count, epsilon = np.float32(np.prod([x.shape[each] for each in axes])), values.attribute("epsilon", 1e-5)
    mean = held(held(x.sum(axis=axes, keepdims=True)) / count)
    apart = held(x - mean)
    variance = held(held((held(apart * apart)).sum(axis=axes, keepdims=True)) / count)
    normal = held(apart / held(np.sqrt(held(variance + np.float32(epsilon)))))
    bias = values["B"]
    scaled = held(normal * values.given("Scale"))
    return scaled if bias is None else scaled + bias


def _batch_normalization(values: Values, held: Rounding) -> Array:
    x = values.given("X")
    shape = (1, -1, *[1] * (x.ndim - 2))
    scale, bias, mean, variance = (
        values.given(name).reshape(shape) for name in ("scale", "B", "input_mean", "input_var")
    )
    root = held(np.sqrt(held(variance + np.float32(values.attribute("epsilon", 1e-5)))))
    return held(held(held(x - mean) / root) * scale) + bias


def _gemm(values: Values, held: Rounding) -> Array:
    a, b, c = values.given("A"), values.given("B"), values["C"]
    a, b = a.T if values.attribute("transA", 0) else a, b.T if values.attribute("transB", 0) else b
    found = held(np.float32(values.attribute("alpha", 1.0)) * held(a @ b))
    return found if c is None else found + held(np.float32(values.attribute("beta", 1.0)) * c)


def _unary(function: Callable[[Array, Rounding], Array]) -> Callable[[Values, Rounding], Array]:
    return lambda values, held: function(values.given(values.inputs[0][0]), held)


def _sigmoid(x: Array, held: Rounding) -> Array:
    one = np.float32(1)
    return one / held(one + held(np.exp(-x)))


STEPS: Mapping[str, Callable[[Values, Rounding], Array]] = {
    "Softmax": _softmax,
    "LogSoftmax": _log_softmax,
    "LayerNormalization": _layer_normalization,
    "BatchNormalization": _batch_normalization,
    "Gemm": _gemm,
    "Sigmoid": _unary(_sigmoid),
    "Swish": lambda values, held: (
        values.given("X")
        * held(_sigmoid(held(np.float32(values.attribute("alpha", 1.0)) * values.given("X")), held))
    ),
    "Tanh": _unary(lambda x, _: np.tanh(x)),
    "Exp": _unary(lambda x, _: np.exp(x)),
    "Log": _unary(lambda x, _: np.log(x)),
    "Relu": _unary(lambda x, _: np.maximum(x, np.float32(0))),
    "Neg": _unary(lambda x, _: -x),
    "Transpose": lambda values, _: np.transpose(values.given("data"), values.attribute("perm", None)),
    "Floor": _unary(lambda x, _: np.floor(x)),
}
"""Operators step by step, each step rounded or none; the last one is rounded by whoever asks."""


def stepwise(name: str, values: Values, form: str) -> Iterator[Array]:
    """What programs make of a call that round operands, and then nothing, the result, or every step."""
    rounding, plain = ROUNDINGS[form], ROUNDINGS["float32"]
    rounded = values.changed(rounding)
    for held, ended in ((plain, plain), (plain, rounding), (rounding, rounding)):
        yield ended(np.asarray(STEPS[name](rounded, held), np.float32))


def _held(program: Program, a: Array, b: Array) -> np.float32:
    total = program.of(a, b)
    return program.held(total) if program.result else total
