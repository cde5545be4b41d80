"""What of a model was checked, and what was not: without the latter an answer of 0 would say too much."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from opcert.vocabulary.harmless import one_line
from reports.checked_models.call_words import operator_text
from reports.checked_models.model_check import FORBIDDEN, ModelCheck, RuntimeAnswers
from reports.text.phrasing import count, plural

_LONGEST = 2_000
_LABEL = 120


@dataclass(frozen=True)
class Coverage:
    """`nodes` of the model; of those that nothing covers, and that documents forbid, how many by operator.

    `open` says in sentences what else is not known.
    """

    nodes: int
    uncovered: Mapping[str, int]
    forbidden: Mapping[str, int]
    open: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Whether all of the model was checked."""
        return not (self.uncovered or self.forbidden or self.open)


def coverage_of(check: ModelCheck) -> Coverage:
    """What was checked on every runtime that was asked."""
    asked = [each for each in check.runtimes if not each.unavailable]
    uncovered, forbidden = Counter[str](), Counter[str]()
    for checked in check.calls:
        answers = [each.answers[checked.number - 1].answer for each in asked]
        if checked.evidence == "none" and checked.reason == FORBIDDEN:
            forbidden[operator_text(checked.call.first)] += checked.nodes
        elif checked.evidence == "none" or "uncovered" in answers:
            uncovered[operator_text(checked.call.first)] += checked.nodes
    told = tuple(one_line(line, _LONGEST) for each in asked for line in _open(each))
    return Coverage(len(check.model.nodes), dict(uncovered), dict(forbidden), told)


def _open(runtime: RuntimeAnswers) -> Iterator[str]:
    label = one_line(runtime.label, _LABEL)
    if runtime.load is not None and runtime.load.verdict == "unknown":
        yield f"whether it loads on {label}"
    left = sum(each.left for each in runtime.answers)
    if left:
        yield f"{plural(left, 'case')} that {label} was not asked, since others had lost their process"
    numbers = runtime.numbers
    for each in numbers.outputs if numbers is not None else ():
        if each.against == "references" and each.verdict not in ("right", "wrong"):
            yield f"whether the output {each.name} is right on {label} ({each.reason or 'no bound is known'})"


def coverage_line(coverage: Coverage) -> str:
    """`Checked: all 5 nodes.`, or how many are not covered, of which operators, and what else is open."""
    total = plural(coverage.nodes, "node")
    if coverage.complete:
        return f"Checked: all of {total}."
    parts = []
    if coverage.uncovered:
        missing = sum(coverage.uncovered.values())
        parts.append(f"{count(missing)} of {total} not covered: {_operators(coverage.uncovered)}")
    if coverage.forbidden:
        parts.append(
            f"{plural(sum(coverage.forbidden.values()), 'node')} not allowed by their documents: "
            f"{_operators(coverage.forbidden)}"
        )
    parts += [f"not known {each}" for each in coverage.open]
    return one_line(f"Not all was checked: {'; '.join(parts)}.", 2 * _LONGEST)


def _operators(counts: Mapping[str, int]) -> str:
    found = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return ", ".join(f"{name} ({count(number)})" for name, number in found)
