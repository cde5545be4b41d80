"""`junit.xml`: one suite an operator version, one test a case, as continuous integration reads it.

The structure is that of the xunit plugin of Jenkins: `failure` for what is not as the documents say, `error`
for our own bugs, `skipped` with a reason for what is unsupported or did not run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

from conformance.judging.verdicts import BESIDE, HARNESS_ERROR, NOT_RUN, word
from reports.causes.class_words import headline
from reports.causes.failure_classes import class_of
from reports.causes.followed_readings import fault_text
from reports.overview.cause_paragraphs import grouped_tests
from reports.overview.headline import runtime_label
from reports.results.case_results import CaseResult, Results
from reports.results.told_facts import text
from reports.single_cases.answer_views import error_text
from reports.text.phrasing import parse_moment
from reports.text.tests_and_tables import JUnitSuite, JUnitTest, render_suites

FILE = "junit.xml"


def render(results: Results) -> bytes:
    """The whole document. Characters that XML does not allow are replaced by U+FFFD."""
    return render_suites(f"opcert {runtime_label(results.record)}", _suites(results))


def _suites(results: Results) -> Iterator[JUnitSuite]:
    started = parse_moment(text(results.record.header.get("started")))
    stamp = started.strftime("%Y-%m-%dT%H:%M:%S") if started is not None else ""
    if results.grouping == "case":
        for operator, cases in results.by_operator.items():
            yield JUnitSuite(str(operator), tuple(_case(results, case) for case in cases), stamp)
    else:
        # One suite for causes and one for operators, each with a test for every one of them.
        suites: dict[str, list[JUnitTest]] = {}
        for test in grouped_tests(results):
            suites.setdefault(test.classname, []).append(test)
        for name, tests in suites.items():
            yield JUnitSuite(name, tuple(tests), stamp)
    if results.record.faults:
        said = [fault_text(fault) for fault in results.record.faults]
        faults = [
            JUnitTest("faults", f"fault {number}", 0.0, "failure", message, "fault", message)
            for number, message in enumerate(said, 1)
        ]
        yield JUnitSuite("faults of the run", tuple(faults))


def _case(results: Results, case: CaseResult) -> JUnitTest:
    classname, _, name = str(case.id).rpartition("/")
    seconds = math.fsum(row.seconds for row in case.rows)
    reason = (case.row.reason if case.row is not None else None) or ""
    message = ": ".join(part for part in (word(case.verdict), reason) if part)
    if case.fails or case.verdict == HARNESS_ERROR:
        outcome: Literal["failure", "error"] = "failure" if case.fails else "error"
        details = _details(results, case)
        return JUnitTest(classname, name, seconds, outcome, message, case.verdict, details)
    if case.verdict in ("unsupported", NOT_RUN):
        return JUnitTest(classname, name, seconds, "skipped", message, case.verdict)
    if case.verdict in (*BESIDE, "limit", "observed"):
        return JUnitTest(classname, name, seconds, "system-out", message)
    return JUnitTest(classname, name, seconds)


def _details(results: Results, case: CaseResult) -> str:
    row = case.row
    lines = [str(case.id), f"element type {case.element_type}"]
    cause = class_of(results, case)
    lines += [f"cause {cause.number}: {headline(cause)}"] if cause is not None else []
    lines += [f"{name}={value}" for name, value in case.features.items()]
    if error_text(case):
        lines.append(error_text(case))
    if row is not None:
        lines += [each for each in (row.reason, row.message, row.stderr) if each]
    return "\n".join([*lines, results.reproduction_command(case.id)])
