"""What witnesses say of an operator's calls, counted and grouped: refusals by words, errors by rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from conformance.judging.signatures import signature
from generator.asking.calls import Call
from generator.calls.borders.breaches import Breach
from generator.trust.witnesses.truth_calls import TruthCalls
from generator.trust.witnesses.truth_explanations import ExplainedRefusal
from generator.trust.witnesses.truth_failures import FailureEntries
from generator.trust.witnesses.truth_runs import Answers, Reaction, Witnessed
from opcert.vocabulary.names import OperatorName
from reference.readings.disagreements import Disagreement
from specs.model.spec import Refusable

IN_PROCESS = frozenset({"inference", "checker"})
"""The witnesses that are no runtimes."""
REFUSING: frozenset[Reaction] = frozenset({"refused", "crashed", "timed out"})


@dataclass(frozen=True)
class RefusalGroup:
    """Valid calls that a witness does not answer, in the same words but for numbers and names.

    `explanation` is an entry about calls, or about failing cases of suites, of which these are more, or what
    the spec says that a document can be read to exclude.
    """

    witness: str
    reaction: Reaction
    message: str
    calls: tuple[Call, ...]
    explanation: ExplainedRefusal | Disagreement | Refusable | None


@dataclass(frozen=True)
class AnsweredErrors:
    """Calls that break one rule which the text calls an error, and that no witness refuses."""

    rule: str
    calls: tuple[Call, ...]
    explanation: ExplainedRefusal | None


@dataclass(frozen=True)
class TruthTable:
    """One operator version: its calls, what each witness did with them by kind of call, and the groups."""

    operator: OperatorName
    calls: TruthCalls
    counts: Mapping[str, Mapping[str, Counter[Reaction]]]
    """By witness, and `valid`, `errors` or `undefined`."""
    refusals: Sequence[RefusalGroup] = ()
    answered_errors: Sequence[AnsweredErrors] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    """Of the witnesses that are runtimes, by their names."""

    @property
    def unexplained(self) -> int:
        """The calls that wait for an explanation."""
        waiting: tuple[RefusalGroup | AnsweredErrors, ...] = (*self.refusals, *self.answered_errors)
        return sum(len(each.calls) for each in waiting if each.explanation is None)


@dataclass(eq=False)
class TruthTableMaker:
    """Puts a table together out of what witnesses said, by their names."""

    operator: OperatorName
    calls: TruthCalls
    explanations: Sequence[ExplainedRefusal] = ()
    failures: FailureEntries | None = None
    said: dict[str, Answers] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)

    def make(self) -> TruthTable:
        kinds: dict[str, Sequence[Call]] = {
            "valid": self.calls.valid,
            "errors": [each.call for each in self.calls.errors],
            "undefined": [each.call for each in self.calls.undefined],
        }
        counts = {
            witness: {kind: Counter(self._reactions(answers, calls)) for kind, calls in kinds.items()}
            for witness, answers in self.said.items()
        }
        refusals, answered = tuple(self._refusals()), tuple(self._answered_errors())
        return TruthTable(self.operator, self.calls, counts, refusals, answered, self.versions)

    def _reactions(self, answers: Answers, calls: Iterable[Call]) -> Iterable[Reaction]:
        digests = [each.digest(self.operator) for each in calls]
        return (answers[each].reaction for each in digests if each in answers)

    def _refusals(self) -> Iterable[RefusalGroup]:
        for witness, answers in self.said.items():
            groups: dict[tuple[Reaction, str, str | None], RefusalGroup] = {}
            for call in self.calls.valid:
                found = answers.get(call.digest(self.operator))
                if found is not None and found.reaction in REFUSING:
                    told = self._explanation(witness, found, call)
                    key = found.reaction, signature(found.reaction, found.message), told.id if told else None
                    first = RefusalGroup(witness, found.reaction, found.message, (), told)
                    group = groups.get(key, first)
                    groups[key] = replace(group, calls=(*group.calls, call))
            yield from sorted(groups.values(), key=lambda each: -len(each.calls))

    def _explanation(
        self, witness: str, found: Witnessed, call: Call
    ) -> ExplainedRefusal | Disagreement | Refusable | None:
        """What is known of such cases comes first: of them an entry says which calls it is about."""
        known = None if self.failures is None else self.failures.explain(witness, found, call)
        if known is not None:
            return known
        name = str(self.operator)
        fitting = (each for each in self.explanations if each.explains_refusal(name, witness, found.message))
        return next(fitting, None)

    def _answered_errors(self) -> Iterable[AnsweredErrors]:
        """None where no runtime was asked: inference and checker see few of the values."""
        if self.said.keys() <= IN_PROCESS:
            return
        by_rule: dict[str, list[Call]] = {}
        for breach in self.calls.errors:
            if not self._is_refused(breach):
                by_rule.setdefault(breach.constraint.id, []).append(breach.call)
        for rule, calls in by_rule.items():
            known = [each for each in self.explanations if each.explains_answer(str(self.operator), rule)]
            yield AnsweredErrors(rule, tuple(calls), known[0] if known else None)

    def _is_refused(self, breach: Breach) -> bool:
        """By anybody: one witness that refuses it is enough."""
        digest = breach.call.digest(self.operator)
        return any(
            digest in answers and answers[digest].reaction in (*REFUSING, "not offered")
            for answers in self.said.values()
        )
