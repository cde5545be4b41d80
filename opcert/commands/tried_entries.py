"""Trials of the entries that may be about a run's wrong answers: by what was recorded, and by asking."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, cast

from conformance.judging.kept_diagnosis import EntryTrial
from conformance.models.case_models import Form
from conformance.recording.outputs import restore_output
from conformance.recording.records import Record
from conformance.suite.canonical import canonical_json, sha256
from conformance.suite.store import KeptWork
from conformance.suite.suites import Suite
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.strict_json import read_plain

if TYPE_CHECKING:
    from generator.exploring.diagnosis.claims import Pointing
    from generator.exploring.diagnosis.explainer import Pointed
    from generator.exploring.fuzzing.workers import RunningRuntime


def trials_by_answers(suite: Suite, record: Record, pointing: Pointing, *, keep: bool) -> list[EntryTrial]:
    """What the recorded answers say of the entries that state what is computed instead.

    Of an answer that the record does not hold it says nothing. With `keep` what was found of the same answers
    before comes from the user's cache.
    """
    stating = [each for each in pointing.pointed if each.with_formula]
    if not stating:
        return []
    from generator.exploring.diagnosis.explainer import digest_of

    work = KeptWork("entries") if keep else None
    hangs_on = [
        (each.row.case, each.row.outputs, [digest_of(entry) for entry in each.with_formula])
        for each in stating
    ]
    key = "" if work is None else work.key(suite.digest, sha256(canonical_json(hangs_on)))
    with suppress(TypeError, ValueError):
        if work is not None:
            return [read_plain(EntryTrial, trial) for trial in work.find(key)]
    found = [trial for each in stating for trial in _by_answer(suite, record, each)]
    if work is not None:
        work.keep(key, [asdict(each) for each in found])
    return found


def _by_answer(suite: Suite, record: Record, pointed: Pointed) -> list[EntryTrial]:
    from generator.exploring.diagnosis.change_trials import FailingCase
    from generator.exploring.diagnosis.entry_formulas import formula_trials

    case = suite.case(pointed.row.case)
    try:
        outputs = [
            restore_output(entry, position, case, record.path)
            for position, entry in enumerate(pointed.row.outputs)
        ]
    except (UserError, IndexError):
        return []
    held = tuple(each for each in outputs if each is not None)
    if not held or len(held) < len(outputs):
        return []
    return formula_trials(pointed.with_formula, FailingCase(case, held))


def untried(pointing: Pointing, trials: Iterable[EntryTrial]) -> list[Pointed]:
    """The wrong answers that a runtime can still say something of, in the order to ask."""
    from generator.exploring.diagnosis.entry_trials import in_turn
    from generator.exploring.diagnosis.explainer import digest_of

    tried = {(each.case, each.entry, each.of) for each in trials}
    equal = {each.case for each in trials if each.result == "equals"}
    return in_turn(
        [
            each
            for each in pointing.pointed
            if each.row.case not in equal
            and any((each.row.case, one.id, digest_of(one)) not in tried for one in each.without_formula)
        ]
    )


def trials_by_asking(
    suite: Suite,
    pointed: Sequence[Pointed],
    running: RunningRuntime,
    seconds: float,
    keep: Callable[[Sequence[EntryTrial]], None] = lambda _: None,
) -> tuple[list[EntryTrial], str | None]:
    """Ask a runtime the calls of wrong answers without what entries are about, for so many seconds.

    Also what ended it, None where it came to its end. `keep` is handed what is known now and then.
    """
    from generator.exploring.diagnosis.diagnose import Spaces
    from generator.exploring.diagnosis.entry_trials import experiment_trials, silent_trials
    from generator.exploring.diagnosis.laboratory import MOST_HANGS, Laboratory
    from generator.exploring.shrinking.judged_calls import Budget, Exhausted

    spaces, laboratories = Spaces(), dict[Form, Laboratory]()
    found: list[EntryTrial] = []
    begun = None
    for place, each in enumerate(pointed):
        case, form = suite.case(each.row.case), cast("Form", each.row.form)
        space = spaces.opened(case)
        if space is None:
            found += silent_trials(case, each.without_formula)
            continue
        if form not in laboratories:
            budget = Budget(seconds=seconds, hangs=MOST_HANGS, begun=begun)
            laboratories[form] = Laboratory(partial(running.ask, form=form), budget)
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


_KEPT_EVERY = 100
"""Cases after which what is known is kept, so that little is lost whatever ends the process."""
