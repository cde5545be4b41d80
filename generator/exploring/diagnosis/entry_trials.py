"""Entries about wrong answers put to the test: is the runtime right without what one is about?

Where an entry does not state what is computed instead (`generator.exploring.diagnosis.entry_formulas`), the
runtime is asked the same call without what the entry is about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain, combinations, groupby
from typing import cast

import numpy as np

from conformance.judging.kept_diagnosis import EntryTrial, TrialResult
from conformance.judging.responses import Response
from conformance.models.case_models import Form, constants_fed
from conformance.suite.cases import Case
from conformance.suite.suites import Suite
from conformance.suite.values import decode_floats
from generator.asking.bare_cases import first_type
from generator.asking.calls import Call
from generator.calls.edits.change import Change, Changed
from generator.calls.edits.finding import find_changes
from generator.exploring.diagnosis.change_trials import ChangeTrial
from generator.exploring.diagnosis.claims import Pointing
from generator.exploring.diagnosis.diagnose import Spaces
from generator.exploring.diagnosis.explainer import Pointed, digest_of
from generator.exploring.diagnosis.laboratory import MOST_HANGS, CallOutcome, Laboratory
from generator.exploring.shrinking.judged_calls import Budget, Exhausted
from generator.exploring.shrinking.known_space import CallValidity
from generator.exploring.shrinking.one_factor import (
    ELEMENTS,
    SHAPE,
    further,
    is_crisp,
    is_variadic,
    others,
    plainest,
)
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.tensors import Tensor
from reference.readings.disagreements import Disagreement
from specs.model.call_scopes import scope_of

MOST_ASKED = 4
"""So many calls without what an entry is about are asked of a case, the plainest first."""
_KEPT_EVERY = 100
"""Cases after which what is known is kept, so that little is lost whatever ends the process."""
_SPREAD = 3
"""Of each set of entries so many cases are tried before the next set has its turn again."""

AskInForm = Callable[..., Response]
"""A runtime: as `Ask`, and with `form` in that form."""


def untried(pointing: Pointing, trials: Iterable[EntryTrial]) -> list[Pointed]:
    """The wrong answers that a runtime can still say something of, in the order to ask."""
    tried = {(trial.case, trial.entry, trial.of) for trial in trials}
    equal = {trial.case for trial in trials if trial.result == "equals"}
    return in_turn(
        [
            pointed
            for pointed in pointing.pointed
            if pointed.row.case not in equal
            and any(
                (pointed.row.case, one.id, digest_of(one)) not in tried for one in pointed.without_formula
            )
        ]
    )


def trials_by_asking(
    suite: Suite,
    pointed: Sequence[Pointed],
    ask: AskInForm,
    seconds: float,
    keep: Callable[[Sequence[EntryTrial]], None] = lambda _: None,
) -> tuple[list[EntryTrial], str | None]:
    """Ask a runtime the calls of wrong answers without what entries are about, for so many seconds.

    Also what ended it, None where it came to its end. `keep` is handed what is known now and then.
    """
    spaces, laboratories = Spaces(), dict[Form, Laboratory]()
    found: list[EntryTrial] = []
    begun = None
    for place, each in enumerate(pointed):
        case, form = suite.case(each.row.case), cast("Form", each.row.form)
        space = spaces.opened(case)
        if space is not None:
            # An experiment may change what the case's own model holds.
            case = constants_fed(case, [parameter.name for parameter in space.spec.inputs])
        if space is None:
            found += silent_trials(case, each.without_formula)
            continue
        if form not in laboratories:
            budget = Budget(seconds=seconds, hangs=MOST_HANGS, begun=begun)
            laboratories[form] = Laboratory(partial(ask, form=form), budget)
        laboratory = laboratories[form]
        try:
            found += experiment_trials(laboratory, space, case, each.without_formula, each.with_formula)
        except (UserError, IndexError, ValueError, KeyError):
            found += silent_trials(case, each.without_formula)  # no call such as the spec describes
        except Exhausted as error:
            return found, str(error)
        begun = laboratory.budget.begun
        if place % _KEPT_EVERY == _KEPT_EVERY - 1:
            keep(found)
    return found, None


def in_turn(pointed: Sequence[Pointed]) -> list[Pointed]:
    """The cases in the order to try them: a few of each set of entries, small ones first, then more."""

    def key(each: Pointed) -> tuple[str, ...]:
        return tuple(entry.id for entry in each.entries)

    groups = [_spread_out(list(group)) for _, group in groupby(sorted(pointed, key=key), key)]
    longest = max(map(len, groups), default=0)
    starts = range(0, longest, _SPREAD)
    return [each for start in starts for group in groups for each in group[start : start + _SPREAD]]


def _spread_out(cases: list[Pointed]) -> list[Pointed]:
    """The cases so that the first ones are from all over the list."""
    found: list[Pointed] = []
    step = 1 << max(0, len(cases) - 1).bit_length()
    seen: set[int] = set()
    while step:
        for place in range(0, len(cases), step):
            if place not in seen:
                seen.add(place)
                found.append(cases[place])
        step //= 2
    return found


@lru_cache(maxsize=64)
def _catalogue(space: CallValidity) -> tuple[Change, ...]:
    return find_changes(space.spec)


def experiment_trials(
    laboratory: Laboratory,
    space: CallValidity,
    case: Case,
    entries: Sequence[Disagreement],
    beside: Sequence[Disagreement] = (),
) -> list[EntryTrial]:
    """What the runtime says of entries without a formula; raises Exhausted.

    A call after which one entry alone is no longer about it speaks for that one where it passes, and against
    it where it fails. One that ends several speaks for all of them alike. Entries `beside`, whose formulas
    do not give the answer alone, may do so together with these.
    """
    outputs = case.output_names if case.outputs_asked else None
    name, call = str(case.id), Call(dict(case.attributes), case.inputs, case.slots, outputs)
    own = laboratory.outcome(space, name, 0, call)
    if own.failure is None:
        return silent_trials(case, entries)
    ended = list(_ended_by(space, case, call, entries))
    found: dict[str, EntryTrial] = {}
    for entry in entries:
        mine = [each for each in ended if entry.id in each.ends]
        found[entry.id] = _tried(laboratory, space, name, own, entry, mine)
    every = {entry.id: entry for entry in (*entries, *beside)}
    if len(every) > 1 and all(entry_trial.result in ("refuted", "silent") for entry_trial in found.values()):
        together = _together(laboratory, space, case, call, own, list(every.values()))
        for entry_id, by in together.items():
            found[entry_id] = EntryTrial(name, entry_id, digest_of(every[entry_id]), "together", by)
    return list(found.values())


def _together(
    laboratory: Laboratory,
    space: CallValidity,
    case: Case,
    call: Call,
    own: CallOutcome,
    entries: Sequence[Disagreement],
) -> dict[str, str]:
    """The fewest entries without which, all of them, the runtime is right; each with what ends it."""
    for number in range(2, len(entries) + 1):
        for some in combinations(entries, number):
            changed, by = call, dict[str, str]()
            for entry in some:
                ended = sorted(_ended_by(space, case, changed, [entry]), key=lambda one: one.rank)
                valid = next((each for each in ended if space.attempt(each.call)), None)
                if valid is not None:
                    changed, by[entry.id] = valid.call, valid.by
            if len(by) == number and laboratory.outcome(space, str(case.id), number, changed).cures(own):
                return by
    return {}


def silent_trials(case: Case, entries: Sequence[Disagreement]) -> list[EntryTrial]:
    """Of entries that no call says anything of."""
    return [EntryTrial(str(case.id), entry.id, digest_of(entry), "silent") for entry in entries]


@dataclass(frozen=True, eq=False)
class _Ended:
    """A call with one change, and the entries that are no longer about it."""

    by: str
    call: Call
    ends: frozenset[str]
    rank: tuple[bool, bool, int]

    @property
    def crisp(self) -> bool:
        """Whether no mere elements or lengths were changed: with those, what is wrong may not show."""
        return not self.rank[0]


def _tried(
    laboratory: Laboratory,
    space: CallValidity,
    case: str,
    own: CallOutcome,
    entry: Disagreement,
    without: Sequence[_Ended],
) -> EntryTrial:
    result: TrialResult = "silent"
    by, asked = "", 0
    for ended in sorted(without, key=lambda one: (len(one.ends), one.rank)):
        if asked == MOST_ASKED or (result == "refuted" and len(ended.ends) > 1):
            break
        found = laboratory.outcome(space, case, 1, ended.call)
        if found.failure is None and not found.passes:
            continue  # neither right nor wrong
        asked += 1
        if found.cures(own) or (found.passes and ended.crisp):
            result, by = "alike" if len(ended.ends) > 1 else "cured" if ended.crisp else "spared", ended.by
            break
        if found.failure is not None:
            result, by = "refuted", ended.by
    return EntryTrial(case, entry.id, digest_of(entry), result, by)


def _ended_by(
    space: CallValidity, case: Case, call: Call, entries: Sequence[Disagreement]
) -> Iterator[_Ended]:
    seen = set[str]()
    for place, (by, factor, changed) in enumerate(_changes(space, call)):
        digest = changed.digest(space.spec.operator)
        if digest in seen:
            continue
        seen.add(digest)
        ends = frozenset(entry.id for entry in entries if not is_about(entry, space, case, changed, factor))
        if ends:
            rank = (not is_crisp(factor), factor.startswith(SHAPE), place)
            yield _Ended(by, changed, ends, rank)


def _changes(space: CallValidity, call: Call) -> Iterator[tuple[str, str, Call]]:
    """Every call that differs in one thing: in words, its factor, and the call."""
    several = is_variadic(call)
    single = chain(plainest(space, call), others(space, call))
    own = (each for each in single if not several or each.factor in space.spec.attributes)
    for each in chain(own, further(call)):
        yield f"{each.factor} = {each.to}", each.factor, each.call
    for known in _catalogue(space):
        changed = known.apply(space.spec, call)
        if changed is not None and _is_a_call(changed):
            yield ChangeTrial(known).named.text, known.key, changed.call


def _is_a_call(changed: Changed) -> bool:
    """Whether a change is one of the call alone, which a runtime can be asked."""
    return not (changed.settled or changed.narrow or changed.expectations or changed.breaks)


def is_about(entry: Disagreement, space: CallValidity, case: Case, call: Call, factor: str = "") -> bool:
    """Whether an entry may be about a call that was made from a case by changing a factor.

    What a case's id says is said of its call with any change, too. What an answer says of NaN or infinity is
    not said of a call that has neither.
    """
    levels = {**case.levels, "element_type": first_type(space.spec, call).name}
    if factor.startswith(ELEMENTS):
        levels.pop("data", None)
    had, has = (any(map(_has_specials, inputs)) for inputs in (case.inputs, call.inputs))
    if _is_of_specials(entry) and had and not has:
        return False
    bare = entry.model_copy(update={"verdicts": (), "reason": (), "cases": ("*",)})
    try:
        names = (
            None
            if entry.when is None
            else scope_of(space.spec, call.attributes, call.inputs, None, call.slots)
        )
        return bare.explains(str(space.spec.operator), "", entry.against[0], "", levels, "", names)
    except (UserError, KeyError, ValueError, IndexError, ArithmeticError, TypeError):
        return False  # the condition has no value for it


def _is_of_specials(entry: Disagreement) -> bool:
    """Whether an entry is about NaN or infinity in answers, whatever comes of them."""
    return bool(entry.reason) and all("NaN" in each or "Infinity" in each for each in entry.reason)


def _has_specials(given: tuple[str, Tensor | None]) -> bool:
    tensor = given[1]
    if tensor is None or not tensor.element_type.is_float:
        return False
    return not np.isfinite(decode_floats(tensor.element_type, tensor.array)).all()
