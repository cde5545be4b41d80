"""What witnesses say of an operator's calls, counted and grouped, and why they refuse or answer.

`calls` of `disagreements.yaml` in the operator's room is a list of entries; the first that fits explains.
What witnesses do to several operators alike stands once, in the file of the same name beside all rooms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from conformance.judging.signatures import signature
from conformance.judging.verdicts import REJECTED_VALID, Verdict
from conformance.suite.cases import Case
from generator.asking.bare_cases import bare_case
from generator.asking.calls import Call
from generator.asking.validity import find_refusable
from generator.calls.borders.breaches import Breach, find_breaches
from generator.calls.borders.edges import find_edges
from generator.calls.data.draws import Draw
from generator.calls.declared.modelled import room_file
from generator.calls.rows.cores import ForbiddenCombination
from generator.calls.rows.covering_rows import make_rows
from generator.calls.space.space import CallSpace
from generator.trust.witnesses.truth_runs import Answers, Reaction, Witnessed
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.yaml_files import load_file
from opcert.vocabulary.yaml_schemas import validate
from reference.readings.disagreements import Disagreement, Passage
from specs.files.schemas import Entry
from specs.files.spec_folders import OWN_FOLDER
from specs.model.call_scopes import scope_of
from specs.model.spec import Refusable, Spec

FILE_NAME = "disagreements.yaml"
ANYBODY = "*"
Cause = Literal["reading", "finding", "witness_fault", "limit"]
"""The text may be read so; the text is wrong; the witness is; the witness says that it does not offer it."""


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else [value]


Texts = Annotated[tuple[str, ...], BeforeValidator(_as_list)]


class ExplainedRefusal(Entry):
    """One entry: `against` a witness (`inference`, `checker`, a runtime's name, `*`: whoever), and why.

    With `reason` it explains refusals whose message fits one of these globs; with `accepts` that calls which
    break one of these rules are answered. `operators` are globs over operator names, `versions` say of which
    versions of the witness it is known. `passage` is where a document says what a witness is blamed for not
    doing, in the form of `reference.readings.disagreements`; a witness's fault has one.
    """

    id: str = Field(pattern=r"^[a-z0-9_]+$")
    against: str = Field(min_length=1)
    operators: Texts = ("*",)
    versions: Texts = ("*",)
    reason: Texts = ()
    accepts: Texts = ()
    cause: Cause
    passage: Annotated[tuple[Passage, ...], BeforeValidator(_as_list)] = ()
    explanation: str = Field(min_length=1)
    evidence: Texts = ()

    @model_validator(mode="after")
    def _is_about_one_of_both(self) -> Self:
        if self.reason and self.accepts:
            raise ValueError("has both reason and accepts: write two entries")
        if not self.reason and not self.accepts:
            raise ValueError(
                "says neither why calls are refused (reason) nor why they are answered (accepts)"
            )
        if self.accepts and self.against != ANYBODY:
            raise ValueError("accepts is about all witnesses together: write against: '*'")
        return self

    @model_validator(mode="after")
    def _blame_stands_in_the_text(self) -> Self:
        if self.cause == "witness_fault" and not self.passage:
            raise ValueError("blames the witness without the passage that it does not keep")
        return self

    def explains_refusal(self, operator: str, witness: str, message: str) -> bool:
        """Whether it says why a witness refuses a valid call of the operator in these words."""
        return self._is_about(operator, witness) and any(fnmatchcase(message, each) for each in self.reason)

    def explains_answer(self, operator: str, rule: str) -> bool:
        """Whether it says why nobody refuses calls that break a rule."""
        return self._is_about(operator, ANYBODY) and any(
            fnmatchcase(rule, pattern) for pattern in self.accepts
        )

    def _is_about(self, operator: str, witness: str) -> bool:
        about = self.against in (witness, ANYBODY)
        return about and any(fnmatchcase(operator, each) for each in self.operators)


class _File(Entry):
    calls: tuple[ExplainedRefusal, ...] = ()
    cases: list[Any] = Field(default_factory=list)
    """Of the cases of suites (`reference/readings/disagreements.py`)."""


def explanations_of(operator: OperatorName, folders: Sequence[Path] = ()) -> tuple[ExplainedRefusal, ...]:
    """What is known of an operator's witnesses: its room's entries, then those of all operators."""
    room = room_file(operator, FILE_NAME, folders)
    shared = [folder / FILE_NAME for folder in (*folders, OWN_FOLDER)]
    found = [] if room is None else list(read_explanations(room))
    return (*found, *(explanation for path in shared for explanation in read_explanations(path)))


def read_explanations(path: Path) -> tuple[ExplainedRefusal, ...]:
    """The entries of a file; none where there is no file. Raises SeveralErrors with all that is wrong."""
    if not path.is_file():
        return ()
    documents = load_file(path)
    if len(documents) != 1:
        raise UserError("not one YAML document", got=f"{len(documents)} documents in {path.name}")
    return validate(_File, documents[0]).calls


@dataclass(frozen=True)
class TruthCalls:
    """Each call once: what must be answered; what a text calls an error; what no text speaks of."""

    valid: tuple[Call, ...]
    errors: tuple[Breach, ...]
    undefined: tuple[Breach, ...]


def make_truth_calls(
    space: CallSpace, cores: Sequence[ForbiddenCombination], strength: int = 2
) -> TruthCalls:
    """The calls of a space: covering rows and borders, and breaches of its rules."""
    operator = space.spec.operator
    rows = (row.call for row in make_rows(space, cores, strength))
    edges = (edge.call for edge in find_edges(space, Draw(f"{operator}/boundary")))
    breaches = find_breaches(space, Draw(f"{operator}/invalid"))
    errors = [breach for breach in breaches if breach.constraint.otherwise == "error"]
    others = [breach for breach in breaches if breach.constraint.otherwise != "error"]
    return TruthCalls(
        tuple(_each_once(space, (*rows, *edges))),
        tuple({error.call.digest(operator): error for error in errors}.values()),
        tuple({other.call.digest(operator): other for other in others}.values()),
    )


def _each_once(space: CallSpace, calls: Iterable[Call]) -> Iterable[Call]:
    return {call.digest(space.spec.operator): call for call in calls}.values()


_VERDICTS: dict[Reaction, Verdict] = {
    "refused": REJECTED_VALID,
    "crashed": "crash",
    "timed out": "timeout",
}


@dataclass(frozen=True)
class FailureEntries:
    """The entries of `cases` in `disagreements.yaml`, and the spec whose calls they are held against."""

    spec: Spec
    entries: Sequence[Disagreement]

    def explain(self, witness: str, found: Witnessed, call: Call) -> Disagreement | Refusable | None:
        """What of `may_refuse` lets a witness refuse a valid call, or the first entry that says why it does.

        None where there is neither. What asks for levels of other factors than the element type, or for
        cases of a certain family, is not about calls.
        """
        if found.reaction not in _VERDICTS:
            return None
        if found.reaction == "refused":
            left_open = find_refusable(self.spec, call)
            if left_open is not None:
                return left_open
        case = bare_case(self.spec, call)
        about = (entry for entry in self.entries if witness in entry.against)
        return next(
            (disagreement for disagreement in about if self._fits(disagreement, witness, found, call, case)),
            None,
        )

    def _fits(self, entry: Disagreement, witness: str, found: Witnessed, call: Call, case: Case) -> bool:
        levels = {"element_type": case.element_type.name}
        operator, verdict = str(self.spec.operator), _VERDICTS[found.reaction]
        try:
            names = None if entry.when is None else scope_of(self.spec, call.attributes, dict(call.inputs))
            return entry.explains(operator, str(case.id), witness, verdict, levels, found.message, names)
        except (KeyError, UserError):
            return False  # its condition has no value for this call


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
            "errors": [error.call for error in self.calls.errors],
            "undefined": [breach.call for breach in self.calls.undefined],
        }
        counts = {
            witness: {kind: Counter(self._reactions(answers, calls)) for kind, calls in kinds.items()}
            for witness, answers in self.said.items()
        }
        refusals, answered = tuple(self._refusals()), tuple(self._answered_errors())
        return TruthTable(self.operator, self.calls, counts, refusals, answered, self.versions)

    def _reactions(self, answers: Answers, calls: Iterable[Call]) -> Iterable[Reaction]:
        digests = [call.digest(self.operator) for call in calls]
        return (answers[digest].reaction for digest in digests if digest in answers)

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
            yield from sorted(groups.values(), key=lambda refusal_group: -len(refusal_group.calls))

    def _explanation(
        self, witness: str, found: Witnessed, call: Call
    ) -> ExplainedRefusal | Disagreement | Refusable | None:
        """What is known of such cases comes first: of them an entry says which calls it is about."""
        known = None if self.failures is None else self.failures.explain(witness, found, call)
        if known is not None:
            return known
        name = str(self.operator)
        fitting = (
            explanation
            for explanation in self.explanations
            if explanation.explains_refusal(name, witness, found.message)
        )
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
            known = [
                explanation
                for explanation in self.explanations
                if explanation.explains_answer(str(self.operator), rule)
            ]
            yield AnsweredErrors(rule, tuple(calls), known[0] if known else None)

    def _is_refused(self, breach: Breach) -> bool:
        """By anybody: one witness that refuses it is enough."""
        digest = breach.call.digest(self.operator)
        return any(
            digest in answers and answers[digest].reaction in (*REFUSING, "not offered")
            for answers in self.said.values()
        )
