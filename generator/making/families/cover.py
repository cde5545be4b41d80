"""Cases that cover every feasible combination of factor levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from generator.calls.declared.searched import Instead, KeptDraws, digest_of_rows
from generator.calls.rows.cores import model_with_cores
from generator.calls.rows.covering import cover, with_fixed
from generator.calls.rows.dealt_rows import DealtRows
from generator.calls.rows.feasibility import FREE, Level, Row, Solver
from generator.making.cases.clearest import Draws, MadeCase, drawn_call
from generator.making.cases.unclear_rows import clear_up
from generator.making.operators.workshop import Workshop
from opcert.vocabulary.errors import InternalError


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
        Instead(places[row], row, each.attempt)
        for row, each in made.items()
        if each is not None and places[row] in gone
    ]
    kept = [None if each is None or place in gone else each.attempt for place, each in enumerate(found)]
    if instead:
        lacking = zip(asked, found, strict=True)
        _make_lacking(draws, [each for each, case in lacking if case is None and each not in before])
    return KeptDraws(digest, tuple(kept), tuple(instead))


def _make_again(draws: Draws, array: DealtRows, beside: Sequence[Mapping[str, str]], kept: KeptDraws) -> None:
    """Put the cases into the suite that a search found; where a draw is none now, the row's clearest one."""
    rows, replaced = list(array.types), {each.place for each in kept.instead}
    dealt = zip([*map(array.texts, rows), *beside], kept.draws, strict=True)
    before = list(draws.workshop.rows)
    found = [(row, draw) for place, (row, draw) in enumerate(dealt) if place not in replaced]
    found = [(levels, draw) for levels, draw in found if levels not in before]
    lacking = [levels for levels, draw in found if draw is None] if kept.instead else []
    if kept.instead:
        found = [(levels, draw) for levels, draw in found if draw is not None]
    found += [(array.texts(each.row, rows[each.place]), each.draw) for each in kept.instead]
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
    for each in workshop.selected:
        row = model.row_of(each.levels)
        if each.attempt is None or row is None:
            continue
        call = drawn_call(workshop, each.levels, each.attempt)
        if call is not None and call.digest(workshop.spec.operator) == each.digest:
            workshop.add_valid("cover", None, call, each.levels)
            workshop.rows.append(each.levels)
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
