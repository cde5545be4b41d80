"""Findings as text: place, severity, code and message, the document's line with a caret, the evidence."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from specs.linting import Linted, Reported

WIDTH = 100
_TAB = 4
_WORDS = re.compile(r"[A-Za-z_][\w.]*(?:\[\w+\])?|-?\d[\w.]*")


def write(linted: Linted) -> str:
    """One block for each finding that is not accepted, and a last line with the counts."""
    open_ = [each for each in linted.found if each.accepted is None]
    blocks = [_block(each, linted.texts.get(each.document, ())) for each in open_]
    return "".join(f"{each}\n\n" for each in blocks) + _summary(linted, open_) + "\n"


def _summary(linted: Linted, found: Sequence[Reported]) -> str:
    counts = Counter(each.finding.severity for each in found)
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
