"""Rows of a covering array instead of others, where those leave too many elements with several results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np

from generator.calls.rows.feasibility import Model, Row, Solver
from generator.calls.rows.level_tuples import TupleTable, factor_sets, padded


class Replacements:
    """Finds rows that may stand in for others of an array: everything stays covered.

    `shares` says for each row what part of its case's elements has several accepted results, `movable` which
    rows may be replaced.
    """

    def __init__(
        self, model: Model, strength: int, shares: Mapping[Row, Fraction], movable: Iterable[Row]
    ) -> None:
        self._model = model
        self._solver = Solver(model)
        self._table = TupleTable(model.sizes, factor_sets(model, strength))
        self._rows = dict.fromkeys(shares)
        self._movable = dict.fromkeys(movable)
        self._blame = _mean_shares(model, shares)
        self._counts = self._counted()

    def changes_for(self, row: Row) -> Iterator[dict[Row, Row]]:
        """What to put instead of one row, or of two: each old row with its new one; nothing for others.

        Changes of the row alone come first; then those in which it exchanges a level with another row. Of
        either, those come first whose new level has so far been the clearer one.
        """
        if row not in self._movable:
            return
        drops = [
            (self._blame[factor][row[factor]] - mean, factor, level)
            for factor, means in enumerate(self._blame)
            for level, mean in enumerate(means)
            if level != row[factor]
        ]
        better = [each for each in sorted(drops, key=lambda each: (-each[0], each[1:])) if each[0] > 0]
        for _, factor, level in better:
            yield from self._if_possible({row: _with_level(row, factor, level)})
        for _, factor, level in better:
            for other in self._movable:
                if other[factor] == level:
                    changed = {
                        row: _with_level(row, factor, level),
                        other: _with_level(other, factor, row[factor]),
                    }
                    yield from self._if_possible(changed)

    def replace(self, changes: Mapping[Row, Row]) -> None:
        """Note that rows were replaced."""
        self._rows = {changes.get(each, each): None for each in self._rows}
        self._movable = {changes.get(each, each): None for each in self._movable}
        self._counts = self._counted()

    def _if_possible(self, changes: dict[Row, Row]) -> Iterator[dict[Row, Row]]:
        """The changes, where no rule forbids a new row and everything stays covered."""
        if any(each in self._rows or not self._solver.extendable(each) for each in changes.values()):
            return
        counts = self._counts.copy()
        numbers = self._table.numbers(padded([*changes, *changes.values()], len(self._model.sizes)))
        old, new = numbers[: len(changes)].reshape(-1), numbers[len(changes) :].reshape(-1)
        np.subtract.at(counts, old, 1)  # exact: integers
        np.add.at(counts, new, 1)  # exact: integers
        if (counts[old] > 0).all():
            yield changes

    def _counted(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """How often the rows have each combination."""
        numbers = self._table.numbers(padded(list(self._rows), len(self._model.sizes)))
        return np.bincount(numbers.reshape(-1), minlength=self._table.total)


def _with_level(row: Row, factor: int, level: int) -> Row:
    return (*row[:factor], level, *row[factor + 1 :])


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
