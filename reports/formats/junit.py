"""`junit.xml`: one suite an operator version, one test a case, as continuous integration reads it.

The structure is that of the xunit plugin of Jenkins: `failure` for what is not as the documents say, `error`
for our own bugs, `skipped` with a reason for what is unsupported or did not run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.whole_files import write_bytes
from reports.causes.class_words import headline
from reports.causes.failure_classes import class_of
from reports.causes.followed_readings import fault_text
from reports.page_making.phrasing import parse_moment
from reports.results.case_results import CaseResult, Results
from reports.results.grouped_tests import grouped_tests
from reports.results.headline import runtime_label
from reports.results.junit_tree import count_suite, write_document
from reports.results.told_facts import text
from reports.results.verdicts import BESIDE, word
from reports.single_cases.answer_views import error_text


def write(results: Results, folder: Path) -> Path:
    """Write the file; raises UserError where the folder cannot be written."""
    return write_bytes(folder / "junit.xml", render_junit(results))


def render_junit(results: Results) -> bytes:
    """The whole document. Characters that XML does not allow are replaced by U+FFFD."""
    root = Element("testsuites", name=f"opcert {runtime_label(results.record)}")
    started = parse_moment(text(results.record.header.get("started")))
    stamp = started.strftime("%Y-%m-%dT%H:%M:%S") if started is not None else None
    if results.grouping == "case":
        for operator, cases in results.by_operator.items():
            _suite(root, results, operator, cases, stamp)
    else:
        _grouped(root, results, stamp)
    if results.record.faults:
        _faults(root, results)
    return write_document(root)


def _suite(
    root: Element,
    results: Results,
    operator: OperatorName,
    cases: Sequence[CaseResult],
    timestamp: str | None,
) -> None:
    suite = SubElement(root, "testsuite", name=str(operator))
    if timestamp is not None:
        suite.set("timestamp", timestamp)
    for each in cases:
        _case(suite, results, each)
    count_suite(suite)


def _grouped(root: Element, results: Results, timestamp: str | None) -> None:
    """One suite for causes and one for operators, each with a test for every one of them."""
    suites: dict[str, Element] = {}
    for each in grouped_tests(results):
        if each.suite not in suites:
            suites[each.suite] = SubElement(root, "testsuite", name=each.suite)
            if timestamp is not None:
                suites[each.suite].set("timestamp", timestamp)
        test = SubElement(
            suites[each.suite], "testcase", name=each.name, classname=each.suite, time=f"{each.seconds:.6f}"
        )
        if each.failed:
            SubElement(test, "failure", message=each.message, type=each.suite).text = each.details
        elif each.skipped:
            SubElement(test, "skipped", message=each.message, type="unsupported")
        else:
            SubElement(test, "system-out").text = each.message
    for suite in suites.values():
        count_suite(suite)


def _case(suite: Element, results: Results, case: CaseResult) -> None:
    classname, _, name = str(case.id).rpartition("/")
    seconds = math.fsum(row.seconds for row in case.rows)
    test = SubElement(suite, "testcase", name=name, classname=classname, time=f"{seconds:.6f}")
    reason = (case.row.reason if case.row is not None else None) or ""
    message = ": ".join(part for part in (word(case.verdict), reason) if part)
    if case.fails:
        failure = SubElement(test, "failure", message=message, type=case.verdict)
        failure.text = _details(results, case)
    elif case.verdict == "harness_error":
        SubElement(test, "error", message=message, type=case.verdict).text = _details(results, case)
    elif case.verdict in ("unsupported", "not_run"):
        SubElement(test, "skipped", message=message, type=case.verdict)
    elif case.verdict in (*BESIDE, "limit", "observed"):
        SubElement(test, "system-out").text = message


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


def _faults(root: Element, results: Results) -> None:
    suite = SubElement(root, "testsuite", name="faults of the run")
    for number, each in enumerate(results.record.faults, 1):
        test = SubElement(suite, "testcase", name=f"fault {number}", classname="faults", time="0.000000")
        message = fault_text(each)
        SubElement(test, "failure", message=message, type="fault").text = message
    count_suite(suite)
