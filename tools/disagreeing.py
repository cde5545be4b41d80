"""What a runtime's record has against the reference, each with the entry that explains it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from conformance.judging.verdicts import FAILING
from conformance.recording.records import Record
from conformance.suite.suites import Suite
from generator.exploring.diagnosis.explainer import Explainer, said_by, subject_of
from opcert.vocabulary.names import CaseId
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


def find_silent(
    suite: Suite, record: Record, entries: Sequence[Disagreement], found: Sequence[Disagreeing]
) -> list[Disagreement]:
    """The entries about this version of the runtime, and about cases of the suite, that explain nothing.

    A fault of the whole run may hang on a single case, which another suite leaves out: such entries may wait.
    """
    runtime = record.header["runtime"]
    used = {each.entry.id for each in found if each.entry is not None}
    about = (
        entry
        for entry in entries
        if runtime["name"] in entry.against and entry.is_about(runtime["version"]) and entry.id not in used
    )
    return [
        entry
        for entry in about
        if entry.verdicts != ("fault",) and any(_is_about(entry, case) for case in suite.case_ids)
    ]


def _is_about(entry: Disagreement, case: str) -> bool:
    operator = str(CaseId.parse(case).operator)
    return entry.concerns(operator) and any(fnmatchcase(case, pattern) for pattern in entry.cases)


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
