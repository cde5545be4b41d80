"""An example is declared as XML and leaves something out with dots, which no parser reads."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specs.documents.pages.pages import Version
from specs.model.spec import Finding, Severity

CODE = "xml-elision"
SEVERITY: Severity = "hint"

_TAG = re.compile(r"<\w[^<>]*\.\.\.[^<>]*>?")


def check(version: Version) -> Iterator[Finding]:
    """One finding for all start tags of a version with dots in place of attributes."""
    places = [
        (line, match)
        for block in version.blocks
        if block.language.lower() == "xml"
        for line in block.lines
        if (match := _TAG.search(line.text))
    ]
    if places:
        line, match = places[0]
        message = "the example is declared as XML, and dots stand where a parser expects attributes"
        evidence = f"{match[0]}; lines {', '.join(str(each.number) for each, _ in places)}"
        yield Finding(CODE, SEVERITY, line.source(match.start()), message, evidence, "repaired")
