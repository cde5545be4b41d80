"""`ctrf.json`: a run in the Common Test Report Format, one test a case and one a fault.

Status: `passed`; `failed` for what is not as the documents say; `skipped` for what is unsupported or did not
run; `other` for what only had to survive, and for our own bugs. `rawStatus` is the verdict itself.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from opcert.vocabulary.harmless import shown
from opcert.vocabulary.whole_files import write_text
from reports.causes.class_words import headline
from reports.causes.failure_classes import class_of
from reports.causes.followed_readings import fault_text
from reports.page_making.phrasing import parse_moment
from reports.results.case_results import CaseResult, Results
from reports.results.grouped_tests import GroupedTest, grouped_tests
from reports.results.headline import runtime_label
from reports.results.told_facts import text
from reports.results.verdicts import FAILING

SPEC_VERSION = "0.0.0"
STATUS: Mapping[str, str] = {
    "pass": "passed",
    **dict.fromkeys(FAILING, "failed"),
    "unsupported": "skipped",
    "not_run": "skipped",
    "inexact": "other",
    "document": "other",
    "limit": "other",
    "observed": "other",
    "harness_error": "other",
}
_STATUSES = ("passed", "failed", "skipped", "pending", "other")
_LONGEST = 20_000


def write(results: Results, folder: Path) -> Path:
    """Write the file; raises UserError where the folder cannot be written."""
    return write_text(folder / "ctrf.json", render_ctrf(results))


def render_ctrf(results: Results) -> str:
    """The whole document; times are milliseconds."""
    if results.grouping == "case":
        tests = [_test(results, each) for each in results.cases]
    else:
        tests = [_grouped(each) for each in grouped_tests(results)]
    tests += [_fault(number, fault) for number, fault in enumerate(results.record.faults, 1)]
    statuses = Counter(each["status"] for each in tests)
    start = _milliseconds(results.record.header.get("started"))
    stop = _milliseconds((results.record.footer or {}).get("finished")) or start
    summary = {
        "tests": len(tests),
        **{each: statuses[each] for each in _STATUSES},
        "suites": len({each["suite"][0] for each in tests}),
        "start": start,
        "stop": stop,
        "extra": {"verdicts": dict(results.counts), "complete": results.complete},
    }
    document = {
        "reportFormat": "CTRF",
        "specVersion": SPEC_VERSION,
        "generatedBy": f"opcert {version('opcert')}",
        "results": {
            "tool": {"name": "opcert", "version": version("opcert")},
            "summary": summary,
            "tests": tests,
            "environment": {
                "testEnvironment": shown(runtime_label(results.record)),
                "extra": {"suite": results.suite.digest},
            },
        },
    }
    return json.dumps(document, indent=1, ensure_ascii=True) + "\n"


def _test(results: Results, case: CaseResult) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": str(case.id),
        "status": STATUS[case.verdict],
        "rawStatus": case.verdict,
        "duration": round(math.fsum(row.seconds for row in case.rows) * 1000),
        "suite": [str(case.operator), case.id.family],
        "tags": [case.element_type],
    }
    row = case.row
    if row is not None and row.reason:
        found["message"] = shown(row.reason, _LONGEST)
    cause = class_of(results, case)
    if cause is not None:
        found["extra"] = {"cause": cause.number, "causeSays": shown(headline(cause), _LONGEST)}
    if case.fails:
        said = [each for each in (row.message, row.stderr) if each] if row is not None else []
        found["trace"] = "\n".join(
            [*(shown(each, _LONGEST) for each in said), results.reproduction_command(case.id)]
        )
    return found


def _grouped(test: GroupedTest) -> dict[str, Any]:
    status = "failed" if test.failed else "skipped" if test.skipped else "passed"
    found: dict[str, Any] = {
        "name": shown(test.name, _LONGEST),
        "status": status,
        "duration": round(test.seconds * 1000),
        "suite": [test.suite],
        "message": shown(test.message, _LONGEST),
    }
    if test.failed:
        found["trace"] = shown(test.details, _LONGEST)
    return found


def _fault(number: int, fault: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": f"fault {number}",
        "status": "failed",
        "rawStatus": "fault",
        "duration": 0,
        "suite": ["faults of the run"],
        "message": shown(fault_text(fault), _LONGEST),
    }


def _milliseconds(moment: object) -> int:
    """Since 1970; 0 where there is no such moment."""
    found = parse_moment(text(moment))
    return 0 if found is None else int(found.timestamp() * 1000)
