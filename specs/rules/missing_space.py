"""Two sentences have no space between them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specs.documents.pages.pages import Version
from specs.model.spec import Finding, Severity

CODE = "missing-space"
SEVERITY: Severity = "hint"

_JOINED = re.compile(
    r"(?<![\w./`'\"])(?:[a-z]{2,}|\w+[)\]'`\"])\.(?:The|It|If|In|This|These|When|For|Only|Note|An?) (?=\w)"
)


def check(version: Version) -> Iterator[Finding]:
    """One finding for each full stop that the next sentence follows at once."""
    for passage in version.passages.values():
        for match in _JOINED.finditer(passage.text):
            source = passage.source(match.start())
            message = "a space is missing between two sentences"
            yield Finding(CODE, SEVERITY, source, message, match[0].strip(), "noted")
