"""Honest programs in float16 and bfloat16, rounded after each operation: nothing here is the reference's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Narrow = type[Any]
TYPES: Mapping[str, Narrow] = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16}
LEAST_NORMAL = {"float16": 2.0**-14, "bfloat16": 2.0**-126}


@dataclass(frozen=True)
class Tried:
    """A call, its inputs by name in order, and what honest programs make of it."""

    operator: str
    attributes: Mapping[str, Any]
    inputs: Sequence[tuple[str, Array]]
    results: Sequence[Array]


class Programs:
    """Random calls in one narrow type, each computed in the type itself, in float32, and in both by turns."""

    def __init__(self, kind: str, seed: int) -> None:
        self.kind = kind
        self.narrow: Narrow = TYPES[kind]
        self.draw = np.random.default_rng(seed)

    def numbers(self, *shape: int) -> Array:
        """Numbers of several magnitudes, some of them subnormal."""
        draw = self.draw
        found = draw.normal(size=shape) * 2.0 ** draw.integers(-6, 7, shape)
        tiny = draw.normal(size=shape) * LEAST_NORMAL[self.kind]
        return np.where(draw.random(shape) < 0.1, tiny, found).astype(self.narrow)

    def constant(self) -> float:
        """An attribute: a float32 that is none of the type as a rule."""
        return float(np.float32(self.draw.choice([3.0, self.draw.normal(), 0.01])))

    def rounded(self, given: Array) -> Array:
        return np.asarray(given).astype(self.narrow)

    def wide(self, given: Any) -> Array:
        return np.asarray(given).astype(np.float32)

    def added(self, rows: Array) -> Array:
        """The sums of a last axis from its first element on, each rounded."""
        return self._chained(rows, lambda one, other: one + other)

    def multiplied(self, rows: Array) -> Array:
        return self._chained(rows, lambda one, other: one * other)

    def _chained(self, rows: Array, operation: Callable[[Array, Array], Array]) -> Array:
        found = rows[..., 0]
        for at in range(1, rows.shape[-1]):
            found = self.rounded(operation(found, rows[..., at]))
        return found

    def calls(self) -> Iterator[Tried]:
        """One call of each kind."""
        yield from self._quotients()
        yield from self._lines()
        yield from self._sums()
        yield from self._products()

    def _quotients(self) -> Iterator[Tried]:
        r, a, b = self.rounded, self.numbers(6), self.numbers(6)
        b = np.where(b == 0, self.narrow(1), b)
        one = self.narrow(1)
        by_division = [a / b, r(self.wide(a) / self.wide(b))]
        by_reciprocal = [a * r(one / b), r(self.wide(a) * (np.float32(1) / self.wide(b)))]
        yield Tried("Div", {}, (("A", a), ("B", b)), [*by_division, *by_reciprocal])
        yield Tried("Reciprocal", {}, (("X", b),), [one / b])
        yield Tried("Sqrt", {}, (("X", abs(a)),), [np.sqrt(abs(a)), r(np.sqrt(self.wide(abs(a))))])
        yield Tried("Mul", {}, (("A", a), ("B", b)), [a * b, r(self.wide(a) * self.wide(b))])

    def _lines(self) -> Iterator[Tried]:
        r, w, x, t = self.rounded, self.wide, self.numbers(6), self.narrow
        alpha, beta = self.constant(), self.constant()
        wide_alpha, wide_beta, zero, one = np.float32(alpha), np.float32(beta), t(0), t(1)
        leaky = [np.where(x < zero, each, x) for each in (x * t(alpha), r(w(x) * wide_alpha))]
        yield Tried("LeakyRelu", {"alpha": alpha}, (("X", x),), leaky)
        lines = (
            r(r(x * t(alpha)) + t(beta)),
            r(w(x) * wide_alpha + wide_beta),
            r(w(r(w(x) * wide_alpha)) + wide_beta),
        )
        clipped = [np.clip(line, zero, one) for line in lines]
        yield Tried("HardSigmoid", {"alpha": alpha, "beta": beta}, (("X", x),), clipped)
        near = np.array([*x[2:], t(alpha), -t(alpha)], dtype=t)
        above = [np.where(near > t(alpha), near, zero), np.where(w(near) > wide_alpha, near, zero)]
        yield Tried("ThresholdedRelu", {"alpha": alpha}, (("X", near),), above)
        third = np.float32(1 / 6)
        gates = (
            np.clip(r(r(x * t(third)) + t(0.5)), zero, one),
            np.clip(w(x) * third + np.float32(0.5), np.float32(0), np.float32(1)),
        )
        taken_out = r(r(x * np.clip(r(x + t(3)), zero, t(6))) * t(third))
        yield Tried("HardSwish", {}, (("X", x),), [r(x * gates[0]), r(w(x) * gates[1]), taken_out])
        if self.kind == "float16":
            yield from self._shrunk(near, beta, abs(alpha))

    def _shrunk(self, x: Array, bias: float, lambd: float) -> Iterator[Tried]:
        def shrunk(given: Array, held: Callable[[float], Any], limit: Any) -> Array:
            b, zero = held(bias), held(0)
            inner = np.where(given > limit, self.rounded(given - b), zero)
            return self.rounded(np.where(given < -limit, self.rounded(given + b), inner))

        results = [
            shrunk(x, self.narrow, self.narrow(lambd)),
            shrunk(self.wide(x), np.float32, np.float32(lambd)),
        ]
        yield Tried("Shrink", {"bias": bias, "lambd": lambd}, (("input", x),), results)

    def _sums(self) -> Iterator[Tried]:
        r, t, count = self.rounded, self.narrow, int(self.draw.integers(2, 7))
        x, axes = self.numbers(3, count), np.array([1])
        narrow, wide = self.added(x), self.wide(x).sum(axis=1)
        flat = {"keepdims": 0}
        yield Tried("ReduceSum", flat, (("data", x), ("axes", axes)), [narrow, r(wide)])
        means = [r(narrow / t(count)), r(narrow * r(t(1) / t(count))), r(wide / np.float32(count))]
        yield Tried("ReduceMean", flat, (("data", x), ("axes", axes)), [*means, r(r(wide) / t(count))])
        squares, wide_squares = self.added(r(x * x)), (self.wide(x) ** 2).sum(axis=1)
        roots = [r(np.sqrt(squares)), r(np.sqrt(wide_squares)), r(np.sqrt(r(wide_squares)))]
        yield Tried("ReduceL2", flat, (("data", x), ("axes", axes)), roots)
        running = np.stack([self.added(x[:, : at + 1]) for at in range(count)], axis=-1)
        yield Tried("CumSum", {}, (("x", x), ("axis", np.array(1))), [running])

    def _products(self) -> Iterator[Tried]:
        r, t, w, count = self.rounded, self.narrow, self.wide, int(self.draw.integers(1, 5))
        x, axes = self.numbers(3, count), np.array([1])
        plain = (("data", x), ("axes", axes))
        yield Tried("ReduceProd", {"keepdims": 0}, plain, [self.multiplied(x), r(w(x).prod(axis=1))])
        a, b, c = (self.numbers(5) for _ in range(3))
        orders = [r(r(a * b) * c), r(a * r(b * c)), r(r(a * c) * b)]
        operands = (("Inputs", a), ("Inputs", b), ("Inputs", c))
        yield Tried("Einsum", {"equation": "i,i,i->i"}, operands, orders)
        left, right, added = self.numbers(3, count), self.numbers(count, 2), self.numbers(3, 2)
        alpha, beta = self.constant(), self.constant()

        def product(one: Array) -> Array:
            return self.added(r(one[:, None, :] * np.swapaxes(right, 0, 1)[None]))

        exact = (w(left)[:, None, :] * w(right).T[None]).sum(axis=-1)
        more = r(t(beta) * added)
        results = [
            r(r(t(alpha) * product(left)) + more),
            r(product(r(t(alpha) * left)) + more),
            r(r(t(alpha) * r(exact)) + more),
            r(np.float32(alpha) * exact + np.float32(beta) * w(added)),
        ]
        given = (("A", left), ("B", right), ("C", added))
        yield Tried("Gemm", {"alpha": alpha, "beta": beta}, given, results)
        alone = [r(t(alpha) * product(left)), r(product(r(t(alpha) * left)))]
        yield Tried("Gemm", {"alpha": alpha}, given[:2], alone)
