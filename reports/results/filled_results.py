"""Results of many records of one suite: what the suite says of its cases is read once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from conformance.judging.judge import worst_verdict
from conformance.recording.records import Record
from conformance.recording.rows import Result
from conformance.suite.suites import Suite
from reports.results.case_results import CaseResult, Results, put_together, rows_by_case


def blank_results(suite: Suite) -> Results:
    """The cases of a suite, none of which ran."""
    return put_together(suite, Record(Path(), {"suite": suite.digest}, (), None))


def fill(blank: Results, record: Record) -> Results:
    """The same with the rows of a record of that suite, as `put_together` gives them.

    Raises UserError where the record holds a row of a case that the suite lacks.
    """
    rows = rows_by_case(blank.suite, record, blank.suite.case_ids)
    cases = tuple(_filled(each, own or ()) for each, own in zip(blank.cases, rows, strict=True))
    return replace(blank, record=record, cases=cases)


def _filled(case: CaseResult, rows: tuple[Result, ...]) -> CaseResult:
    if not rows:
        return case
    verdict = worst_verdict(each.verdict for each in rows)
    row = next(each for each in rows if each.verdict == verdict)
    return replace(case, verdict=verdict, row=row, rows=rows)
