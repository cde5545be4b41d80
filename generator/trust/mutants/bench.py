"""The cases of a suite, ready for mutants to be tried on them; everything within `MutatedOperator.quick`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from time import process_time
from typing import Any, Literal, Protocol

from conformance.judging.judge import Judgement, judge
from conformance.judging.responses import Answered, Response
from conformance.judging.verdicts import DIFFERENT
from conformance.suite.cases import Case
from generator.asking.calls import Call, call_of
from generator.asking.computed import as_run
from generator.trust.mutants.mutated_parts import Point
from generator.trust.mutants.subject import MutatedOperator, tells_nothing
from opcert.vocabulary.errors import InternalError
from opcert.vocabulary.tensors import Tensor

Status = Literal["killed", "equivalent", "survived"]
RUN = "run"
"""The killer of a mutant on which only the readings of all cases together find fault."""


@dataclass(frozen=True)
class MutantOutcome:
    """One mutant and what became of it.

    `killer` is the first case that failed on it (the part of the id behind the operator), or RUN. `calls`
    are the random calls that came by the change: all agreed with an equivalent one, and `call` is the first
    that did not agree with a survivor. `by_node_tests`: ONNX's own tests notice it, where there are any.
    """

    mutant: str
    kind: str
    file: str
    line: int
    diff: tuple[str, ...]
    status: Status
    killer: str | None = None
    calls: int = 0
    call: str | None = None
    by_node_tests: bool = False

    def listed(self) -> dict[str, Any]:
        entry = {"mutant": self.mutant, "kind": self.kind, "file": self.file, "line": self.line}
        return {**entry, "diff": list(self.diff), "calls": self.calls, "call": self.call}


@dataclass(frozen=True)
class Adequacy:
    """One operator: every mutant's outcome, and what else was found.

    `unreached` are lines that no call came by under the chosen readings: they have no mutants. `selection`
    are cases that together kill whatever the suite kills, the one that kills most first, each with the number
    of mutants that none before it killed. `node_tests` is the number of ONNX's tests that could be asked.
    """

    operator: str
    outcomes: tuple[MutantOutcome, ...]
    unreached: tuple[str, ...] = ()
    selection: Mapping[str, int] = field(default_factory=dict)
    node_tests: int = 0
    calls: int = 0

    def of(self, status: Status) -> list[MutantOutcome]:
        return [outcome for outcome in self.outcomes if outcome.status == status]

    @property
    def score(self) -> float:
        """The share killed of those that are not equivalent."""
        return _share(len(self.of("killed")), len(self.outcomes) - len(self.of("equivalent")))

    def to_json(self) -> dict[str, Any]:
        """Counts, also by kind, and survivors and equivalents one by one; what is killed is only counted."""
        kinds = sorted({outcome.kind for outcome in self.outcomes})
        return {
            "mutants": {**_counts(self.outcomes), "score": self.score},
            "kinds": {
                kind: _counts([outcome for outcome in self.outcomes if outcome.kind == kind])
                for kind in kinds
            },
            "survivors": [mutant_outcome.listed() for mutant_outcome in self.of("survived")],
            "equivalents": [mutant_outcome.listed() for mutant_outcome in self.of("equivalent")],
            "unreached": list(self.unreached),
            "node_tests": self._node_tests(),
            "calls": self.calls,
        }

    def _node_tests(self) -> dict[str, Any] | None:
        if not self.node_tests:
            return None
        counted = [outcome for outcome in self.outcomes if outcome.status != "equivalent"]
        killed = sum(mutant_outcome.by_node_tests for mutant_outcome in counted)
        return {"cases": self.node_tests, "killed": killed, "score": _share(killed, len(counted))}


def _counts(outcomes: tuple[MutantOutcome, ...] | list[MutantOutcome]) -> dict[str, int]:
    statuses = [outcome.status for outcome in outcomes]
    return {
        "made": len(statuses),
        "killed": statuses.count("killed"),
        "equivalent": statuses.count("equivalent"),
        "survived": statuses.count("survived"),
        "by_node_tests": sum(outcome.by_node_tests for outcome in outcomes if outcome.status != "equivalent"),
    }


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


_EVERY_CALL = 50
"""What a call takes whatever its size, in elements."""

_LEAST_SECONDS = 1e-6


class Faulty(Protocol):
    """What is common to mutants of the code and misreadings of the call."""

    @property
    def id(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def points(self) -> frozenset[Point]: ...
    @property
    def diff(self) -> tuple[str, ...]: ...
    def running(self) -> AbstractContextManager[None]: ...
    def respond(self, subject: MutatedOperator, call: Call, right: Response | None = None) -> Response: ...
    def applies(self, subject: MutatedOperator, call: Call, right: Response) -> bool: ...


@dataclass(frozen=True, eq=False)
class TrialCase:
    """A case, its call and right answer, points that it comes by, readings that fit it, weight, seconds."""

    name: str
    case: Case
    call: Call
    answer: Response
    reached: frozenset[Point]
    readings: Mapping[str, tuple[str, ...]]
    weight: int
    seconds: float


@dataclass(eq=False)
class MutantTrials:
    """The cases on which mutants are tried; everything within `MutatedOperator.quick`."""

    subject: MutatedOperator
    held: Sequence[TrialCase]
    kills: Counter[str] = field(default_factory=Counter)

    def killer(self, mutant: Faulty) -> str | None:
        """The first case on which a mutant fails, those first that kill most for their size; RUN for all.

        The whole run fails where no option of a reading fits every case.
        """
        able = [trial_case for trial_case in self.held if mutant.points <= trial_case.reached]
        # Those of the inert family last: size small makes other ones, so that none of them is selected.
        able.sort(
            key=lambda trial_case: (
                trial_case.case.family == "inert",
                -(self.kills[trial_case.name] + 1) / trial_case.weight,
            )
        )
        readings = {trial_case.name: trial_case.readings for trial_case in self.held}
        with self.subject.exchanged(mutant.running(), mutant.file):
            for trial_case in able:
                found = self._judged(mutant, trial_case)
                if found is None:
                    continue
                if found.verdict in DIFFERENT:
                    self.kills[trial_case.name] += 1
                    return trial_case.name
                readings[trial_case.name] = found.readings
        return RUN if _contradict(readings.values()) else None

    def kills_one_of(self, mutant: Faulty, names: Sequence[str]) -> str | None:
        """The first of some cases on which a mutant fails."""
        by_name = {trial_case.name: trial_case for trial_case in self.held}
        able = [by_name[name] for name in names if mutant.points <= by_name[name].reached]
        with self.subject.exchanged(mutant.running(), mutant.file):
            for trial_case in able:
                found = self._judged(mutant, trial_case)
                if found is not None and found.verdict in DIFFERENT:
                    return trial_case.name
        return None

    def _judged(self, mutant: Faulty, held: TrialCase) -> Judgement | None:
        """What the judge says of a mutant on a case; None where it ran out of time, which tells nothing."""
        response = mutant.respond(self.subject, held.call, held.answer)
        if tells_nothing(response, held.seconds):
            return None
        return judge(held.case, as_run(held.case, response))


def weight_of(call: Call, answer: Response) -> int:
    """About how long a call takes beside others, by its elements: the same everywhere, as no clock is."""
    given = sum(tensor.array.size for _, tensor in call.inputs if isinstance(tensor, Tensor))
    outputs = answer.outputs if isinstance(answer, Answered) else ()
    return _EVERY_CALL + given + sum(output.array.size for output in outputs if isinstance(output, Tensor))


def hold(subject: MutatedOperator, cases: Mapping[str, Case], *, strict: bool) -> list[TrialCase]:
    """Cases as a bench wants them; those on which the reference itself fails are left out.

    With `strict` they are an InternalError. Those of which it takes too long tell nothing of mutants.
    """
    found = []
    for name, case in cases.items():
        call = call_of(case)
        started = process_time()
        response, reached = subject.watch(call)
        seconds = max(process_time() - started, _LEAST_SECONDS)
        if tells_nothing(response, seconds):
            continue
        judged = judge(case, as_run(case, response))
        if judged.verdict not in DIFFERENT:
            weight = weight_of(call, response)
            found.append(TrialCase(name, case, call, response, reached, judged.readings, weight, seconds))
        elif strict:
            raise InternalError("the reference fails on a case", got=f"{case.id}: {judged.reason}")
    return found


def _contradict(readings: Iterable[Mapping[str, tuple[str, ...]]]) -> bool:
    common: dict[str, set[str]] = {}
    for reading in readings:
        for name, options in reading.items():
            common[name] = common.get(name, set(options)) & set(options)
    return not all(common.values())
