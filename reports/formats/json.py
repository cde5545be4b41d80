"""`report.json`: what the page says, for programs; its schema is `reports/schemas/report.json`."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from conformance.judging.kept_diagnosis import OUTCOMES, DiagnosedCause, SmallerCall
from conformance.judging.known_causes import KnownCause
from conformance.suite.canonical import plain
from reports.causes.class_words import headline
from reports.causes.failure_class import FailureClass
from reports.causes.failure_classes import classes_of
from reports.causes.followed_readings import fault_text, find_readings
from reports.causes.kept_findings import smaller_call
from reports.causes.titles import title
from reports.overview.decided import decide
from reports.overview.headline import list_warnings, runtime_label, runtime_name
from reports.overview.untested import find_untested
from reports.results.case_results import CaseResult, Results, summed_counts
from reports.results.told_facts import text
from reports.text.value_text import in_type_order

FILE = "report.json"
MARKS = {"report.json": rb'"format": "opcert-report/'}
FORMAT = "opcert-report/1"


def render(results: Results) -> str:
    """The whole document; every list of counts adds up to its number of cases."""
    header = results.record.header
    document = {
        "format": FORMAT,
        "opcert": version("opcert"),
        "runtime": {"label": runtime_label(results.record), **(header.get("runtime") or {})},
        "platform": header.get("platform"),
        "processor": header.get("processor"),
        "suite": results.suite.digest,
        "started": text(header.get("started")),
        "complete": results.complete,
        "warnings": list(list_warnings(results)),
        "headline": decide(results.cases, classes_of(results)).to_json(),
        "counts": summed_counts(results.cases),
        "operators": [_operator(results, cases) for cases in results.by_operator.values()],
        "mended": [
            {**_known(known_cause), "cases": list(known_cause.asked)} for known_cause in results.mended
        ],
        "classes": [_failure_class(results, failures) for failures in classes_of(results)],
        "faults": [fault_text(fault) for fault in results.record.faults],
        "notTested": [untested.text for untested in find_untested(results)],
        "cases": [_case(result) for result in results.cases],
    }
    return json.dumps(plain(document), indent=1, ensure_ascii=True) + "\n"


def _operator(results: Results, cases: Sequence[CaseResult]) -> dict[str, Any]:
    operator = cases[0].operator
    types = in_type_order(result.element_type for result in cases)
    return {
        "operator": str(operator),
        "counts": summed_counts(cases),
        "elementTypes": {
            name: summed_counts([result for result in cases if result.element_type == name]) for name in types
        },
        "readings": [
            {"id": reading.id, "kind": reading.kind, "followed": reading.followed}
            for reading in find_readings(results, operator)
        ],
    }


def _failure_class(results: Results, found: FailureClass) -> dict[str, Any]:
    conditions, smaller = found.conditions, smaller_call(results, found)
    return {
        "number": found.number,
        "kind": found.kind,
        "operators": [str(operator) for operator in found.operators],
        "says": headline(found),
        "title": title(found, runtime_name(results.record)),
        "shows": found.shows,
        "use": {"models": found.use.models, "nodes": found.use.nodes},
        "told": found.told,
        "sentence": found.said or None,
        "known": None if found.known is None else _known(found.known),
        "suspects": [suspect.id for suspect in found.suspects],
        "experiment": None if found.shown is None else _experiment(found.shown),
        "beside": [
            {"runtime": beside.label, "passing": beside.passing, "failing": beside.failing}
            for beside in found.beside
        ],
        "unoptimised": found.unoptimised or None,
        "conditions": None
        if conditions is None
        else [{"feature": condition.feature, "values": list(condition.values)} for condition in conditions],
        "fitting": len(found.cases),
        "fulfilling": found.fulfilling,
        "cases": [str(result.id) for result in found.cases],
        "smallest": str(found.smallest.id),
        "reproduce": results.reproduction_command(found.smallest.id),
        "smallerCall": None if smaller is None else _call(smaller),
    }


def _call(smaller: SmallerCall) -> dict[str, Any]:
    return {
        "attributes": dict(smaller.attributes),
        "inputs": [{"name": name, "type": typed, "values": values} for name, typed, values in smaller.inputs],
        "expected": smaller.expected,
        "got": smaller.got,
    }


def _known(known: KnownCause) -> dict[str, Any]:
    return {
        "id": known.id,
        "title": known.title,
        "cause": known.kind,
        "explanation": known.explanation,
        "evidence": list(known.evidence),
        "passage": list(known.passage),
        "thread": known.thread,
        "versions": list(known.versions),
        "shown": [{"by": said, "cases": number} for said, number in known.shown],
    }


def _experiment(shown: DiagnosedCause) -> dict[str, Any]:
    return {
        "says": shown.sentence,
        "needed": [
            {
                "factor": needed.factor,
                "value": needed.value,
                "fails": list(needed.fails),
                "cures": list(needed.cures),
            }
            for needed in shown.needed
        ],
        "free": list(shown.free),
        "smallest": shown.smallest,
        "call": list(shown.call),
        "got": shown.got,
        "confirmed": list(shown.confirmed),
        "without": {outcome: shown.count(outcome) for outcome in OUTCOMES},
    }


def _case(case: CaseResult) -> dict[str, Any]:
    row = case.row
    return {
        "id": str(case.id),
        "elementType": case.element_type,
        "verdict": case.verdict,
        "reason": row.reason if row is not None else None,
        "errorOverAllowed": case.ratio,
        "seconds": round(math.fsum(result.seconds for result in case.rows), 7),
    }
