"""`clauses.csv`: what documents demand, with its places and cases, for a spreadsheet."""

from __future__ import annotations

import csv
import io

from conformance.judging.verdicts import FAILING
from opcert.vocabulary.harmless import for_spreadsheet
from reports.results.case_results import Results
from reports.results.clause_cases import list_demands

FILE = "clauses.csv"
COLUMNS = (
    *("operator", "says", "places", "sha256", "cases", "pass", "failing", "beside"),
    *("worst_over_allowed", "failing_case"),
)
MARKS = {"clauses.csv": rb"\Aoperator,says,places,sha256,"}


def render(results: Results) -> str:
    """The whole file."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for demand in list_demands(results):
        passed = demand.verdicts.get("pass", 0)
        failing = sum(number for verdict, number in demand.verdicts.items() if verdict in FAILING)
        cells = [
            *(str(demand.operator), demand.says),
            "; ".join(f"{place.document}:{place.line}" for place in demand.places),
            "; ".join(dict.fromkeys(place.sha256 for place in demand.places)),
            *(demand.cases, passed, failing, demand.cases - passed - failing),
            *("" if demand.worst is None else f"{demand.worst:.3g}", demand.failing or ""),
        ]
        writer.writerow([for_spreadsheet(cell) if isinstance(cell, str) else cell for cell in cells])
    return out.getvalue()
