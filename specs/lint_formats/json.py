"""Findings as a JSON list."""

from __future__ import annotations

from opcert.vocabulary.harmless import for_json
from specs.lint.linting import Linted


def write(linted: Linted) -> str:
    """One object for each finding; `accepted` is the reason in findings.yaml, or null."""
    rows = [
        {
            "code": each.finding.code,
            "severity": each.finding.severity,
            "document": each.document,
            "line": each.finding.source.line,
            "column": each.finding.source.column,
            "operator": None if each.operator is None else str(each.operator),
            "message": each.finding.message,
            "evidence": each.finding.evidence,
            "action": each.finding.action,
            "accepted": each.accepted,
        }
        for each in linted.found
    ]
    return for_json(rows, indent=2) + "\n"
