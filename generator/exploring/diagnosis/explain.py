"""What failures resemble: results that equal what must come out of a call with a single change.

The reference is asked what comes out under each change of `generator.calls.edits`, and the judge whether the
runtime's result is that. A change is named for a class of failing cases only where it is the one that fits
every case, and where it can be told from the right result.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from conformance.judging.kept_explanations import ExplainedPart, Explanation, NamedChange, TriedChange
from conformance.suite.cases import Case
from generator.exploring.diagnosis.change_trials import (
    VALID_CASE,
    ChangeTrial,
    ChangeTrials,
    FailingCase,
    is_known,
    size_of,
)

__all__ = ["FailingCase", "explain", "explain_parts"]

MOST_CASES = 60
"""Of a greater class so many cases are compared: the smallest ones, and others spread over the rest."""
SMALLEST = 10
MOST_NAMED = 3
"""Where more changes fit alike, none of them is named."""
LEAST_PART = 5
"""A change that was named for no other class must fit so many cases, and half of them, to explain a part."""
MOST_PASSING = 40
"""So many passing cases are looked at, spread over all of them."""
UNDISPUTED = 3
"""With so many telling cases a single change that fits needs no passing case to confirm it."""
_Item = TypeVar("_Item")
Folders = tuple[Path, ...]


@dataclass(eq=False)
class _Fits:
    """The cases of a part, and their trials of one change, put together."""

    cases: list[str] = field(default_factory=list)
    whole: ChangeTrial | None = None

    def add(self, case: Case, trial: ChangeTrial) -> None:
        self.cases.append(str(case.id))
        if self.whole is None:
            self.whole = trial
        else:
            self.whole.include(trial)

    @property
    def convincing(self) -> bool:
        return self.whole is not None and self.whole.telling > 1 and self.whole.convincing

    def part(self) -> ExplainedPart:
        assert self.whole is not None
        return ExplainedPart(self.whole.named, tuple(self.cases))


def explain(
    cases: Sequence[str], failures: Sequence[FailingCase], passing: Iterable[Case] = ()
) -> Explanation:
    """What the results of one class of failing cases equal.

    `cases` are the ids of the class, `failures` those of which the outputs are known. Several versions of an
    operator may be in one class: a change must fit all of them. `passing` are cases of these versions that
    the runtime answered rightly: where several changes fit, or one case alone speaks for a change, it must
    not change the results of those. They are looked at only then.
    """
    compared = _compared(failures)
    trials: list[ChangeTrial] | None = None
    for failure in compared:
        bench = ChangeTrials(failure)
        if trials is None:
            trials = [ChangeTrial(change) for change in bench.changes.values()]
        for trial in trials:
            if trial.fits == trial.tested:
                bench.test(trial)
    tried = [trial for trial in trials or () if trial.tested]
    fitting = _most_plain([change_trial for change_trial in tried if change_trial.convincing])
    if len(fitting) > 1 or any(change_trial.telling < UNDISPUTED for change_trial in fitting):
        fitting = _undisputed(fitting, passing, failures[0].folders)
    # What is tried after a change has failed says nothing: only those that fit every case are complete.
    named = tuple(change_trial.named for change_trial in fitting) if len(fitting) <= MOST_NAMED else ()
    return Explanation(
        cases=tuple(cases),
        compared=len(compared),
        change=named[0] if len(named) == 1 else None,
        either=named if len(named) > 1 else (),
        explained=tuple(str(failing_case.case.id) for failing_case in compared) if named else (),
        sentence=_sentence(named, len(compared), len(cases)) if named else None,
        tried=tuple(
            TriedChange(change_trial.change.key, change_trial.tested, change_trial.fits, change_trial.telling)
            for change_trial in tried
        ),
    )


def explain_parts(
    explanation: Explanation, failures: Sequence[FailingCase], named: Sequence[str]
) -> Explanation:
    """The same, where nothing is named: with the cases that one change alone of a few fits.

    These are the changes of the keys in `named`, which were named for other classes of the operator, and
    those that fit the smallest cases; of the latter each must fit half of the cases.
    """
    if explanation.sentence is not None:
        return explanation
    own = [tried_change.key for tried_change in explanation.tried if tried_change.telling > 1]
    compared, found = _compared(failures), {key: _Fits() for key in dict.fromkeys((*named, *own))}
    for failure in compared:
        bench = ChangeTrials(failure)
        trials = [ChangeTrial(bench.changes[key]) for key in found if key in bench.changes]
        for trial in trials:
            bench.test(trial)
        telling = [trial for trial in trials if trial.telling]
        if len(telling) == 1:
            found[telling[0].change.key].add(failure.case, telling[0])
    half = max(LEAST_PART, (len(compared) + 1) // 2)
    parts = [
        fits.part()
        for key, fits in found.items()
        if fits.convincing and (key in named or len(fits.cases) >= half)
    ]
    return replace(explanation, parts=tuple(parts), sentence=_sentence_of_parts(parts, explanation.cases))


def _sentence_of_parts(parts: Sequence[ExplainedPart], cases: Sequence[str]) -> str | None:
    if not parts:
        return None
    first, *others = parts
    said = f"In {len(first.cases)} of {len(cases)} cases the result equals the expected output with "
    further = "".join(f", in {len(other.cases)} with {other.change.text}" for other in others)
    return f"{said}{first.change.text}{further}."


def _compared(failures: Sequence[FailingCase]) -> list[FailingCase]:
    known = [failure for failure in failures if is_known(failure.case, failure.folders)]
    return _select(sorted(known, key=lambda failing_case: size_of(failing_case.case)))


def _select(failures: Sequence[FailingCase]) -> list[FailingCase]:
    if len(failures) <= MOST_CASES:
        return list(failures)
    return [*failures[:SMALLEST], *_spread(failures[SMALLEST:], MOST_CASES - SMALLEST)]


def _spread(items: Sequence[_Item], count: int) -> list[_Item]:
    """At most so many of them, evenly spread."""
    if len(items) <= count:
        return list(items)
    return [items[place * len(items) // count] for place in range(count)]


def _most_plain(fitting: list[ChangeTrial]) -> list[ChangeTrial]:
    """Without those that say no more than others: a variant of one that fits, and the valid case."""
    keys = {change_trial.change.key for change_trial in fitting}
    plain = [
        change_trial for change_trial in fitting if not keys.intersection(change_trial.change.variant_of)
    ]
    others = [change_trial for change_trial in plain if change_trial.change.key != VALID_CASE]
    return others or plain


def _undisputed(fitting: list[ChangeTrial], passing: Iterable[Case], folders: Folders) -> list[ChangeTrial]:
    """Those that would change no result that is right.

    A runtime that is wrong under some conditions alone may have right results that the change would alter;
    then one change that fits is believed where enough cases speak for it, and several are not.
    """
    ordered = sorted((each for each in passing if is_known(each, folders)), key=size_of)
    left = [change_trial for change_trial in fitting if not _is_disputed(change_trial, ordered, folders)]
    if len(left) == 1 or len(fitting) > 1:
        return left
    return [change_trial for change_trial in fitting if change_trial.telling >= UNDISPUTED]


def _is_disputed(trial: ChangeTrial, passing: Sequence[Case], folders: Folders) -> bool:
    benches = (
        ChangeTrials(FailingCase(case, (), folders=folders)) for case in _spread(passing, MOST_PASSING)
    )
    return any(bench.disputes(trial) for bench in benches)


def _sentence(named: Sequence[NamedChange], compared: int, cases: int) -> str:
    texts = [named_change.text for named_change in named]
    where = f", in all {compared} cases compared of {cases}" if compared < cases else ""
    if named[0].key == VALID_CASE:
        return f"The result equals the expected output of {texts[0]}{where}."
    what = f"either {' or '.join(texts)}" if len(texts) > 1 else texts[0]
    return f"The result equals the expected output with {what}{where}."
