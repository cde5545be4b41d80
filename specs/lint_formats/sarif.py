"""Findings as SARIF 2.1.0, which code hosts and editors show beside the document's line."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote

from opcert.vocabulary.harmless import for_json
from specs.linting import Linted, Reported
from specs.rules import Rule

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "hint": "note"}
_MOST_SNIPPET = 400


def write(linted: Linted) -> str:
    """One run: the rules of the codes that were found, and one result for each finding."""
    known = {each.code: each for each in linted.rules}
    codes = sorted({each.finding.code for each in linted.found})
    positions = {code: position for position, code in enumerate(codes)}
    results = [_result(each, positions, linted.texts.get(each.document, ())) for each in linted.found]
    run = {
        "tool": {
            "driver": {
                "name": "opcert",
                "version": version("opcert"),
                "rules": [_rule(code, known.get(code), linted.found) for code in codes],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return for_json(log, indent=2) + "\n"


def _rule(code: str, rule: Rule | None, found: Sequence[Reported]) -> dict[str, Any]:
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
            "artifactLocation": {"uri": _uri(reported.document)},
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
        "partialFingerprints": {"opcert/v1": _fingerprint(reported)},
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


def _uri(document: str) -> str:
    """The document as a reference that SARIF takes: relative with `/`, or a `file:` URI."""
    if Path(document).is_absolute():
        return Path(document).as_uri()
    return quote(PurePath(document).as_posix())


def _fingerprint(reported: Reported) -> str:
    """What stays the same when lines move: document, operator, code and message."""
    parts = (PurePath(reported.document).name, str(reported.operator), reported.finding.code,
             reported.finding.message)  # fmt: skip
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
