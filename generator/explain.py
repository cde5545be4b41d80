"""What failures resemble: results that equal what must come out of a call with a single change.

The reference is asked what comes out under each change of `generator.changes`, and the judge whether the
runtime's result is that. A change is named for a class of failing cases only where it is the one that fits
every case, and where it can be told from the right result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TypeVar

from conformance.cases import Case, Expectation
from conformance.explanations import Explanation, NamedChange, TriedChange
from conformance.judge import judge
from conformance.responses import Answered, NotTensor
from generator.calls import Call
from generator.changes.change import Change, Changed, changed_expectations
from generator.changes.discovery import find_changes
from opcert.names import OperatorName
from opcert.tensors import Tensor
from reference.registry import ReferenceOperator, find_operator
from specs.library import load_spec
from specs.model import Spec

MOST_CASES = 60
"""Of a greater class so many cases are compared: the smallest ones, and others spread over the rest."""
SMALLEST = 10
MOST_NAMED = 3
"""Where more changes fit alike, none of them is named."""
LEAST_EVIDENCE = 12
"""Bits that must speak for a change: an element that only it explains counts 4, a boolean one 1."""
MOST_PASSING = 60
"""So many passing cases are looked at, spread over all of them."""
UNDISPUTED = 3
"""With so many telling cases a single change that fits needs no passing case to confirm it."""
_VALID_CASE = "valid case"
_Item = TypeVar("_Item")


@dataclass(frozen=True, eq=False)
class Failure:
    """A failing case and what the runtime returned for it.

    `valid_case` is the case that one which must be refused was made from.
    """

    case: Case
    outputs: tuple[Tensor | NotTensor, ...]
    valid_case: Case | None = None


def _size(case: Case) -> tuple[int, int, str]:
    given = [each for _, each in case.inputs if each is not None]
    return sum(each.array.size for each in given), len(case.attributes), str(case.id)


@dataclass(eq=False)
class _Trial:
    """A change and how it fared so far. `befores` are the values that it replaced."""

    change: Change
    tested: int = 0
    fits: int = 0
    telling: int = 0
    evidence: int = 0
    befores: dict[str, None] = field(default_factory=dict)

    @property
    def convincing(self) -> bool:
        """Whether the cases could have told the change from the right result."""
        enough = self.telling >= min(2, self.tested) and 2 * self.telling >= self.tested
        return self.fits == self.tested and enough and self.evidence >= LEAST_EVIDENCE

    @property
    def named(self) -> NamedChange:
        text, subject = self.change.text, self.change.subject
        if subject is not None:
            few = 0 < len(self.befores) <= 3
            text = f"{subject} {' or '.join(self.befores)} → {text}" if few else f"{subject} = {text}"
        return NamedChange(self.change.key, text)


def explain(cases: Sequence[str], failures: Sequence[Failure], passing: Sequence[Case] = ()) -> Explanation:
    """What the results of one class of failing cases equal.

    `cases` are the ids of the class, `failures` those of which the outputs are known. Several versions of an
    operator may be in one class: a change must fit all of them. `passing` are cases of these versions that
    the runtime answered rightly: where several changes fit, or one case alone speaks for a change, it must
    not change the results of those.
    """
    known = [each for each in failures if _is_known(each.case)]
    compared = _select(sorted(known, key=lambda each: _size(each.case)))
    trials: list[_Trial] | None = None
    for failure in compared:
        bench = _Bench(failure)
        if trials is None:
            trials = [_Trial(each) for each in bench.changes.values()]
        for trial in trials:
            if trial.fits == trial.tested:
                bench.test(trial)
    tried = [each for each in trials or () if each.tested]
    fitting = _most_plain([each for each in tried if each.convincing])
    if len(fitting) > 1 or any(each.telling < UNDISPUTED for each in fitting):
        fitting = _undisputed(fitting, passing)
    # What is tried after a change has failed says nothing: only those that fit every case are complete.
    named = tuple(each.named for each in fitting) if len(fitting) <= MOST_NAMED else ()
    return Explanation(
        cases=tuple(cases),
        compared=len(compared),
        change=named[0] if len(named) == 1 else None,
        either=named if len(named) > 1 else (),
        explained=tuple(str(each.case.id) for each in compared) if named else (),
        sentence=_sentence(named, len(compared), len(cases)) if named else None,
        tried=tuple(TriedChange(each.change.key, each.tested, each.fits, each.telling) for each in tried),
    )


def _is_known(case: Case) -> bool:
    """Whether a case is a call such as the spec describes: a suite may come from anywhere."""
    spec = _known(case.operator)[0]
    names = [each.name for each in spec.inputs]
    kinds = {name: each.kind for name, each in spec.attributes.items()}
    described = all(kinds.get(name) == each.kind for name, each in case.attributes.items())
    given = [name for name, _ in case.inputs]
    return described and given == names[: len(given)] and bool(given) and case.inputs[0][1] is not None


def _select(failures: Sequence[Failure]) -> list[Failure]:
    if len(failures) <= MOST_CASES:
        return list(failures)
    return [*failures[:SMALLEST], *_spread(failures[SMALLEST:], MOST_CASES - SMALLEST)]


def _spread(items: Sequence[_Item], count: int) -> list[_Item]:
    """At most so many of them, evenly spread."""
    if len(items) <= count:
        return list(items)
    return [items[place * len(items) // count] for place in range(count)]


def _most_plain(fitting: list[_Trial]) -> list[_Trial]:
    """Without those that say no more than others: a variant of one that fits, and the valid case."""
    keys = {each.change.key for each in fitting}
    plain = [each for each in fitting if not keys.intersection(each.change.variant_of)]
    others = [each for each in plain if each.change.key != _VALID_CASE]
    return others or plain


def _undisputed(fitting: list[_Trial], passing: Sequence[Case]) -> list[_Trial]:
    """Those that would change no result that is right.

    A runtime that is wrong under some conditions alone may have right results that the change would alter;
    then one change that fits is believed where enough cases speak for it, and several are not.
    """
    ordered = sorted(filter(_is_known, passing), key=_size)
    left = [each for each in fitting if not _is_disputed(each, ordered)]
    if len(left) == 1 or len(fitting) > 1:
        return left
    return [each for each in fitting if each.telling >= UNDISPUTED]


def _is_disputed(trial: _Trial, passing: Sequence[Case]) -> bool:
    return any(_Bench(Failure(case, ())).disputes(trial) for case in _spread(passing, MOST_PASSING))


def _sentence(named: Sequence[NamedChange], compared: int, cases: int) -> str:
    texts = [each.text for each in named]
    where = f", in all {compared} cases compared of {cases}" if compared < cases else ""
    if named[0].key == _VALID_CASE:
        return f"The result equals the expected output of {texts[0]}{where}."
    what = f"either {' or '.join(texts)}" if len(texts) > 1 else texts[0]
    return f"The result equals the expected output with {what}{where}."


@lru_cache(maxsize=64)
def _known(operator: OperatorName) -> tuple[Spec, ReferenceOperator, Mapping[str, Change]]:
    spec = load_spec(operator)
    changes = {each.key: each for each in (*find_changes(spec), _valid_case_placeholder())}
    return spec, find_operator(operator), changes


def _valid_case_placeholder() -> Change:
    """The valid case that an invalid one was made from; what that is, only the bench knows."""
    return Change(_VALID_CASE, "the valid case that it was made from", lambda _spec, _call: None)


class _Bench:
    """One failing case, under one change after the other. What is computed once is kept."""

    def __init__(self, failure: Failure) -> None:
        self._failure = failure
        self._spec, self._reference, self.changes = _known(failure.case.operator)
        self._call = Call(dict(failure.case.attributes), failure.case.inputs)
        self._expectations: dict[object, tuple[Expectation, ...] | None] = {}

    def test(self, trial: _Trial) -> None:
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

    def disputes(self, trial: _Trial) -> bool:
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
        outputs = tuple(each.expected for each in expectations[0].outputs)
        return self._telling_elements(case, changed, outputs) > 0

    def _apply(self, change: Change) -> Changed | None:
        if change.key == _VALID_CASE:
            valid = self._failure.valid_case
            return None if valid is None else Changed(self._call, expectations=valid.expectations)
        known = self.changes.get(change.key)
        changed = None if known is None else known.apply(self._spec, self._call)
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

    def _telling_elements(self, case: Case, changed: Changed, outputs: tuple[Tensor | NotTensor, ...]) -> int:
        """How many elements of the right results are wrong under the change: the least of all expectations.

        Results of another shape, or that a narrower type cannot hold, are wrong in every element.
        """
        every = sum(each.array.size for each in outputs if isinstance(each, Tensor))
        counts = [every]
        for expectation in self._failure.case.expectations:
            right = _narrowed(changed, tuple(each.expected for each in expectation.outputs))
            if right is None:
                continue
            judgement = judge(case, Answered(right))
            if judgement.verdict == "pass":
                return 0
            counts.append(every if judgement.wrong is None else judgement.wrong)
        return min(counts)


def _narrowed(
    changed: Changed, outputs: tuple[Tensor | NotTensor, ...]
) -> tuple[Tensor | NotTensor, ...] | None:
    if changed.narrow is None:
        return outputs
    narrowed = tuple(changed.narrow(each) if isinstance(each, Tensor) else each for each in outputs)
    return None if any(each is None for each in narrowed) else tuple(each for each in narrowed if each)
