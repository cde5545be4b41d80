"""A link has no target."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specs.model import Finding, Severity
from specs.pages import Version

CODE = "broken-link"
SEVERITY: Severity = "warning"

_LINK = re.compile(r"(?<![`\w:])`([^`<>]{0,200}[^`<>\s]) {1,9}`_(?![_\w])")


def check(version: Version) -> Iterator[Finding]:
    """One finding for each link whose address is gone, so that a space stands before its end."""
    if version.page.dialect not in ("onnx-sphinx-rst", "openvino-rst"):
        return
    for line in version.prose_lines:
        for match in _LINK.finditer(line.text):
            message = f"the link {match[1]} leads nowhere"
            yield Finding(CODE, SEVERITY, line.source(match.start()), message, match[0], "noted")
