"""One failing case under one change, and what that says for the change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from conformance.judging.judge import judge
from conformance.judging.kept_explanations import NamedChange
from conformance.judging.responses import Answered, ReturnedOther
from conformance.suite.cases import Case, Expectation
from generator.asking.calls import Call
from generator.calls.edits.change import Change, Changed, changed_expectations
from generator.calls.edits.finding import find_changes
from generator.making.operators.discovery import load_rules
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor
from reference.registry import find_operator
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
    return spec, find_operator(operator, spec.reference_module), changes


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
