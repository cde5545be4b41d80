"""A truth table as text: how many calls each witness takes, and what waits for an explanation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from conformance.judging.refusals import shorten
from generator.asking.questions import describe
from generator.trust.witnesses.truth_runs import Reaction
from generator.trust.witnesses.truth_table import (
    IN_PROCESS,
    REFUSING,
    AnsweredErrors,
    RefusalGroup,
    TruthTable,
)
from reports.text.phrasing import plural
from specs.model.spec import Refusable

_OTHERWISE: tuple[Reaction, ...] = ("refused", "not offered", "crashed", "timed out")
_LONGEST_CALL = 300


def summarise_truth(table: TruthTable) -> str:
    """The counts of every witness, and each group of refusals with its first call."""
    calls = table.calls
    valid, broken = plural(len(calls.valid), "valid call"), f"{len(calls.errors)} that a text calls errors"
    lines = [f"{table.operator}: {valid}, {broken}, {len(calls.undefined)} of which no text says what comes"]
    width = max(map(len, table.counts), default=0)
    for witness, counts in table.counts.items():
        lines.append(f"  {witness.ljust(width)}  {told_counts(counts)}")
    if not table.counts.keys() & IN_PROCESS:
        lines.append("  ONNX knows no such operator: its shape inference and checker were not asked")
    for group in table.refusals:
        lines.extend(_group(group))
    for answered in table.answered_errors:
        lines.extend(_answered(answered))
    lines.append(f"  {_conclusion(table)}")
    return "\n".join(lines)


def told_counts(counts: Mapping[str, Counter[Reaction]]) -> str:
    """What one witness does with the calls of each kind that it was asked about."""
    valid = counts["valid"]
    said = [f"answers {valid['answered']} of {valid.total()} valid"]
    said += [f"{valid[each]} {each}" for each in _OTHERWISE if valid[each]]
    for kind, name in (("errors", "errors"), ("undefined", "others")):
        refused = sum(counts[kind][each] for each in REFUSING)
        said.append(f"refuses {refused} of {counts[kind].total()} {name}")
    return ", ".join(said)


def _group(group: RefusalGroup) -> Iterator[str]:
    known = "unexplained" if group.explanation is None else f"explained: {group.explanation.id}"
    if isinstance(group.explanation, Refusable):
        known = f"left open: {group.explanation.id}"
    said = shorten(group.message) or "(it says nothing)"
    yield f"  {group.witness}: {plural(len(group.calls), 'valid call')} {group.reaction} ({known}): {said}"
    if group.explanation is None:
        yield f"    for example {describe(group.calls[0])[:_LONGEST_CALL]}"


def _answered(answered: AnsweredErrors) -> Iterator[str]:
    known = f"explained: {answered.explanation.id}" if answered.explanation is not None else "unexplained"
    count = plural(len(answered.calls), "call")
    yield f"  nobody refuses {count} that break {answered.rule}, an error by the text ({known})"
    if answered.explanation is None:
        yield f"    for example {describe(answered.calls[0])[:_LONGEST_CALL]}"


def _conclusion(table: TruthTable) -> str:
    if not table.unexplained:
        asked = table.counts.keys() - IN_PROCESS or not table.calls.errors
        return "nothing is unexplained" + ("" if asked else "; whether errors are refused, runtimes say")
    waiting = plural(table.unexplained, "call")
    return f"{waiting} unexplained: mend the declaration, or say why in disagreements.yaml of its room"
