"""The judge: a case and what a runtime did with it become a verdict with its reason. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from conformance.cases import Case, Expectation
from conformance.comparison import Comparison, Worst, compare_output
from conformance.patterns import find_pattern
from conformance.responses import (
    Answered,
    Crashed,
    HarnessFailed,
    NotOffered,
    NotTensor,
    Refused,
    Response,
    TimedOut,
)
from opcert.tensors import Tensor

Verdict = Literal[
    "pass",
    "mismatch",
    "unsupported",
    "rejected_valid",
    "accepted_invalid",
    "crash",
    "timeout",
    "observed",
    "harness_error",
    "not_run",
]
VERDICTS: tuple[Verdict, ...] = (
    "pass",
    "mismatch",
    "unsupported",
    "rejected_valid",
    "accepted_invalid",
    "crash",
    "timeout",
    "observed",
    "harness_error",
    "not_run",
)
FAILING: frozenset[Verdict] = frozenset(
    {"mismatch", "rejected_valid", "accepted_invalid", "crash", "timeout"}
)
_BEST_FIRST: tuple[Verdict, ...] = (
    "pass",
    "observed",
    "unsupported",
    "not_run",
    "accepted_invalid",
    "rejected_valid",
    "mismatch",
    "timeout",
    "crash",
    "harness_error",
)


def worst_verdict(verdicts: Iterable[Verdict]) -> Verdict:
    """A case's verdict from those of its rows; raises ValueError on none."""
    return max(verdicts, key=_BEST_FIRST.index)


@dataclass(frozen=True)
class Judgement:
    """A verdict and why.

    `readings` and `behaviours` hold, for each id, the options under which the answer is right. `expectation`
    is the number of the expectation that matched, or was the closest. `matched` holds, for each output, the
    number of the first expectation that it is bit for bit equal to, or None. `wrong` is the number of wrong
    elements in all outputs, of `elements`.
    """

    verdict: Verdict
    reason: str | None = None
    readings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    behaviours: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    worst: Worst | None = None
    difference: Literal["count", "type", "shape", "value"] | None = None
    pattern: str | None = None
    wrong: int | None = None
    elements: int | None = None
    expectation: int | None = None
    matched: tuple[int | None, ...] = ()

    @property
    def behaviour(self) -> str | None:
        """The implementation-defined behaviours shown, as one text: `flush: yes; ties: even or up`."""
        if not self.behaviours:
            return None
        return "; ".join(f"{name}: {' or '.join(each)}" for name, each in sorted(self.behaviours.items()))


def judge(case: Case, response: Response, *, valid_case_answered: bool = True) -> Judgement:
    """The verdict on a response.

    `valid_case_answered` says whether the runtime answered the valid case that a case that must be refused
    was made from: without that, a refusal shows nothing.
    """
    match response:
        case HarnessFailed():
            return Judgement("harness_error", response.reason)
        case Crashed():
            return Judgement("crash", response.reason)
        case TimedOut():
            return Judgement("timeout", f"no answer to {response.stage} within {response.limit:g} s")
        case NotOffered():
            return Judgement("unsupported", response.reason)
        case Refused():
            return _judge_refusal(case, response, valid_case_answered)
        case Answered():
            if case.demand == "survive":
                return Judgement("observed", "answered")
            if case.demand == "refuse":
                return Judgement("accepted_invalid", _accepted(case))
            return _judge_answer(case, response)


def _accepted(case: Case) -> str:
    rule = f" breaks {case.constraint}" if case.constraint else " is an error"
    return f"the call{rule} and must be refused, and was answered"


def _judge_refusal(case: Case, response: Refused, valid_case_answered: bool) -> Judgement:
    said = f"{response.kind}: {_first_line(response.message)}"
    if case.demand == "survive":
        return Judgement("observed", f"refused with {said}")
    if case.demand == "refuse":
        if valid_case_answered:
            return Judgement("pass", f"refused with {said}")
        return Judgement(
            "unsupported", f"refused with {said}; so is the valid case that this one was made from"
        )
    if response.unsupported is not None:
        return Judgement("unsupported", said)
    return Judgement("rejected_valid", said)


def _first_line(message: str) -> str:
    line = next((each.strip() for each in message.splitlines() if each.strip()), "")
    return line if len(line) <= 300 else line[:297] + "..."


def _judge_answer(case: Case, response: Answered) -> Judgement:
    if not case.expectations:
        return Judgement("harness_error", "the case demands an answer and states none")
    tried = [_try(each, response) for each in case.expectations]
    matched = _match_bits(tried, len(response.outputs))
    right = [number for number, each in enumerate(tried) if each.right]
    if right:
        chosen = tried[right[0]]
        return Judgement(
            "pass",
            readings=_collect(case.expectations[number].readings for number in right),
            behaviours=_collect(case.expectations[number].behaviours for number in right),
            worst=chosen.worst,
            wrong=0,
            elements=chosen.elements,
            expectation=right[0],
            matched=matched,
        )
    closest = min(range(len(tried)), key=lambda each: tried[each].distance)
    described = _describe(case, case.expectations[closest], tried[closest], response)
    return replace(described, expectation=closest, matched=matched)


def _collect(options: Iterable[Mapping[str, tuple[str, ...]]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for each in options:
        for name, values in each.items():
            found.setdefault(name, {}).update(dict.fromkeys(values))
    return {name: tuple(values) for name, values in sorted(found.items())}


@dataclass(frozen=True, eq=False)
class _Trial:
    """A response held against one expectation; `comparisons` is empty where the number of outputs differs."""

    comparisons: tuple[Comparison | None, ...]
    right: bool

    @property
    def wrong(self) -> int:
        return sum(each.wrong_elements for each in self.comparisons if each)

    @property
    def elements(self) -> int:
        return sum(each.elements for each in self.comparisons if each)

    @property
    def worst(self) -> Worst | None:
        found = [each.worst for each in self.comparisons if each and each.worst]
        wrong = [each.worst for each in self.comparisons if each and each.worst and each.difference]
        return max(wrong or found, key=_severity, default=None)

    @property
    def distance(self) -> tuple[int, float, float]:
        """How far off, for the choice of the closest expectation: kind of difference, share wrong, ratio."""
        kinds = [_KIND_RANK[each.difference] if each else 3 for each in self.comparisons]
        worst = self.worst
        return (
            max(kinds, default=4),
            self.wrong / max(self.elements, 1),
            _severity(worst) if worst else 0.0,
        )


_KIND_RANK = {None: 0, "value": 1, "shape": 2, "type": 3}


def _severity(worst: Worst) -> float:
    return float("inf") if worst.ratio is None else worst.ratio


def _try(expectation: Expectation, response: Answered) -> _Trial:
    if len(response.outputs) != len(expectation.outputs):
        return _Trial((), right=False)
    comparisons = tuple(
        compare_output(wanted, got, position) if isinstance(got, Tensor) else None
        for position, (wanted, got) in enumerate(zip(expectation.outputs, response.outputs, strict=True))
    )
    return _Trial(comparisons, all(each is not None and each.difference is None for each in comparisons))


def _match_bits(tried: list[_Trial], outputs: int) -> tuple[int | None, ...]:
    return tuple(
        next(
            (
                number
                for number, each in enumerate(tried)
                if position < len(each.comparisons)
                and (comparison := each.comparisons[position]) is not None
                and comparison.same_bits
            ),
            None,
        )
        for position in range(outputs)
    )


def _describe(case: Case, expectation: Expectation, trial: _Trial, response: Answered) -> Judgement:
    if not trial.comparisons:
        counts = f"{len(response.outputs)} outputs instead of {len(expectation.outputs)}"
        return Judgement("mismatch", counts, difference="count")
    for wanted, got, comparison in zip(expectation.outputs, response.outputs, trial.comparisons, strict=True):
        if isinstance(got, NotTensor):
            reason = f"output {wanted.name} is no tensor but a {got.kind}: {got.text}"
            return Judgement("mismatch", reason, difference="type")
        assert comparison is not None
        if comparison.difference == "type":
            reason = f"output {wanted.name} is {got.element_type} instead of {wanted.expected.element_type}"
            return Judgement("mismatch", reason, difference="type")
        if comparison.difference == "shape":
            reason = f"output {wanted.name} is {list(got.shape)} instead of {list(wanted.expected.shape)}"
            pattern = find_pattern(wanted.expected, got, None, _present(case))
            return Judgement("mismatch", reason, difference="shape", pattern=pattern)
    return _describe_values(case, expectation, trial, response)


def _describe_values(case: Case, expectation: Expectation, trial: _Trial, response: Answered) -> Judgement:
    worst = trial.worst
    assert worst is not None
    wanted, got = expectation.outputs[worst.output], response.outputs[worst.output]
    comparison = trial.comparisons[worst.output]
    assert isinstance(got, Tensor)
    assert comparison is not None
    where = f"{wanted.name}{list(worst.index)}"
    reason = f"{trial.wrong} of {trial.elements} elements wrong; worst {where}: "
    reason += f"got {worst.got}, expected {worst.expected}"
    if worst.ratio is not None:
        reason += f", {_print_ratio(worst.ratio)} times the allowed error"
    return Judgement(
        "mismatch",
        reason,
        worst=worst,
        difference="value",
        pattern=find_pattern(wanted.expected, got, comparison.wrong, _present(case)),
        wrong=trial.wrong,
        elements=trial.elements,
    )


def _print_ratio(ratio: float) -> str:
    """At least 1.01 for what is over the limit: a failure must not print as exactly on it."""
    return f"{max(ratio, 1.01):.3g}"


def _present(case: Case) -> list[tuple[str, Tensor]]:
    return [(name, tensor) for name, tensor in case.inputs if tensor is not None]
