"""Operators in float32, written out a second time: each in several orders that are honest, and with faults.

Nothing here is taken from the reference. A formula is the terms of every output element, pairs of factors,
and what is done with their sum; or it is computed element by element.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Protocol

import numpy as np

from tests.reference.float32_terms import (
    ORDERS,
    Array,
    Computed,
    Row,
    Terms,
    Values,
    added_up,
    convolved,
    convolved_back,
    from_the_first,
    fused,
    general_products,
    in_float32,
    magnitudes,
    matrix_products,
    multiplied,
    operands_of,
    pooled,
    pooled_whole,
    reduced,
    running,
    squares,
)

_ONE = np.float32(1)
_ZERO = np.float32(0)


def from_the_last(a: Row, b: Row) -> np.float32:
    return from_the_first(a[::-1], b[::-1])


EVERY_ORDER: tuple[Computed, ...] = (*ORDERS, from_the_last)


def through_bfloat16(array: Array) -> Array:
    """Rounded to the 8 bits of bfloat16, ties away from zero."""
    bits = np.asarray(array, np.float32).view(np.uint32).astype(np.uint64)
    return np.asarray(((bits + 0x8000) & 0xFFFF0000).astype(np.uint32)).view(np.float32)


class Formula(Protocol):
    """An operator: honest outputs, the plainest first, and faulty ones by their fault."""

    def honest(self, values: Values) -> Iterator[Array]: ...

    def faulty(self, values: Values) -> Mapping[str, Array]: ...


@dataclass(frozen=True)
class Summed:
    """Sums of products: the `terms` of each output element, and what is made of a sum, in honest ways."""

    terms: Callable[[Values], Iterator[Terms]]
    ends: Sequence[Callable[[np.float32, Terms, Values], Any]] = (lambda total, _terms, _values: total,)

    def honest(self, values: Values) -> Iterator[Array]:
        every = list(self.terms(values))
        for order, end in product(EVERY_ORDER, self.ends):
            yield in_float32([end(_sum(order, terms.a, terms.b), terms, values) for terms in every])

    def faulty(self, values: Values) -> Mapping[str, Array]:
        every, end = list(self.terms(values)), self.ends[0]
        lacking = [end(_sum(from_the_first, terms.a[:-1], terms.b[:-1]), terms, values) for terms in every]
        rough = values.changed(through_bfloat16)
        narrow = [end(_sum(from_the_first, term.a, term.b), term, rough) for term in self.terms(rough)]
        plain = next(iter(self.honest(values)))
        return {
            "the last term left out": in_float32(lacking),
            "inputs rounded to bfloat16": in_float32(narrow),
            "result rounded to float16": plain.astype(np.float16).astype(np.float32),
        }


@dataclass(frozen=True)
class Elementwise:
    """A function of whole arrays in several honest ways."""

    ways: Sequence[Callable[[Values], Array]]

    def honest(self, values: Values) -> Iterator[Array]:
        for way in self.ways:
            yield np.asarray(way(values), np.float32)

    def faulty(self, values: Values) -> Mapping[str, Array]:
        plain = np.asarray(self.ways[0](values), np.float32)
        rough = np.asarray(self.ways[0](values.changed(through_bfloat16)), np.float32)
        return {
            "inputs rounded to bfloat16": rough,
            "result rounded to float16": plain.astype(np.float16).astype(np.float32),
        }


@dataclass(frozen=True)
class Multiplied:
    """Products of many numbers: `terms` gives the factors of each output element."""

    terms: Callable[[Values], Iterator[Terms]]

    def honest(self, values: Values) -> Iterator[Array]:
        every = list(self.terms(values))
        for order in ORDERS:
            yield in_float32([multiplied(terms.a, order) if len(terms.a) else _ONE for terms in every])
        yield in_float32(
            [multiplied(terms.a[::-1], from_the_first) if len(terms.a) else _ONE for terms in every]
        )

    def faulty(self, values: Values) -> Mapping[str, Array]:
        every = list(self.terms(values))
        lacking = [multiplied(terms.a[:-1], from_the_first) if len(terms.a) > 1 else _ONE for terms in every]
        plain = next(iter(self.honest(values)))
        return {
            "the last factor left out": in_float32(lacking),
            "result rounded to float16": plain.astype(np.float16).astype(np.float32),
        }


def _sum(order: Computed, a: Row, b: Row) -> np.float32:
    return order(a, b) if len(a) else _ZERO


def divided(total: np.float32, terms: Terms, _: Values) -> Any:
    return total / np.float32(terms.count)


def by_reciprocal(total: np.float32, terms: Terms, _: Values) -> Any:
    return total * (_ONE / np.float32(terms.count))


def rooted(total: np.float32, _terms: Terms, _values: Values) -> Any:
    return np.sqrt(total)


@dataclass(frozen=True)
class Gemm:
    """alpha times a sum of products and beta times C, fused or not, alpha before or behind the sum."""

    def honest(self, values: Values) -> Iterator[Array]:
        alpha, beta, added = self._scales(values)
        every = list(general_products(values))
        for order in EVERY_ORDER:
            sums = [_sum(order, terms.a, terms.b) for terms in every]
            yield in_float32([alpha * one + beta * c for one, c in zip(sums, added, strict=True)])
            yield in_float32([fused(alpha, one, beta * c) for one, c in zip(sums, added, strict=True)])
            scaled = [_sum(order, alpha * terms.a, terms.b) for terms in every]
            yield in_float32([fused(beta, c, one) for one, c in zip(scaled, added, strict=True)])

    def faulty(self, values: Values) -> Mapping[str, Array]:
        alpha, beta, added = self._scales(values)
        every = list(general_products(values))
        lacking = [_sum(from_the_first, terms.a[:-1], terms.b[:-1]) for terms in every]
        plain = next(iter(self.honest(values)))
        return {
            "the last term left out": in_float32(
                [alpha * one + beta * c for one, c in zip(lacking, added, strict=True)]
            ),
            "inputs rounded to bfloat16": next(iter(self.honest(values.changed(through_bfloat16)))),
            "result rounded to float16": plain.astype(np.float16).astype(np.float32),
        }

    @staticmethod
    def _scales(values: Values) -> tuple[np.float32, np.float32, Array]:
        c = values["C"]
        added = np.zeros(values.output, np.float32) if c is None else np.broadcast_to(c, values.output)
        alpha, beta = (np.float32(values.attribute(name, 1.0)) for name in ("alpha", "beta"))
        return alpha, beta, added.reshape(-1)


def _fused_arrays(a: Any, b: Any, added: Any) -> Array:
    return (np.float64(a) * np.asarray(b, np.float64) + np.float64(added)).astype(np.float32)


def hard_sigmoid(values: Values, *, joined: bool) -> Array:
    x = values.given("X")
    alpha, beta = (np.float32(values.attribute(*each)) for each in (("alpha", 0.2), ("beta", 0.5)))
    line = _fused_arrays(alpha, x, beta) if joined else alpha * x + beta
    return np.asarray(np.clip(line, _ZERO, _ONE), np.float32)


def hard_swish(values: Values, *, joined: bool) -> Array:
    x, sixth, half = values.given("X"), np.float32(1 / 6), np.float32(0.5)
    line = _fused_arrays(sixth, x, half) if joined else sixth * x + half
    return np.asarray(x * np.clip(line, _ZERO, _ONE), np.float32)


def hard_swish_taken_out(values: Values) -> Array:
    x, sixth = values.given("X"), np.float32(1 / 6)
    with np.errstate(over="ignore"):
        product = x * np.clip(x + np.float32(3), _ZERO, np.float32(6)) * sixth
    return np.asarray(np.where(np.isinf(product), x, product), np.float32)


def times_reciprocal(a: Array, b: Array) -> Array:
    return np.asarray(a * (_ONE / b))


def binary(function: Callable[[Array, Array], Array]) -> Callable[[Values], Array]:
    return lambda values: np.asarray(function(*operands_of(values)), np.float32)


def unary(function: Callable[[Array], Array]) -> Callable[[Values], Array]:
    return lambda values: np.asarray(function(*operands_of(values)), np.float32)


FAMILIES: Mapping[str, Mapping[str, Formula]] = {
    "element by element": {
        "Add": Elementwise((binary(np.add),)),
        "Sub": Elementwise((binary(np.subtract),)),
        "Mul": Elementwise((binary(np.multiply),)),
        "Div": Elementwise((binary(np.divide), binary(times_reciprocal))),
        "Sqrt": Elementwise((unary(np.sqrt),)),
        "Reciprocal": Elementwise((unary(lambda a: _ONE / a),)),
        "HardSigmoid": Elementwise(
            (
                lambda values: hard_sigmoid(values, joined=False),
                lambda values: hard_sigmoid(values, joined=True),
            )
        ),
        "HardSwish": Elementwise(
            (
                lambda values: hard_swish(values, joined=False),
                lambda values: hard_swish(values, joined=True),
                hard_swish_taken_out,
            )
        ),
        "Sum": Summed(added_up),
        "Mean": Summed(added_up, (divided, by_reciprocal)),
    },
    "reductions": {
        "ReduceSum": Summed(reduced),
        "ReduceMean": Summed(reduced, (divided, by_reciprocal)),
        "ReduceL1": Summed(magnitudes),
        "ReduceL2": Summed(squares, (rooted,)),
        "ReduceSumSquare": Summed(squares),
    },
    "products": {"ReduceProd": Multiplied(reduced), "CumProd": Multiplied(running)},
    "running sums": {"CumSum": Summed(running)},
    "contractions": {
        "MatMul": Summed(matrix_products),
        "Gemm": Gemm(),
        "Conv": Summed(convolved),
        "ConvTranspose": Summed(convolved_back),
    },
    "pooling": {
        "AveragePool": Summed(pooled, (divided, by_reciprocal)),
        "GlobalAveragePool": Summed(pooled_whole, (divided, by_reciprocal)),
    },
}
