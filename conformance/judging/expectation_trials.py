"""A response held against one expectation of its case, and the difference in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from conformance.judging.open_orders import put_in_order
from conformance.judging.output_comparison import Comparison, Worst, compare_output
from conformance.judging.patterns import find_pattern
from conformance.judging.responses import Answered, ReturnedOther
from conformance.suite.cases import Case, Expectation
from opcert.vocabulary.tensors import Tensor

DifferenceKind = Literal["count", "type", "shape", "value", "property", "memory"]
_MOST_ULPS = 1_000_000


@dataclass(frozen=True, eq=False)
class ExpectationTrial:
    """What came of it; `comparisons` is empty where the number of outputs differs.

    `wrong` and `elements` count in all outputs; `worst` is the worst of the wrong elements, or, where none is
    wrong, of those that used some of their allowance.
    """

    comparisons: tuple[Comparison | None, ...]
    right: bool
    outputs: tuple[Tensor | ReturnedOther, ...] = ()
    """What was compared: the outputs, where their order is left open in that of the expectation."""

    @cached_property
    def wrong(self) -> int:
        return sum(each.wrong_elements for each in self.comparisons if each)

    @cached_property
    def elements(self) -> int:
        return sum(each.elements for each in self.comparisons if each)

    @cached_property
    def worst(self) -> Worst | None:
        found = [each.worst for each in self.comparisons if each and each.worst]
        wrong = [each.worst for each in self.comparisons if each and each.worst and each.difference]
        return max(wrong or found, key=_severity, default=None)

    @cached_property
    def ulps(self) -> int:
        """The greatest distance of a right element, in steps of its type."""
        return max((each.ulps for each in self.comparisons if each), default=0)

    @property
    def distance(self) -> tuple[int, float, float]:
        """How far off, for the choice of the closest expectation: kind of difference, share wrong, ratio."""
        kinds = [_KIND_RANK[each.difference] if each else 3 for each in self.comparisons]
        return (
            max(kinds, default=4),
            self.wrong / max(self.elements, 1),
            _severity(self.worst) if self.worst else 0.0,
        )


_KIND_RANK = {None: 0, "value": 1, "shape": 2, "type": 3}


def _severity(worst: Worst) -> float:
    return float("inf") if worst.ratio is None else worst.ratio


def try_expectation(expectation: Expectation, response: Answered) -> ExpectationTrial:
    """Compare every output with what one expectation says of it."""
    if len(response.outputs) != len(expectation.outputs):
        return ExpectationTrial((), right=False)
    outputs = put_in_order(expectation, response.outputs)
    comparisons = tuple(
        compare_output(wanted, got, position) if isinstance(got, Tensor) else None
        for position, (wanted, got) in enumerate(zip(expectation.outputs, outputs, strict=True))
    )
    right = all(each is not None and each.difference is None for each in comparisons)
    # What was put into another order is not bit for bit what the record would then say it is.
    kept = tuple(
        replace(each, same_bits=each.same_bits and moved is got) if each is not None else None
        for each, moved, got in zip(comparisons, outputs, response.outputs, strict=True)
    )
    return ExpectationTrial(kept if expectation.unordered else comparisons, right, outputs)


def match_bits(tried: Sequence[ExpectationTrial], outputs: int) -> tuple[int | None, ...]:
    """For each output the number of the first expectation that it equals bit for bit, or None."""
    return tuple(
        next((number for number, each in enumerate(tried) if _is_matched(each, position)), None)
        for position in range(outputs)
    )


def _is_matched(trial: ExpectationTrial, position: int) -> bool:
    comparison = trial.comparisons[position] if position < len(trial.comparisons) else None
    return comparison is not None and comparison.same_bits


@dataclass(frozen=True)
class MismatchWords:
    """A mismatch in words."""

    reason: str
    difference: DifferenceKind
    pattern: str | None = None


def describe_trial(
    case: Case, expectation: Expectation, trial: ExpectationTrial, response: Answered
) -> MismatchWords:
    """Say how a response differs from an expectation that it does not meet."""
    if not trial.comparisons:
        return MismatchWords(_describe_count(case, expectation, response), "count")
    for wanted, got, comparison in zip(expectation.outputs, trial.outputs, trial.comparisons, strict=True):
        if isinstance(got, ReturnedOther):
            return MismatchWords(f"output {wanted.name} is no tensor but a {got.kind}: {got.text}", "type")
        assert comparison is not None
        if comparison.difference == "type":
            reason = f"output {wanted.name} is {got.element_type} instead of {wanted.expected.element_type}"
            return MismatchWords(reason, "type")
        if comparison.difference == "shape":
            reason = f"output {wanted.name} is {list(got.shape)} instead of {list(wanted.expected.shape)}"
            return MismatchWords(reason, "shape", find_pattern(wanted, got, None, _present(case)))
    return _describe_values(case, expectation, trial)


def _describe_count(case: Case, expectation: Expectation, response: Answered) -> str:
    """The first output that says of itself that it holds more or less; else how many outputs there are."""
    for wanted, got in zip(expectation.outputs, response.outputs if case.output_types else (), strict=False):
        if isinstance(got, ReturnedOther) or got == wanted.expected:
            continue
        if got.shape == () and got.element_type is wanted.expected.element_type:
            return f"output {wanted.name} is {got.array.item()} instead of {wanted.expected.array.item()}"
    return f"{len(response.outputs)} outputs instead of {len(expectation.outputs)}"


def _describe_values(case: Case, expectation: Expectation, trial: ExpectationTrial) -> MismatchWords:
    worst = trial.worst
    assert worst is not None
    wanted, got = expectation.outputs[worst.output], trial.outputs[worst.output]
    comparison = trial.comparisons[worst.output]
    assert isinstance(got, Tensor)
    assert comparison is not None
    reason = f"{trial.wrong} of {trial.elements} elements wrong; worst {wanted.name}{list(worst.index)}: "
    reason += f"got {worst.got}, expected {worst.expected}"
    if worst.ratio is not None:
        reason += f", {_print_ratio(worst.ratio)} times the allowed error of {worst.allowed:.3g}"
    if worst.ulps is not None and worst.ulps <= _MOST_ULPS:
        reason += f", {worst.ulps} ulp"
    pattern = find_pattern(wanted, got, comparison.wrong, _present(case))
    return MismatchWords(reason, "value", pattern)


def _print_ratio(ratio: float) -> str:
    """At least 1.01 for what is over the limit: a failure must not print as exactly on it."""
    return f"{max(ratio, 1.01):.3g}"


def _present(case: Case) -> list[tuple[str, Tensor]]:
    return [(name, tensor) for name, tensor in case.inputs if tensor is not None]
