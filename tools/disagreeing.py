"""What a runtime's record has against the reference, each with the entry that explains it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from conformance.judging.verdicts import FAILING
from conformance.recording.records import Record
from conformance.suite.suites import Suite
from generator.exploring.diagnosis.explainer import Explainer, said_by, subject_of
from reference.readings.disagreements import Disagreement


@dataclass(frozen=True)
class Disagreeing:
    """One failing row, or one fault of the run, and the entry that explains it (None: nobody has)."""

    subject: str
    operator: str
    verdict: str
    reason: str
    entry: Disagreement | None


def disagreeing(suite: Suite, record: Record, entries: Sequence[Disagreement]) -> Iterator[Disagreeing]:
    """Every failing row and fault of a record, in its order.

    Raises EvaluationError where a condition of an entry has no value for a call that it may be about.
    """
    explainer = Explainer(suite, str(record.header["runtime"]["name"]), entries, strict=True)
    for row in record.results:
        if row.verdict in FAILING:
            yield Disagreeing(row.case, row.operator, row.verdict, said_by(row), explainer.of_row(row))
    for fault in record.faults:
        operator, reason = str(fault.get("operator", "")), str(fault["message"])
        entry = explainer.of_fault(fault, record.results)
        yield Disagreeing(subject_of(fault), operator, "fault", reason, entry)


def by_subject(found: Sequence[Disagreeing]) -> list[Disagreeing]:
    """One of each case and fault, the one that nobody has explained where there is one.

    A case that fails in several forms has as many rows.
    """
    kept: dict[str, Disagreeing] = {}
    for each in found:
        before = kept.get(each.subject)
        if before is None or (each.entry is None and before.entry is not None):
            kept[each.subject] = each
    return list(kept.values())
