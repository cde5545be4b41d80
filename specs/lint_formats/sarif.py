"""Findings as SARIF 2.1.0, which code hosts and editors show beside the document's line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from opcert.vocabulary.sarif_logs import fingerprints, render_log, tool_of, uri_of
from specs.lint.linting import Linted, Reported
from specs.rules import LintRule

_LEVELS = {"error": "error", "warning": "warning", "hint": "note"}
_MOST_SNIPPET = 400


def write(linted: Linted) -> str:
    """One run: the rules of the codes that were found, and one result for each finding."""
    known = {each.code: each for each in linted.rules}
    codes = sorted({each.finding.code for each in linted.found})
    positions = {code: position for position, code in enumerate(codes)}
    results = [_result(each, positions, linted.texts.get(each.document, ())) for each in linted.found]
    run = {
        "tool": tool_of([_rule(code, known.get(code), linted.found) for code in codes]),
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return render_log([run])


def _rule(code: str, rule: LintRule | None, found: Sequence[Reported]) -> dict[str, Any]:
    severity = rule.severity if rule is not None else next(
        each.finding.severity for each in found if each.finding.code == code
    )  # fmt: skip
    entry: dict[str, Any] = {"id": code, "defaultConfiguration": {"level": _LEVELS[severity]}}
    if rule is not None:
        entry["shortDescription"] = {"text": rule.meaning}
    return entry


def _result(reported: Reported, positions: dict[str, int], lines: Sequence[str]) -> dict[str, Any]:
    finding = reported.finding
    location: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {"uri": uri_of(reported.document)},
            "region": _region(reported, lines),
        }
    }
    if reported.operator is not None:
        name = {"name": reported.operator.short, "fullyQualifiedName": str(reported.operator), "kind": "type"}
        location["logicalLocations"] = [name]
    entry: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": positions[finding.code],
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{finding.message} ({finding.evidence})"},
        "locations": [location],
        "partialFingerprints": _fingerprints(reported),
        "properties": {"evidence": finding.evidence, "action": finding.action},
    }
    if reported.accepted is not None:
        entry["suppressions"] = [{"kind": "external", "justification": reported.accepted}]
    return entry


def _region(reported: Reported, lines: Sequence[str]) -> dict[str, Any]:
    source = reported.finding.source
    region: dict[str, Any] = {"startLine": source.line}
    if source.column is not None:
        region["startColumn"] = source.column
    elif 1 <= source.line <= len(lines) and lines[source.line - 1].strip():
        text = lines[source.line - 1]
        region["startColumn"] = len(text) - len(text.lstrip()) + 1
        region["endColumn"] = len(text.rstrip()) + 1
        region["snippet"] = {"text": text.strip()[:_MOST_SNIPPET]}
    return region


def _fingerprints(reported: Reported) -> dict[str, str]:
    """What stays the same when lines move: document, operator, code and message."""
    finding = reported.finding
    name = PurePath(reported.document).name
    return fingerprints(name, str(reported.operator), finding.code, finding.message)
