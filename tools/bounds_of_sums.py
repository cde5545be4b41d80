"""How far sums and products in float32 come to their bounds, in three orders, and the least planted fault.

    uv run python -m tools.bounds_of_sums 400

For each formula that many random rows of 2 to 300 well-conditioned elements are computed from the first
element on, pairwise, and in blocks of eight with fused multiply-add. A line has the worst share of what is
allowed, and the least share of a fault: one term left out, of rows whose terms are alike in magnitude.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from opcert.vocabulary.tensors import tensor
from reference.answers.number_answers import answer_of
from reference.numbers.number_arrays import Numbers
from reference.readings.choices import Choice
from reference.sums.products import product
from reference.sums.summation import mean_of, sum_of_products, total
from tests.reference.float32_terms import ORDERS, Computed, Row, from_the_first, multiplied
from tools.asked import parser_of

_ONE = np.float32(1)


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
    parser = parser_of(__doc__)
    parser.add_argument("rows", nargs="?", type=int, default=400, metavar="NUMBER")
    rows = parser.parse_args().rows
    for name, (worst, least) in measure(rows).items():
        print(f"| {name} | {worst:.2f} | {least:,.0f} |")


if __name__ == "__main__":
    main()
