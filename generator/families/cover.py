"""Cases that cover every feasible combination of factor levels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice

from conformance.suite.cases import Case
from generator.ambiguity import ambiguity, ambiguity_of
from generator.calls import Call
from generator.clearing import Replacements
from generator.cores import model_with_cores
from generator.covering import cover, with_fixed
from generator.expectations import plain_outputs
from generator.feasibility import FREE, Level, Model, Row, Solver
from generator.workshop import Workshop
from opcert.vocabulary.errors import InternalError
from reference.answers import UnstableLength

_Deal = Callable[[Sequence[Mapping[str, str]]], Sequence[Mapping[str, str]]]
ATTEMPTS = 25
"""Draws for one row before it is given up: an output length may hang on rounding, or the call be known."""

CLEARER = 8
"""Draws among which the clearest is taken."""
CLEAR = Fraction(1, 100)
"""A share of elements with several accepted results that is clear enough."""
UNCLEAR = Fraction(1, 20)
"""A row whose clearest case has a greater share is replaced, where another row covers as much."""
ALIKE = 3
HOPELESS = Fraction(1, 4)
"""Where each of so many draws has a greater share, it is the levels that are unclear, and not the numbers."""
REPLACEMENTS = 16
"""So many changes are tried for one row."""
MOST_TRIED = 96
"""So many rows are tried in the place of others, of one operator."""


@dataclass(frozen=True, eq=False)
class _Made:
    """A case, its call, and the share of its elements that have several accepted results."""

    share: Fraction
    call: Call
    case: Case


def make_cases(workshop: Workshop) -> None:
    model = workshop.model
    if not model.levels:
        return
    plainest = Solver(model).complete([FREE] * len(model.sizes))
    if plainest is None:
        raise InternalError(f"the exclusions of {workshop.spec.operator} leave no combination of levels")
    seeds = _selected_rows(workshop) or [model.row_levels(plainest)]
    rows = cover(model, workshop.options.strength, seeds)
    if workshop.options.size != "small":
        rows += _focused_rows(model, getattr(workshop.levels, "FOCUS", {}), workshop.options.strength)
    array = _Array(model)
    beside = array.deal(list(dict.fromkeys(rows)), getattr(workshop.levels, "deal", None))
    if lacking := [row for row in rows if row not in array.types]:
        beside = _deal_again(workshop, array, lacking) or beside
    made: dict[Row, _Made | None] = {}
    for row in array.types:
        levels = array.texts(row)
        made[row] = None if levels in workshop.rows else _make_case(workshop, levels)
    for more in beside:
        if more not in workshop.rows:
            _make_case(workshop, more)
    _clear_up(workshop, array, made)


def _deal_again(workshop: Workshop, array: _Array, lacking: Sequence[Row]) -> list[Mapping[str, str]] | None:
    """Deal more rows where some that no call has leave levels uncovered; None where they leave nothing.

    What the cores of pairs do not tell of is learned of these rows.
    """
    core_of = getattr(workshop.levels, "core_of", None)
    if core_of is None:
        return None
    model = array.model
    possible = model_with_cores(model, [core_of(model.row_levels(row)) for row in lacking])
    dealt = list(array.types)
    rows = cover(possible, workshop.options.strength, [model.row_levels(row) for row in dealt])
    more = [row for row in rows if row not in array.types]
    if not more:
        return None
    array.types.clear()
    return array.deal([*dealt, *more], getattr(workshop.levels, "deal", None))


@dataclass(frozen=True, eq=False)
class _Array:
    """Rows of a covering array, each with the levels that were dealt to it: element types."""

    model: Model
    types: dict[Row, Mapping[str, str]] = field(default_factory=dict)

    def deal(self, rows: Sequence[Row], deal: _Deal | None) -> list[Mapping[str, str]]:
        """Take the rows, with what is dealt to them; the levels of those that are dealt beside them."""
        if deal is None:
            self.types.update((row, {}) for row in rows)
            return []
        known = {tuple(sorted(self._plain(row).items())): row for row in rows}
        beside: list[Mapping[str, str]] = []
        for levels in deal([self._plain(row) for row in rows]):
            plain = {name: level for name, level in levels.items() if name in self.model.levels}
            row = known.get(tuple(sorted(plain.items())))
            if row is None or row in self.types:
                beside.append(levels)
            else:
                self.types[row] = {name: level for name, level in levels.items() if name not in plain}
        return beside

    def texts(self, row: Row, dealt_to: Row | None = None) -> dict[str, str]:
        """The levels of a row as texts, with what was dealt to it, or to the row that it replaces."""
        return {**self._plain(row), **self.types[row if dealt_to is None else dealt_to]}

    def _plain(self, row: Row) -> dict[str, str]:
        return {name: str(level) for name, level in self.model.row_levels(row).items()}


def _clear_up(workshop: Workshop, array: _Array, made: dict[Row, _Made | None]) -> None:
    """Replace the rows whose cases are unclear by clearer ones that leave nothing uncovered.

    Those of the focus stay: among them everything is covered once more. A replacement that is unclear itself
    gets its turn, too; each has fewer doubtful elements than the ones before.
    """
    model = array.model
    shares = {row: each.share if each is not None else Fraction(0) for row, each in made.items()}
    focus = getattr(workshop.levels, "FOCUS", {})
    movable = [row for row, each in made.items() if each is not None and not _has(model, row, focus)]
    replacements = Replacements(model, workshop.options.strength, shares, movable)
    hopeless = _hopeless_levels(model, shares)
    unclear = [each for each in movable if shares[each] > UNCLEAR and not hopeless & set(enumerate(each))]
    tried, most = _Tried(workshop), MOST_TRIED
    while unclear and len(tried.found) < most:
        row = unclear.pop(0)
        best: tuple[int, Mapping[Row, Row], Mapping[Row, _Made]] = (0, {}, {})
        for changes in islice(replacements.changes_for(row), REPLACEMENTS):
            if len(tried.found) >= most:
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
            tried = _Tried(workshop)
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

    workshop: Workshop
    found: dict[frozenset[tuple[str, str]], _Made | None] = field(default_factory=dict)

    def clearest(self, levels: Mapping[str, str]) -> _Made | None:
        key = frozenset(levels.items())
        if key not in self.found:
            self.found[key] = _clearest(self.workshop, levels).made
        return self.found[key]


def _clearest_of(
    tried: _Tried, array: _Array, changes: Mapping[Row, Row], most: int
) -> dict[Row, _Made] | None:
    """The clearest case of each new row: what was dealt to the old need not go with the new.

    None where a row has no case, or as soon as they have `most` doubtful elements or more.
    """
    found: dict[Row, _Made] = {}
    for old, row in changes.items():
        made = tried.clearest(array.texts(row, old))
        most -= _several(made)
        if made is None or most <= 0:
            return None
        found[row] = made
    return found


def _several(made: _Made | None) -> int:
    return ambiguity([made.case]).several if made is not None else 0


def _has(model: Model, row: Row, focus: Mapping[str, Level]) -> bool:
    levels = model.row_levels(row)
    return bool(focus) and all(levels.get(name, level) == level for name, level in focus.items())


def _change(
    workshop: Workshop,
    array: _Array,
    made: dict[Row, _Made | None],
    changes: Mapping[Row, Row],
    new: Mapping[Row, _Made],
) -> None:
    """Put cases of new rows into the suite instead of those of old ones."""
    for row, other in changes.items():
        old = made.pop(row)
        if old is not None:
            workshop.discard(old.call)
            workshop.rows.remove(array.texts(row))
            array.types[other] = array.types.pop(row)
            _keep(workshop, new[other], array.texts(other))
            made[other] = new[other]


def _selected_rows(workshop: Workshop) -> list[Mapping[str, Level]]:
    """The rows of the cases that `workshop.selected` names, which are made here."""
    model = workshop.model
    rows: list[Mapping[str, Level]] = []
    for each in workshop.selected:
        plain = {name: {str(level): level for level in levels} for name, levels in model.levels.items()}
        if each.attempt is None or any(each.levels.get(name) not in plain[name] for name in plain):
            continue
        call = drawn_call(workshop, each.levels, each.attempt)
        if call is not None and call.digest(workshop.spec.operator) == each.digest:
            workshop.add_valid("cover", None, call, each.levels)
            workshop.rows.append(each.levels)
            rows.append({name: plain[name][level] for name, level in each.levels.items()})
    return rows


def drawn_call(workshop: Workshop, levels: Mapping[str, str], attempt: int) -> Call | None:
    """One of the calls that are drawn for a row; None where no call has its levels."""
    label = " ".join(f"{name}={level}" for name, level in sorted(levels.items()))
    draw = workshop.draw("cover", label).child(str(attempt))
    return workshop.levels.build_call(workshop.spec, levels, draw)


def _focused_rows(model: Model, focus: Mapping[str, Level], strength: int) -> list[Row]:
    """Rows that cover the other factors once more, with some levels fixed.

    Where a runtime supports few levels of a factor, most of the ordinary rows hide what it does with the
    other factors; among these, none is hidden by the focused ones.
    """
    return cover(with_fixed(model, focus), strength) if focus else []


def _make_case(workshop: Workshop, levels: Mapping[str, str]) -> _Made | None:
    """Put the clearest case of a row into the suite; None where there is none."""
    found = _clearest(workshop, levels)
    if not found.drawn:
        raise InternalError(
            f"no call of {workshop.spec.operator} has levels that no exclusion rules out", got=str(levels)
        )
    if found.made is not None:
        _keep(workshop, found.made, levels)
        return found.made
    # A call without anything random in it may be another family's case already: that one covers the row.
    (workshop.rows if found.known else workshop.dropped).append(levels)
    return None


def _keep(workshop: Workshop, made: _Made, levels: Mapping[str, str]) -> None:
    workshop.keep(made.call, made.case)
    workshop.rows.append(levels)


@dataclass(frozen=True, eq=False)
class _Clearest:
    """The clearest case of some draws, whether there was a call, and whether one was in the suite already."""

    made: _Made | None
    drawn: bool
    known: bool


def _clearest(workshop: Workshop, levels: Mapping[str, str]) -> _Clearest:
    """The clearest case of some draws: the first in which hardly an element has several accepted results.

    Draws that are unclear under the first option of each open reading become cases only where no other does.
    """
    known = drawn = False
    made: list[_Made] = []
    unclear: list[tuple[Fraction, int, Call]] = []
    for attempt in range(ATTEMPTS):
        if (made or unclear) and attempt >= CLEARER:
            break
        call = drawn_call(workshop, levels, attempt)
        if call is None:
            continue
        drawn = True
        if workshop.has(call):
            known = True
            continue
        try:
            share = ambiguity_of(plain_outputs(workshop.spec, workshop.reference, call)).share
        except UnstableLength:
            continue
        except Exception:
            # A call that breaks a rule is told as that, whatever the reference makes of it.
            workshop.make_valid("cover", None, call, levels)
            raise
        if share > CLEAR:
            unclear.append((share, attempt, call))
            continue
        made += _cases(workshop, levels, [call])
        if made and (made[-1].share <= CLEAR or _are_alike(made)):
            break
    if not made:
        made = _cases(workshop, levels, [call for *_, call in sorted(unclear, key=lambda each: each[:2])])
    return _Clearest(min(made, key=lambda each: each.share, default=None), drawn, known)


def _are_alike(made: Sequence[_Made]) -> bool:
    """Whether so much is doubtful in each of the first draws that further ones will not be clear."""
    return len(made) >= ALIKE and all(each.share > HOPELESS for each in made)


def _cases(workshop: Workshop, levels: Mapping[str, str], calls: Sequence[Call]) -> list[_Made]:
    """The case of the first call whose output length hangs on no rounding; none, or one."""
    for call in calls:
        try:
            case = workshop.make_valid("cover", None, call, levels)
        except UnstableLength:
            continue
        return [_Made(ambiguity([case]).share, call, case)]
    return []
