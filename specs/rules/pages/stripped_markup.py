"""The marks of code were taken out of the text, and spaces stand where they were."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specs.model import Finding, Severity
from specs.pages import Version

CODE = "stripped-markup"
SEVERITY: Severity = "warning"
LEAST = 3
"""So many are no slips of the keyboard."""

_GAP = re.compile(r"[\w\])] [.,](?=\s|$)")


def check(version: Version) -> Iterator[Finding]:
    """One finding for a fragment with spaces before its full stops and commas."""
    if version.page.dialect != "tensorflow-fragment":
        return
    lines = [line for line in version.lines if _GAP.search(line.text)]
    if len(lines) >= LEAST:
        match = _GAP.search(lines[0].text)
        assert match is not None
        yield Finding(
            CODE,
            SEVERITY,
            lines[0].source(match.start()),
            "the marks of code were stripped: spaces stand before full stops and commas",
            f"lines {', '.join(str(each.number) for each in lines)}",
            "repaired",
        )
