"""What failures resemble: results that equal what must come out of a call with a single change.

The reference is asked what comes out under each change of `generator.calls.edits`, and the judge whether the
runtime's result is that. A change is named for a class of failing cases only where it is the one that fits
every case, and where it can be told from the right result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from conformance.judging.judge import judge
from conformance.judging.kept_explanations import ExplainedPart, Explanation, NamedChange, TriedChange
from conformance.judging.responses import Answered, ReturnedOther
from conformance.suite.cases import Case, Expectation
from generator.asking.calls import Call
from generator.calls.edits.change import Change, Changed, changed_expectations
from generator.calls.edits.finding import find_changes
from generator.making.operators.discovery import load_rules
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor
from reference.registry import reference_of
from reference.registry.reference_operator import ReferenceOperator
from specs.model.spec import Spec

LEAST_EVIDENCE = 12
"""Bits that must speak for a change: an element that only it explains counts 4, a boolean one 1."""
VALID_CASE = "valid case"
"""The key of the change to the valid case that an invalid one was made from."""


@dataclass(frozen=True, eq=False)
class FailingCase:
    """A failing case and what the runtime returned for it.

    `valid_case` is the case that one which must be refused was made from. `folders` hold the specs of its
    operator, where they do not ship.
    """

    case: Case
    outputs: tuple[Tensor | ReturnedOther, ...]
    valid_case: Case | None = None
    folders: tuple[Path, ...] = ()


def size_of(case: Case) -> tuple[int, int, str]:
    """Orders cases from small to large."""
    given = [tensor for _, tensor in case.inputs if tensor is not None]
    return sum(tensor.array.size for tensor in given), len(case.attributes), str(case.id)


@dataclass(eq=False)
class ChangeTrial:
    """A change and how it fared so far. `befores` are the values that it replaced."""

    change: Change
    tested: int = 0
    fits: int = 0
    telling: int = 0
    evidence: int = 0
    befores: dict[str, None] = field(default_factory=dict)

    def include(self, other: ChangeTrial) -> None:
        """Count the cases of another trial of the same change, too."""
        self.tested += other.tested
        self.fits += other.fits
        self.telling += other.telling
        self.evidence += other.evidence
        self.befores.update(other.befores)

    @property
    def convincing(self) -> bool:
        """Whether the cases could have told the change from the right result."""
        enough = self.telling >= min(2, self.tested) and 2 * self.telling >= self.tested
        return self.fits == self.tested and enough and self.evidence >= LEAST_EVIDENCE

    @property
    def named(self) -> NamedChange:
        """The change in words, with the values that it replaced."""
        text, subject = self.change.text, self.change.subject
        if subject is not None:
            few = 0 < len(self.befores) <= 3
            text = f"{subject} {' or '.join(self.befores)} → {text}" if few else f"{subject} = {text}"
        return NamedChange(self.change.key, text)


def is_known(case: Case, folders: tuple[Path, ...] = ()) -> bool:
    """Whether a case is a call such as the spec describes: a suite may come from anywhere."""
    spec = _known(case.operator, folders)[0]
    names = [parameter.name for parameter in spec.inputs]
    kinds = {name: attribute.kind or attribute.other_type for name, attribute in spec.attributes.items()}
    described = all(kinds.get(name) == attribute.kind for name, attribute in case.attributes.items())
    given = [name for name, _ in case.inputs]
    return described and given == names[: len(given)] and bool(given) and case.inputs[0][1] is not None


@lru_cache(maxsize=64)
def _known(
    operator: OperatorName, folders: tuple[Path, ...]
) -> tuple[Spec, ReferenceOperator, Mapping[str, Change]]:
    spec = load_rules(operator, folders)
    changes = {change.key: change for change in (*find_changes(spec), _valid_case_placeholder())}
    return spec, reference_of(spec), changes


def _valid_case_placeholder() -> Change:
    """The valid case that an invalid one was made from; what that is, only the bench knows."""
    return Change(VALID_CASE, "the valid case that it was made from", lambda _spec, _call: None)


class ChangeTrials:
    """One failing case, under one change after the other. What is computed once is kept."""

    def __init__(self, failure: FailingCase) -> None:
        self._failure = failure
        self._spec, self._reference, self.changes = _known(failure.case.operator, failure.folders)
        self._call = Call(dict(failure.case.attributes), failure.case.inputs)
        self._expectations: dict[object, tuple[Expectation, ...] | None] = {}

    def test(self, trial: ChangeTrial) -> None:
        """Try a change on the case, and note in its trial how it fared."""
        trial.tested += 1
        changed = self._apply(trial.change)
        if changed is None:
            return
        outputs = _narrowed(changed, self._failure.outputs)
        if outputs is None:
            return
        expectations = self._expect(changed)
        if expectations is None:
            return
        case = replace(self._failure.case, demand="answer", expectations=expectations)
        if judge(case, Answered(outputs)).verdict != "pass":
            return
        trial.fits += 1
        elements = self._telling_elements(case, changed, outputs)
        trial.telling += elements > 0
        trial.evidence += elements * (1 if case.element_type.kind == "bool" else 4)
        if changed.before is not None:
            trial.befores[changed.before] = None

    def disputes(self, trial: ChangeTrial) -> bool:
        """Whether the case, which the runtime answered rightly, must have another result under the change.

        Of a change that replaces a value only cases with one of the values replaced so far are asked.
        """
        changed = self._apply(trial.change)
        if changed is None or (trial.befores and changed.before not in trial.befores):
            return False
        expectations = self._expect(changed)
        if expectations is None:
            return False
        case = replace(self._failure.case, demand="answer", expectations=expectations)
        outputs = tuple(output.expected for output in expectations[0].outputs)
        return self._telling_elements(case, changed, outputs) > 0

    def _apply(self, change: Change) -> Changed | None:
        if change.key == VALID_CASE:
            valid = self._failure.valid_case
            return None if valid is None else Changed(self._call, expectations=valid.expectations)
        changed = self.changes.get(change.key, change).apply(self._spec, self._call)
        if changed is not None and changed.expectations is not None and self._failure.case.demand != "answer":
            return None  # such a change leaves the call as wrong as it is
        return changed

    def _expect(self, changed: Changed) -> tuple[Expectation, ...] | None:
        if changed.expectations is not None:
            return changed.expectations
        key = (changed.call.digest(self._spec.operator), tuple(sorted(changed.settled.items())))
        if key not in self._expectations:
            self._expectations[key] = changed_expectations(self._spec, self._reference, changed)
        return self._expectations[key]

    def _telling_elements(
        self, case: Case, changed: Changed, outputs: tuple[Tensor | ReturnedOther, ...]
    ) -> int:
        """How many elements of the right results are wrong under the change: the least of all expectations.

        Results of another shape, or that a narrower type cannot hold, are wrong in every element.
        """
        every = sum(output.array.size for output in outputs if isinstance(output, Tensor))
        counts = [every]
        for expectation in self._failure.case.expectations:
            right = _narrowed(changed, tuple(output.expected for output in expectation.outputs))
            if right is None:
                continue
            judgement = judge(case, Answered(right))
            if judgement.verdict == "pass":
                return 0
            counts.append(every if judgement.wrong is None else judgement.wrong)
        return min(counts)


def _narrowed(
    changed: Changed, outputs: tuple[Tensor | ReturnedOther, ...]
) -> tuple[Tensor | ReturnedOther, ...] | None:
    if changed.narrow is None:
        return outputs
    narrowed = tuple(changed.narrow(output) if isinstance(output, Tensor) else output for output in outputs)
    return None if any(each is None for each in narrowed) else tuple(each for each in narrowed if each)


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
