"""A backquote has no partner, so that the page sets the wrong words as code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from specs.documents.pages.pages import Version
from specs.documents.text.documents import Line
from specs.model.spec import Finding, Severity

CODE = "unbalanced-quotes"
SEVERITY: Severity = "warning"

_RUN = re.compile(r"`+")


def check(version: Version) -> Iterator[Finding]:
    """One finding for each paragraph in which some run of backquotes has no partner of its length."""
    for about, passage in version.passages.items():
        if "`" not in passage.text:
            continue
        for paragraph in _paragraphs(passage.lines):
            if _pairs(" ".join(each.text for each in paragraph)):
                continue
            line = next((each for each in paragraph if not _pairs(each.text)), paragraph[0])
            message = f"a backquote in the text about {about} has no partner"
            yield Finding(CODE, SEVERITY, line.source(), message, line.text[:120], "noted")


def _pairs(text: str) -> bool:
    opened = ""
    for run in _RUN.findall(text):
        if not opened:
            opened = run
        elif run == opened:
            opened = ""
    return not opened


def _paragraphs(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """The paragraphs of a passage (whose blank lines are gone), without its blocks of code."""
    paragraph: list[Line] = []
    fenced = False
    for line in lines:
        fence = line.text.startswith("```")
        if paragraph and (fence or line.number > paragraph[-1].number + 1):
            yield paragraph
            paragraph = []
        if fence:
            fenced = not fenced
        elif not fenced:
            paragraph.append(line)
    if paragraph:
        yield paragraph
