"""How far sums and products in float32 come to their bounds, in three orders, and the least planted fault.

    uv run python -m tools.bounds_of_sums 400

For each formula that many random rows of 2 to 300 well-conditioned elements are computed from the first
element on, pairwise, and in blocks of eight with fused multiply-add. A line has the worst share of what is
allowed, and the least share of a fault: one term left out, of rows whose terms are alike in magnitude.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.tensors import tensor
from reference.answers.number_answers import answer_of
from reference.numbers.number_arrays import Numbers
from reference.readings.choices import Choice
from reference.sums.products import product
from reference.sums.summation import mean_of, sum_of_products, total
from tools.asked import number_asked

Row = NDArray[np.float32]
Computed = Callable[[Row, Row], np.float32]
_ONE = np.float32(1)


def fused(a: Any, b: Any, added: Any) -> np.float32:
    """a * b + added, rounded once: the product is exact in float64."""
    return np.float32(np.float64(a) * np.float64(b) + np.float64(added))


def from_the_first(a: Row, b: Row) -> np.float32:
    found = np.float32(0)
    for left, right in zip(a, b, strict=True):
        found = np.float32(found + np.float32(left * right))
    return found


def pairwise(a: Row, b: Row) -> np.float32:
    terms = list(a * b)
    while len(terms) > 1:
        odd = terms[-1:] if len(terms) % 2 else []
        terms = [np.float32(x + y) for x, y in zip(terms[::2], terms[1::2], strict=False)] + odd
    return np.float32(terms[0])


def in_fused_blocks(a: Row, b: Row) -> np.float32:
    lanes = [np.float32(0)] * 8
    for place, (left, right) in enumerate(zip(a, b, strict=True)):
        lanes[place % 8] = fused(left, right, lanes[place % 8])
    return pairwise(np.array(lanes, np.float32), np.ones(8, np.float32))


ORDERS: tuple[Computed, ...] = (from_the_first, pairwise, in_fused_blocks)


def multiplied(a: Row, order: Computed) -> np.float32:
    """The product, from the first element on, by halves, or in eight lanes."""
    if order is from_the_first:
        return np.float32(np.multiply.accumulate(a)[-1])
    lanes = (
        [a[place::8] for place in range(min(8, len(a)))] if order is in_fused_blocks else [a[::2], a[1::2]]
    )
    each_lane = [np.multiply.accumulate(each)[-1] for each in lanes if len(each)]
    return np.float32(np.multiply.accumulate(each_lane)[-1])


FORMULAS: dict[str, tuple[Callable[[Numbers, Numbers], Numbers], Callable[[Row, Row, Computed], Any]]] = {
    "sum": (lambda a, _: total(a, 0), lambda a, _, order: order(a, np.ones_like(a))),
    "mean": (
        lambda a, _: mean_of(total(a, 0), a.shape[0]),
        lambda a, _, order: order(a, np.ones_like(a)) * (_ONE / np.float32(len(a))),
    ),
    "sum of products": (sum_of_products, lambda a, b, order: order(a, b)),
    "root of the sum of squares": (
        lambda a, _: sum_of_products(a, a).sqrt(),
        lambda a, _, order: np.sqrt(order(a, a)),
    ),
    "product": (lambda a, _: product(a, 0), lambda a, _, order: multiplied(a, order)),
}


def share(expected: Any, allowed: Any, got: Any) -> float:
    """A result's distance from the expectation, in units of what is allowed."""
    apart = abs(float(expected) - float(got))
    return 0.0 if apart == 0 else apart / float(allowed) if allowed else float("inf")


def measure(rows: int) -> dict[str, tuple[float, float]]:
    """By formula the worst share of an honest result, and the least of one without its last term."""
    draw = np.random.default_rng(15)
    found = {}
    for name, (formula, compute) in FORMULAS.items():
        worst, least = 0.0, float("inf")
        for _ in range(rows):
            count = int(draw.integers(2, 60 if name == "product" else 300))
            size = draw.uniform(1.25, 2.0, (2, count)).astype(np.float32)
            signs = np.where(draw.random(count) < draw.choice([0.0, 0.3]), -1, 1).astype(np.float32)
            a, b = size[0] * signs, size[1]
            first = Numbers.of(tensor(a))
            answer = answer_of(formula(first, Numbers.of(tensor(b), first.working)), Choice("wrap"))
            assert answer.allowed is not None
            expected, allowed = answer.expected.array, answer.allowed
            worst = max(worst, *(share(expected, allowed, compute(a, b, order)) for order in ORDERS))
            fewer = compute(a[:-1], b[:-1], from_the_first)
            if name == "mean":
                fewer = fewer * np.float32(count - 1) / np.float32(count)
            least = min(least, share(expected, allowed, fewer))
        found[name] = (worst, least)
    return found


def main() -> None:
    rows = number_asked(__doc__, sys.argv[1:])
    for name, (worst, least) in measure(rows).items():
        print(f"| {name} | {worst:.2f} | {least:,.0f} |")


if __name__ == "__main__":
    main()
