"""`clauses.json`: what documents demand, with places and cases (schema: `reports/schemas/clauses.json`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opcert.vocabulary.harmless import for_json, shown
from reports.overview.headline import runtime_label
from reports.results.case_results import Results
from reports.results.clause_cases import Demand, list_demands

FILE = "clauses.json"
MARKS = {"clauses.json": rb'"format": "opcert-clauses/'}
FORMAT = "opcert-clauses/1"


def render(results: Results) -> str:
    """The whole file."""
    found = list(list_demands(results))
    document = {
        "format": FORMAT,
        "suite": results.suite.digest,
        "runtime": shown(runtime_label(results.record)),
        "clauses": [_told(demand) for demand in found],
        "without_a_case": sum(not demand.cases for demand in found),
    }
    return for_json(document, indent=1) + "\n"


def _told(demand: Demand) -> Mapping[str, Any]:
    return {
        "operator": str(demand.operator),
        "says": shown(demand.says),
        "places": [
            {"document": shown(place.document), "sha256": place.sha256, "line": place.line}
            for place in demand.places
        ],
        "cases": demand.cases,
        "verdicts": dict(demand.verdicts),
        "worst": demand.worst,
        "failing": demand.failing,
    }
