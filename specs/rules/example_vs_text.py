"""An example does what its own words do not say."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specs.documents.pages.pages import Version
from specs.model.spec import Finding, Severity

CODE = "example-vs-text"
SEVERITY: Severity = "warning"

_INSERTED = re.compile(
    r"\b[Ii]nsert (?P<count>\d+) pads? to .{0,200}?\bpads = \[(?P<pads>[-\d, ]+)\]", re.DOTALL
)


def check(version: Version) -> Iterator[Finding]:
    """One finding for each example that is said to insert another number of pads than it does."""
    passage = version.passages.get("summary")
    for match in _INSERTED.finditer(passage.text) if passage is not None else ():
        total = sum(int(each) for each in re.findall(r"-?\d+", match["pads"]))
        if passage is not None and total != int(match["count"]):
            yield Finding(
                CODE,
                SEVERITY,
                passage.source(match.start()),
                f"the example is said to insert {match['count']} pads and inserts {total}",
                f"pads = [{match['pads']}]",
                "noted",
            )
