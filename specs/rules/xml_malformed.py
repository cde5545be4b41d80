"""An example is declared as XML and is none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.parsers.expat import ExpatError, ParserCreate

from specs.documents import Line
from specs.model import Finding, Severity
from specs.pages import Version

CODE = "xml-malformed"
SEVERITY: Severity = "hint"
MOST_CHARACTERS = 200_000

_LEFT_OUT = re.compile(r"\.\.\.")


def check(version: Version) -> Iterator[Finding]:
    """One finding for each page whose blocks no parser of XML reads, at the first of them."""
    broken: list[tuple[Line, str]] = []
    for block in version.blocks:
        if block.language.lower() == "xml":
            reason = _reason(block.lines)
            if reason is not None:
                broken.append(reason)
    if broken:
        line, reason_text = broken[0]
        message = "the example is declared as XML and no parser reads it"
        count = f"; {len(broken)} blocks of the page" if len(broken) > 1 else ""
        yield Finding(CODE, SEVERITY, line.source(), message, f"{reason_text}{count}", "repaired")


def _reason(lines: list[Line] | tuple[Line, ...]) -> tuple[Line, str] | None:
    """The first line that is no XML, and why; None for one that is. Entities are never expanded: none is declared."""
    text = "\n".join(each.text for each in lines)
    first = next((each for each in lines if each.text.strip()), None)
    if (
        first is None
        or len(text) > MOST_CHARACTERS
        or not first.text.lstrip().startswith("<")
        or "<!" in text
    ):
        return None
    parser = ParserCreate()
    try:
        # Several elements may stand side by side: they are read as the content of one.
        parser.Parse(f"<page>{text}</page>", True)
    except ExpatError as error:
        line = lines[min(max(error.lineno - 1, 0), len(lines) - 1)]
        left_out = " (... is no attribute)" if _LEFT_OUT.search(line.text) else ""
        return line, f"{str(error).split(':')[0]} at {line.text.strip()[:60]}{left_out}"
    return None
