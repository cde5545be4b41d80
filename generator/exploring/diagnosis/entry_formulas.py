"""Entries that state what is computed instead, held against the answer that was recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from conformance.judging.judge import judge
from conformance.judging.kept_diagnosis import EntryTrial
from conformance.judging.responses import Answered
from conformance.suite.cases import Case
from generator.asking.calls import Call
from generator.calls.edits.attribute_changes import taken_for
from generator.calls.edits.change import Change, Changed
from generator.calls.edits.result_forms import Restate, Restored, result_form
from generator.exploring.diagnosis.change_trials import ChangeTrial, ChangeTrials, FailingCase, is_known
from generator.exploring.diagnosis.explainer import digest_of
from opcert.vocabulary.errors import UserError
from reference.readings.disagreements import Disagreement
from specs.model.spec import Spec

MOST_TOGETHER = 4
"""Of so many entries with formulas that may be about one answer each set is tried."""


@dataclass(frozen=True, eq=False)
class _Stated:
    """A formula of an entry: a form of the result, or a change of the call."""

    text: str
    form: Restate | None = None
    change: Change | None = None


def formula_trials(stating: Sequence[Disagreement], failure: FailingCase) -> list[EntryTrial]:
    """What the recorded answer of a case says of entries that state what is computed instead.

    `equals` is said of an entry whose formula gives the answer alone; where none does, `together` of those of
    the smallest set whose formulas give it one behind the other.
    """
    forms_alone = all(_is_form(stated) for disagreement in stating for stated in disagreement.computes)
    # What comes in another form alone needs no reference.
    bench = None if forms_alone else _bench(failure)
    stated = {disagreement.id: list(_stated_by(disagreement, bench)) for disagreement in stating}
    case = str(failure.case.id)
    found: dict[str, EntryTrial] = {}
    for entry in stating:
        texts = (_gives(failure, bench, [each]) for each in stated[entry.id])
        by = next((text for text in texts if text), None)
        found[entry.id] = EntryTrial(
            case, entry.id, digest_of(entry), "refuted" if by is None else "equals", by or ""
        )
    several = [disagreement for disagreement in stating if stated[disagreement.id]]
    if (
        any(entry_trial.result == "equals" for entry_trial in found.values())
        or not 2 <= len(several) <= MOST_TOGETHER
    ):
        return list(found.values())
    for number in range(2, len(several) + 1):
        for some in combinations(several, number):
            together = next(
                _choices([stated[disagreement.id] for disagreement in some], failure, bench), None
            )
            if together is not None:
                for entry, each in zip(some, together, strict=True):
                    found[entry.id] = replace(found[entry.id], result="together", by=each.text)
                return list(found.values())
    return list(found.values())


def _choices(
    stated: Sequence[Sequence[_Stated]], failure: FailingCase, bench: ChangeTrials | None
) -> Iterator[list[_Stated]]:
    """The choices of one formula each that give the answer together."""
    pools: list[list[_Stated]] = [[]]
    for each in stated:
        pools = [[*pool, one] for pool in pools for one in each]
    yield from (pool for pool in pools if _gives(failure, bench, pool))


def _bench(failure: FailingCase) -> ChangeTrials | None:
    """The reference under changes of the call; None of a case that is no call of a spec."""
    try:
        return ChangeTrials(failure) if is_known(failure.case, failure.folders) else None
    except (UserError, IndexError):
        return None


def _is_form(stated: str | dict[str, str | None]) -> bool:
    return isinstance(stated, str) and result_form(stated) is not None


def _stated_by(entry: Disagreement, bench: ChangeTrials | None) -> Iterator[_Stated]:
    """The formulas of an entry, as far as the operator of the case has them."""
    for stated in entry.computes:
        form = result_form(stated) if isinstance(stated, str) else None
        if form is not None:
            yield _Stated(form[0], form=form[1])
        elif bench is not None and not isinstance(stated, str):
            change = taken_for(stated)
            yield _Stated(change.text, change=change)
        elif bench is not None and stated in bench.changes:
            change = bench.changes[str(stated)]
            yield _Stated(change.text, change=change)


def _gives(failure: FailingCase, bench: ChangeTrials | None, stated: Sequence[_Stated]) -> str:
    """What formulas one behind the other do, in words, where they give the answer and not the right one.

    Empty where they do not.
    """
    outputs: tuple[Restored, ...] = failure.outputs
    for each in stated:
        if each.form is not None:
            restated = _restated(failure.case, each.form, outputs)
            if restated is None:
                return ""
            outputs = restated
    changes = [each.change for each in stated if each.change is not None]
    if not changes:
        case = replace(failure.case, demand="answer")
        return stated[0].text if judge(case, Answered(outputs)).verdict == "pass" else ""
    if bench is None:
        return ""
    trial = ChangeTrial(changes[0] if len(changes) == 1 else _one_behind_the_other(changes))
    (bench if outputs is failure.outputs else ChangeTrials(replace(failure, outputs=outputs))).test(trial)
    return trial.named.text if trial.telling else ""


def _restated(case: Case, form: Restate, outputs: tuple[Restored, ...]) -> tuple[Restored, ...] | None:
    """The outputs without a form; None where none of them has it."""
    for expectation in case.expectations:
        if len(expectation.outputs) != len(outputs):
            continue
        pairs = zip(expectation.outputs, outputs, strict=True)
        restated = [form(wanted.expected, got) for wanted, got in pairs]
        if any(each is not None for each in restated):
            return tuple(got if each is None else each for each, got in zip(restated, outputs, strict=True))
    return None


def _one_behind_the_other(changes: Sequence[Change]) -> Change:
    """Changes of a call made one behind the other; those that are more than changes of it are left."""

    def apply(spec: Spec, call: Call) -> Changed | None:
        made = Changed(call)
        for change in changes:
            following = change.apply(spec, made.call)
            if following is None or following.expectations is not None or following.narrow is not None:
                return None
            made = replace(
                following,
                settled={**made.settled, **following.settled},
                breaks=made.breaks | following.breaks,
            )
        return made

    key, text = (
        " and ".join(change.key for change in changes),
        " and ".join(change.text for change in changes),
    )
    return Change(key, text, apply)
