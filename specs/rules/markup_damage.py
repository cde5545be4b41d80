"""The markup of the page is not that of its own language, so that readers see it or lose text by it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from specs.documents import Line
from specs.model import Finding, Severity, Source
from specs.pages import Version

CODE = "markup-damage"
SEVERITY: Severity = "warning"

_OF_PROSE = (
    (re.compile(r"<br ?/?>"), "HTML line breaks stand in reStructuredText, which prints them as text"),
    (re.compile(r'\\"'), "quotation marks are escaped with backslashes, which the page prints or drops"),
)
_SINGLE = re.compile(r"(?<![`\w:])`[^`<>]+`(?![`_])")


def check(version: Version) -> Iterator[Finding]:
    """One finding for each kind of damage in a version."""
    if version.page.dialect == "onnx-sphinx-rst":
        for pattern, message in _OF_PROSE:
            places = [
                passage.source(match.start())
                for passage in version.passages.values()
                for match in pattern.finditer(passage.text)
            ]
            yield from _finding(places, message, SEVERITY)
    if version.page.dialect in ("openvino-rst", "openvino-doxyrest"):
        yield from _single_quotes(version.page.lines)


def _single_quotes(lines: Sequence[Line]) -> Iterator[Finding]:
    """Literals in single backquotes, which reStructuredText sets as a role's text."""
    for line in lines:
        match = _SINGLE.search(line.text)
        if match:
            message = "a literal stands in single backquotes"
            yield Finding(CODE, "hint", line.source(), message, match[0], "repaired")


def _finding(places: Sequence[Source], message: str, severity: Severity) -> Iterator[Finding]:
    if places:
        lines = sorted({each.line for each in places})
        first = min(places, key=lambda each: (each.line, each.column or 0))
        evidence = f"{len(places)} times, lines {', '.join(map(str, lines))}"
        yield Finding(CODE, severity, first, message, evidence, "repaired")
