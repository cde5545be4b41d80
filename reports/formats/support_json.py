"""`support.json`: what a runtime supports, for programs; its schema is `reports/schemas/support.json`."""

from __future__ import annotations

from typing import Any

from opcert.vocabulary.harmless import for_json, shown
from reports.overview.support_table import SupportCell, SupportNote, SupportTable, make_support_table
from reports.results.case_results import Results

FILE = "support.json"
MARKS = {"support.json": rb'"format": "opcert-support/'}
FORMAT = "opcert-support/1"


def render(results: Results) -> str:
    """The whole file."""
    return render_support_json(make_support_table(results))


def render_support_json(found: SupportTable) -> str:
    """The whole document, a line for each value, so that what changed can be seen in a diff."""
    document = {
        "format": FORMAT,
        "opcert": found.opcert,
        "runtime": shown(found.runtime),
        "source": shown(found.source),
        "machine": shown(found.machine),
        "suite": found.suite,
        "all": _cell(found.all),
        "operators": {
            str(row.operator): {
                "section": shown(section.heading),
                "all": _cell(row.all),
                "element_types": {name: _cell(cell) for name, cell in row.by_type.items()},
            }
            for section in found.sections
            for row in section.rows
        },
        "notes": {note.name: _note(note) for note in found.notes},
        "faults": list(map(shown, found.faults)),
        "warnings": list(map(shown, found.warnings)),
    }
    return for_json(document, indent=1) + "\n"


def _cell(cell: SupportCell) -> dict[str, Any]:
    return {
        "support": cell.support,
        "demanded": cell.demanded,
        "counts": dict(cell.counts),
        "open": cell.open,
        "inexact": cell.inexact,
        "notes": list(cell.notes),
    }


def _note(note: SupportNote) -> dict[str, Any]:
    return {
        "title": shown(note.title),
        "remarks": list(map(shown, note.remarks)),
        "blames": not note.open,
        "operators": [str(operator) for operator in note.operators],
        "element_types": list(note.element_types),
        "cases": list(note.cases),
        "smallest": str(note.smallest),
        "thread": shown(note.thread) or None,
    }
