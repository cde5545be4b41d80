"""A comparison of two runs for programs; its schema is `reports/schemas/comparison.json`."""

from __future__ import annotations

import json
from typing import Any

from conformance.recording.records import Record
from conformance.suite.canonical import plain
from reports.comparisons.run_comparison import CaseChange, RunComparison, WorstRow
from reports.overview.headline import runtime_label

FORMAT = "opcert-comparison/1"


def render_json(found: RunComparison) -> str:
    """The whole document, with every case but those that are the same."""
    document = {
        "format": FORMAT,
        "base": _run(found.base),
        "head": _run(found.head),
        "holds": found.holds,
        "warnings": list(found.warnings),
        "ranInBoth": found.both,
        "counts": found.counts,
        "changes": [_change(each) for each in found.changes],
        "new": found.new,
        "gone": found.gone,
        "lost": len(found.lost),
        "common": found.common,
        "newFaults": list(found.new_faults),
        "goneFaults": list(found.gone_faults),
    }
    return json.dumps(plain(document), indent=1, ensure_ascii=True) + "\n"


def _run(record: Record) -> dict[str, Any]:
    return {
        "runtime": runtime_label(record),
        "record": str(record.path),
        "suite": record.header.get("suite"),
        "started": record.header.get("started"),
    }


def _change(change: CaseChange) -> dict[str, Any]:
    return {
        "case": change.case,
        "kind": change.kind,
        "before": _seen(change.before),
        "after": _seen(change.after),
    }


def _seen(seen: WorstRow) -> dict[str, Any]:
    return {"verdict": seen.verdict, "errorOverAllowed": seen.ratio, "reason": seen.reason}
