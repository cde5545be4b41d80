"""The forms in which findings are printed: `text` for people, `json`, and `sarif`, which code hosts show."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import Any

from opcert.vocabulary.harmless import for_json
from opcert.vocabulary.sarif_logs import fingerprints, render_log, tool_of, uri_of
from specs.lint.linting import Linted, Reported
from specs.rules import LintRule


def _write_json(linted: Linted) -> str:
    """One object for each finding; `accepted` is the reason in findings.yaml, or null."""
    rows = [
        {
            "code": reported.finding.code,
            "severity": reported.finding.severity,
            "document": reported.document,
            "line": reported.finding.source.line,
            "column": reported.finding.source.column,
            "operator": None if reported.operator is None else str(reported.operator),
            "message": reported.finding.message,
            "evidence": reported.finding.evidence,
            "action": reported.finding.action,
            "accepted": reported.accepted,
        }
        for reported in linted.found
    ]
    return for_json(rows, indent=2) + "\n"


_LEVELS = {"error": "error", "warning": "warning", "hint": "note"}
_MOST_SNIPPET = 400


def _write_sarif(linted: Linted) -> str:
    """One run: the rules of the codes that were found, and one result for each finding."""
    known = {rule.code: rule for rule in linted.rules}
    codes = sorted({reported.finding.code for reported in linted.found})
    positions = {code: position for position, code in enumerate(codes)}
    results = [
        _result(reported, positions, linted.texts.get(reported.document, ())) for reported in linted.found
    ]
    run = {
        "tool": tool_of([_rule(code, known.get(code), linted.found) for code in codes]),
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return render_log([run])


def _rule(code: str, rule: LintRule | None, found: Sequence[Reported]) -> dict[str, Any]:
    severity = rule.severity if rule is not None else next(
        reported.finding.severity for reported in found if reported.finding.code == code
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


WIDTH = 100
SHOWN = 20
"""Findings of one code in one document that are shown whole."""
_TAB = 4
_WORDS = re.compile(r"[A-Za-z_][\w.]*(?:\[\w+\])?|-?\d[\w.]*")


def _write_text(linted: Linted) -> str:
    """A block for each finding that is not accepted, the first `SHOWN` of a code in a document; the counts.

    The others of that code in that document are one line, where the next of them would stand.
    """
    open_ = [reported for reported in linted.found if reported.accepted is None]
    alike = Counter(map(_kind, open_))
    begun: Counter[tuple[str, str]] = Counter()
    blocks = []
    for reported in open_:
        kind = _kind(reported)
        begun[kind] += 1
        if begun[kind] <= SHOWN:
            blocks.append(_block(reported, linted.texts.get(reported.document, ())))
        elif begun[kind] == SHOWN + 1:
            blocks.append(_others(reported, alike[kind] - SHOWN))
    return "".join(f"{block}\n\n" for block in blocks) + _summary(linted, open_) + "\n"


def _kind(reported: Reported) -> tuple[str, str]:
    return reported.document, reported.finding.code


def _others(following: Reported, count: int) -> str:
    finding = following.finding
    place = f"{visible(following.document)}:{finding.source.line}"
    return f"{place}: {count:,} more of {finding.code} from here on; --format json has each of them"


def _summary(linted: Linted, found: Sequence[Reported]) -> str:
    counts = Counter(reported.finding.severity for reported in found)
    parts = [
        f"{counts[severity]:,} {severity}{'' if counts[severity] == 1 else 's'}"
        for severity in ("error", "warning", "hint")
        if counts[severity]
    ]
    documents = len({document for document, _ in linted.subjects})
    text = f"{', '.join(parts) or 'no findings'} in {documents:,} document{'' if documents == 1 else 's'}"
    accepted = len(linted.found) - len(found)
    return f"{text}; {accepted:,} accepted" if accepted else text


def _block(reported: Reported, lines: Sequence[str]) -> str:
    finding = reported.finding
    source = finding.source
    place = f"{visible(reported.document)}:{source.line}"
    if source.column is not None:
        place += f":{source.column}"
    of = f" [{reported.operator}]" if reported.operator is not None else ""
    parts = [f"{place}: {finding.severity} {finding.code}: {visible(finding.message)}{of}"]
    if 1 <= source.line <= len(lines):
        parts += _quoted(lines[source.line - 1], source.line, *_span(lines[source.line - 1], reported))
    parts.append(f"  {visible(finding.evidence)}; {finding.action}")
    return "\n".join(parts)


def _quoted(line: str, number: int, start: int, length: int) -> list[str]:
    """The line and the carets below it; of a long line, the part around them."""
    left = max(start - WIDTH // 3, 0) if len(line) > WIDTH else 0
    before, marked = visible(line[left:start]), visible(line[start : start + length])
    after = visible(line[start + length : left + WIDTH])
    head = f"{number:>6} | "
    lead = "... " if left else ""
    tail = " ..." if left + WIDTH < len(line) else ""
    carets = "^" + "~" * (max(len(marked[: WIDTH - len(before)]), 1) - 1)
    shown = f"{before}{marked}{after}"[:WIDTH]
    return [f"{head}{lead}{shown}{tail}".rstrip(), f"{' ' * 6} | {' ' * (len(lead) + len(before))}{carets}"]


def _span(line: str, reported: Reported) -> tuple[int, int]:
    """Where in its line a finding stands: its column, else the rarest word of its message, else all of it."""
    column = reported.finding.source.column
    if column is not None:
        start = min(max(column - 1, 0), max(len(line) - 1, 0))
        word = re.match(r"\S+", line[start:])
        return start, min(len(word[0]) if word else 1, 40)
    best: tuple[int, int, int] | None = None
    for text in (reported.finding.message, reported.finding.evidence):
        for word in dict.fromkeys(_WORDS.findall(text)):
            found = [match.start() for match in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", line)]
            if found and len(word) > 2 and (best is None or (len(found), -len(word)) < best[:2]):
                best = (len(found), -len(word), found[0])
        if best is not None:
            return best[2], -best[1]
    start = len(line) - len(line.lstrip())
    return start, max(len(line.rstrip()) - start, 1)


def visible(text: str) -> str:
    """The text on one line, with controls and direction marks written out, tabs as blanks."""
    return "".join(map(_visible, text.replace("\t", " " * _TAB)))


def _visible(letter: str) -> str:
    if letter.isprintable() or unicodedata.category(letter) == "Zs":
        return letter
    return " " if letter == "\n" else letter.encode("unicode_escape").decode("ascii")


FORMATS: dict[str, Callable[[Linted], str]] = {
    "json": _write_json,
    "sarif": _write_sarif,
    "text": _write_text,
}
"""The writers of all forms by name; each gives the whole text."""
