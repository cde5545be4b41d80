"""CDist: distances between the rows of two matrices."""

from __future__ import annotations

import numpy as np

from reference.functions.stable_formulas import whichever
from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import opened
from reference.numbers.stacks import beside
from reference.registry import reference_operator
from reference.sums.summation import sum_of_products, total_of_products


@reference_operator("com.microsoft::CDist")
def distances_of_rows(A: Numbers, B: Numbers, *, metric: str = "sqeuclidean") -> Numbers:
    """The sum of (a - b)^2 for each row of A and of B, or its root.

    A program may compute a^2 - 2 a b + b^2 instead, and so has anything of an infinity.
    Source: CDist, metric, C.
    """
    rows, columns = A.reshape((A.shape[0], 1, A.shape[1])), B.reshape((1, *B.shape))
    apart = rows - columns
    plain = total_of_products(apart, apart, -1)

    def by_products() -> Numbers:
        shape = plain.shape + A.shape[1:]
        left, right = rows.broadcast(shape), columns.broadcast(shape)
        return sum_of_products(beside(left, left * -2, right), beside(left, right, right))

    of_rows, of_columns = (np.asarray(~given.finite.all(axis=1)) for given in (A, B))
    squares = opened(whichever(plain, by_products), of_rows[:, None] | of_columns)
    return squares.sqrt() if metric == "euclidean" else squares
