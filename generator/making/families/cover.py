"""Cases that cover every feasible combination of factor levels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice

import numpy as np

from generator.calls.declared.modelled import Instead, KeptDraws, digest_of_rows
from generator.calls.rows.cores import model_with_cores
from generator.calls.rows.covering import cover, with_fixed
from generator.calls.rows.covering_rows import DealtRows
from generator.calls.rows.feasibility import FREE, Level, Model, Row, Solver
from generator.calls.rows.level_tuples import TupleTable, factor_sets, padded
from generator.making.cases.clearest import Clearest, Draws, MadeCase, drawn_call
from generator.making.operators.workshop import Workshop
from opcert.vocabulary.errors import InternalError


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
        better = [drop for drop in sorted(drops, key=lambda each: (-each[0], each[1:])) if drop[0] > 0]
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
        self._rows = {changes.get(row, row): None for row in self._rows}
        self._movable = {changes.get(each, each): None for each in self._movable}
        self._counts = self._counted()

    def _if_possible(self, changes: dict[Row, Row]) -> Iterator[dict[Row, Row]]:
        """The changes, where no rule forbids a new row and everything stays covered."""
        if any(change in self._rows or not self._solver.extendable(change) for change in changes.values()):
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
    shares = {
        row: made_case.share if made_case is not None else Fraction(0) for row, made_case in made.items()
    }
    focus = workshop.levels.focus
    movable = [
        row for row, made_case in made.items() if made_case is not None and not _has(model, row, focus)
    ]
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
            doubtful = sum(_several(made[change]) for change in changes)
            new = _clearest_of(tried, array, changes, doubtful - best[0])
            if new is not None:
                best = (doubtful - sum(map(_several, new.values())), changes, new)
                if all(made_case.share <= UNCLEAR for made_case in new.values()):
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


def make_cases(workshop: Workshop) -> None:
    if not workshop.model.levels:
        return
    kept = workshop.kept_draws
    array, beside = dealt_rows(workshop, first_seeds(workshop))
    digest = digest_of_rows(array, beside)
    if kept is not None and kept.rows == digest:
        _make_again(Draws(workshop), array, beside, kept)
    else:
        kept = _search(Draws(workshop), array, beside, digest)
    workshop.draws = kept


def dealt_rows(
    workshop: Workshop, seeds: Sequence[Mapping[str, object]]
) -> tuple[DealtRows, list[Mapping[str, str]]]:
    """The rows for which cases are to be found, with their types, and the levels of those beside them."""
    array = DealtRows(workshop.model, taken=list(workshop.rows))
    rows = cover(array.model, workshop.options.strength, seeds)
    if workshop.options.size != "small":
        rows += _focused_rows(workshop)
    beside = array.deal(list(dict.fromkeys(rows)), workshop.levels.deal)
    if lacking := [row for row in rows if row not in array.types and row not in array.taken_rows]:
        beside = _deal_again(workshop, array, lacking) or beside
    return array, beside


def first_seeds(workshop: Workshop) -> list[Mapping[str, Level]]:
    """The rows that an array begins with: those that are taken or selected, and else the plainest one."""
    model = workshop.model
    plainest = Solver(model).complete([FREE] * len(model.sizes))
    if plainest is None:
        raise InternalError(f"the exclusions of {workshop.spec.operator} leave no combination of levels")
    taken = list(map(model.row_levels, DealtRows(model, taken=list(workshop.rows)).taken_rows))
    return [*taken, *_selected_rows(workshop)] or [model.row_levels(plainest)]


def _search(draws: Draws, array: DealtRows, beside: Sequence[Mapping[str, str]], digest: str) -> KeptDraws:
    """Put the clearest case of each row into the suite, and clearer rows in the place of unclear ones."""
    workshop, places = draws.workshop, {row: place for place, row in enumerate(array.types)}
    made: dict[Row, MadeCase | None] = dict.fromkeys(array.taken_rows)
    before = list(workshop.rows)
    for row in array.types:
        levels = array.texts(row)
        made[row] = None if levels in workshop.rows else _make_case(draws, levels)
    asked = [*map(array.texts, array.types), *beside]
    found = [made[row] for row in array.types]
    found += [None if more in workshop.rows else _make_case(draws, more) for more in beside]
    gone: set[int] = set()
    for changes in clear_up(draws, array, made):
        places.update({new: places.pop(old) for old, new in changes.items()})
        gone |= {places[new] for new in changes.values()}
    # A row that was replaced may come back in the place of another.
    instead = [
        Instead(places[row], row, made_case.attempt)
        for row, made_case in made.items()
        if made_case is not None and places[row] in gone
    ]
    kept = [
        None if made_case is None or place in gone else made_case.attempt
        for place, made_case in enumerate(found)
    ]
    if instead:
        lacking = zip(asked, found, strict=True)
        _make_lacking(draws, [each for each, case in lacking if case is None and each not in before])
    return KeptDraws(digest, tuple(kept), tuple(instead))


def _make_again(draws: Draws, array: DealtRows, beside: Sequence[Mapping[str, str]], kept: KeptDraws) -> None:
    """Put the cases into the suite that a search found; where a draw is none now, the row's clearest one."""
    rows, replaced = list(array.types), {instead.place for instead in kept.instead}
    dealt = zip([*map(array.texts, rows), *beside], kept.draws, strict=True)
    before = list(draws.workshop.rows)
    found = [(row, draw) for place, (row, draw) in enumerate(dealt) if place not in replaced]
    found = [(levels, draw) for levels, draw in found if levels not in before]
    lacking = [levels for levels, draw in found if draw is None] if kept.instead else []
    if kept.instead:
        found = [(levels, draw) for levels, draw in found if draw is not None]
    found += [(array.texts(instead.row, rows[instead.place]), instead.draw) for instead in kept.instead]
    for levels, draw in found:
        made = None if draw is None else draws.again(levels, draw)
        if made is None:
            _make_case(draws, levels)
        else:
            made.keep(draws.workshop, levels)
    _make_lacking(draws, lacking)


def _make_lacking(draws: Draws, rows: Sequence[Mapping[str, str]]) -> None:
    """Cases of rows that had none of their own: the case that covered one may have been replaced since."""
    workshop = draws.workshop
    for levels in rows:
        if levels in workshop.rows:
            workshop.rows.remove(levels)
        if levels not in workshop.dropped:
            _make_case(draws, levels)


def _deal_again(
    workshop: Workshop, array: DealtRows, lacking: Sequence[Row]
) -> list[Mapping[str, str]] | None:
    """Deal more rows where some that no call has leave levels uncovered; None where they leave nothing.

    What the cores of pairs do not tell of is learned of these rows.
    """
    model, core_of = array.model, workshop.levels.core_of
    possible = model_with_cores(model, [core_of(model.row_levels(row)) for row in lacking])
    dealt = list(array.types)
    seeds = [model.row_levels(row) for row in (*array.taken_rows, *dealt)]
    rows = cover(possible, workshop.options.strength, seeds)
    more = [row for row in rows if row not in array.types and row not in array.taken_rows]
    if not more:
        return None
    array.types.clear()
    return array.deal([*dealt, *more], workshop.levels.deal)


def _selected_rows(workshop: Workshop) -> list[Mapping[str, Level]]:
    """The rows of the cases that `workshop.selected` names, which are made here."""
    model = workshop.model
    rows: list[Mapping[str, Level]] = []
    for selected in workshop.selected:
        row = model.row_of(selected.levels)
        if selected.attempt is None or row is None:
            continue
        call = drawn_call(workshop, selected.levels, selected.attempt)
        if call is not None and call.digest(workshop.spec.operator) == selected.digest:
            workshop.add_valid("cover", None, call, selected.levels)
            workshop.rows.append(selected.levels)
            # Types that are dealt out over rows are no factors of theirs.
            rows.append(model.row_levels(row))
    return rows


def _focused_rows(workshop: Workshop) -> list[Row]:
    """Rows that cover the other factors once more, with some levels fixed.

    Where a runtime supports few levels of a factor, most of the ordinary rows hide what it does with the
    other factors; among these, none is hidden by the focused ones.
    """
    focus = workshop.levels.focus
    return cover(with_fixed(workshop.model, focus), workshop.options.strength) if focus else []


def _make_case(draws: Draws, levels: Mapping[str, str]) -> MadeCase | None:
    """Put the clearest case of a row into the suite; None where there is none."""
    workshop, found = draws.workshop, draws.clearest(levels)
    if not found.drawn:
        raise InternalError(
            f"no call of {workshop.spec.operator} has levels that no exclusion rules out", got=str(levels)
        )
    if found.made is not None:
        found.made.keep(workshop, levels)
        return found.made
    # A call without anything random in it may be another family's case already: that one covers the row.
    (workshop.rows if found.known else workshop.dropped).append(levels)
    return None
