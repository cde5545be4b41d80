"""Rows of a covering array instead of others, where those leave too many elements with several results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np

from generator.feasibility import Model, Row, Solver
from generator.tuples import TupleTable, factor_sets, padded


class Replacements:
    """Finds rows that may stand in for one of an array: everything stays covered, one level is another.

    `shares` says for each row what part of its case's elements has several accepted results.
    """

    def __init__(self, model: Model, strength: int, shares: Mapping[Row, Fraction]) -> None:
        self._model = model
        self._solver = Solver(model)
        self._table = TupleTable(model.sizes, factor_sets(model, strength))
        self._rows = list(shares)
        self._blame = _mean_shares(model, shares)

    def rows_for(self, row: Row) -> Iterator[Row]:
        """Rows instead of one, those first whose new level has so far been the clearer one."""
        drops = [
            (self._blame[factor][row[factor]] - mean, factor, level)
            for factor, means in enumerate(self._blame)
            for level, mean in enumerate(means)
            if level != row[factor]
        ]
        counts = self._counts()
        for drop, factor, level in sorted(drops, key=lambda each: (-each[0], each[1:])):
            other = (*row[:factor], level, *row[factor + 1 :])
            if drop > 0 and self._solver.extendable(other) and self._stays_covered(row, other, counts):
                yield other

    def replace(self, row: Row, other: Row) -> None:
        """Note that a row was replaced."""
        self._rows[self._rows.index(row)] = other

    def _counts(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        numbers = self._table.numbers(padded(self._rows, len(self._model.sizes)))
        return np.bincount(numbers.reshape(-1), minlength=self._table.total)

    def _stays_covered(
        self, row: Row, other: Row, counts: np.ndarray[tuple[int], np.dtype[np.int64]]
    ) -> bool:
        old, new = self._table.numbers(padded([row, other], len(row)))
        return bool((counts[old[old != new]] > 1).all())


def _mean_shares(model: Model, shares: Mapping[Row, Fraction]) -> Sequence[Sequence[Fraction]]:
    """For each level of each factor the mean share of the rows that have it."""
    return [
        [
            sum(found, Fraction(0)) / len(found)
            if (found := [share for row, share in shares.items() if row[factor] == level])
            else Fraction(1)
            for level in range(size)
        ]
        for factor, size in enumerate(model.sizes)
    ]
