"""Rows of a covering array whose cases are unclear are replaced by clearer ones: everything stays covered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice

import numpy as np

from generator.calls.rows.dealt_rows import DealtRows
from generator.calls.rows.feasibility import Level, Model, Row, Solver
from generator.calls.rows.level_tuples import TupleTable, factor_sets, padded
from generator.making.cases.clearest import Clearest, Draws, MadeCase
from generator.making.operators.workshop import Workshop


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


UNCLEAR = Fraction(1, 20)
"""A row whose clearest case has a greater share is replaced, where another row covers as much."""
REPLACEMENTS = 16
"""So many changes are tried for one row."""
MOST_TRIED = 96
"""So many rows are tried in the place of others, of one operator."""
PATIENCE = 40
"""So many of them, one behind the other, may bring nothing: what is left is unclear whatever is drawn."""


def clear_up(draws: Draws, array: DealtRows, made: dict[Row, MadeCase | None]) -> Iterator[Mapping[Row, Row]]:
    """Replace the rows whose cases are unclear by clearer ones that leave nothing uncovered; each change.

    Those of the focus stay: among them everything is covered once more. A replacement that is unclear itself
    gets its turn, too; each has fewer doubtful elements than the ones before.
    """
    model, workshop = array.model, draws.workshop
    shares = {row: each.share if each is not None else Fraction(0) for row, each in made.items()}
    focus = workshop.levels.focus
    movable = [row for row, each in made.items() if each is not None and not _has(model, row, focus)]
    replacements = Replacements(model, workshop.options.strength, shares, movable)
    hopeless = _hopeless_levels(model, shares)
    unclear = [each for each in movable if shares[each] > UNCLEAR and not hopeless & set(enumerate(each))]
    tried, most = _Tried(draws), MOST_TRIED
    while unclear and len(tried.found) < min(most, PATIENCE):
        row = unclear.pop(0)
        best: tuple[int, Mapping[Row, Row], Mapping[Row, MadeCase]] = (0, {}, {})
        for changes in islice(replacements.changes_for(row), REPLACEMENTS):
            if len(tried.found) >= min(most, PATIENCE):
                break
            doubtful = sum(_several(made[each]) for each in changes)
            new = _clearest_of(tried, array, changes, doubtful - best[0])
            if new is not None:
                best = (doubtful - sum(map(_several, new.values())), changes, new)
                if all(each.share <= UNCLEAR for each in new.values()):
                    break
        if best[0]:
            most -= len(tried.found)
            _change(workshop, array, made, *best[1:])
            yield best[1]
            tried = _Tried(draws)
        replacements.replace(best[1])
        unclear = [each for each in unclear if each not in best[1]]
        unclear += [new for new in best[1].values() if best[2][new].share > UNCLEAR]


def _hopeless_levels(model: Model, shares: Mapping[Row, Fraction]) -> set[tuple[int, int]]:
    """The levels, as factor and index, of which no row is clear: whatever replaces one is as unclear."""
    clear = {level for row, share in shares.items() if share <= UNCLEAR for level in enumerate(row)}
    return {
        level for factor, size in enumerate(model.sizes) for level in ((factor, each) for each in range(size))
    } - clear


@dataclass(frozen=True, eq=False)
class _Tried:
    """The clearest cases of rows that were tried; they hold until another case is in the suite."""

    draws: Draws
    found: dict[frozenset[tuple[str, str]], Clearest] = field(default_factory=dict)

    def clearest(self, levels: Mapping[str, str]) -> Clearest:
        key = frozenset(levels.items())
        if key not in self.found:
            self.found[key] = self.draws.clearest(levels)
        return self.found[key]


def _clearest_of(
    tried: _Tried, array: DealtRows, changes: Mapping[Row, Row], most: int
) -> dict[Row, MadeCase] | None:
    """The clearest case of each new row: what was dealt to the old need not go with the new.

    None where a row has no case, or as soon as they have `most` doubtful elements or more.
    """
    found: dict[Row, MadeCase] = {}
    for old, row in changes.items():
        clearest = tried.clearest(array.texts(row, old))
        if clearest.least_several >= most:
            return None
        made = clearest.made
        most -= _several(made)
        if made is None or most <= 0:
            return None
        found[row] = made
    return found


def _several(made: MadeCase | None) -> int:
    return made.doubt.several if made is not None else 0


def _has(model: Model, row: Row, focus: Mapping[str, Level]) -> bool:
    levels = model.row_levels(row)
    return bool(focus) and all(levels.get(name, level) == level for name, level in focus.items())


def _change(
    workshop: Workshop,
    array: DealtRows,
    made: dict[Row, MadeCase | None],
    changes: Mapping[Row, Row],
    new: Mapping[Row, MadeCase],
) -> None:
    """Put cases of new rows into the suite instead of those of old ones."""
    for row, other in changes.items():
        old = made.pop(row)
        if old is not None:
            workshop.discard(old.call)
            workshop.rows.remove(array.texts(row))
            array.types[other] = array.types.pop(row)
            new[other].keep(workshop, array.texts(other))
            made[other] = new[other]
