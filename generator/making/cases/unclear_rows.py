"""Rows of a covering array whose cases are unclear are replaced by clearer ones: everything stays covered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice

from generator.calls.rows.clearing import Replacements
from generator.calls.rows.dealt_rows import DealtRows
from generator.calls.rows.feasibility import Level, Model, Row
from generator.making.cases.clearest import Clearest, Draws, MadeCase
from generator.making.operators.workshop import Workshop

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
