"""An indented line stands within a paragraph, which is a quotation or a definition to reStructuredText."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from specs.documents import Line
from specs.model import Finding, Severity
from specs.pages import Version

CODE = "rst-indentation"
SEVERITY: Severity = "warning"

_ITEM = re.compile(r"^\s*(?:[*+-]|\d+\.) +")
_DIRECTIVE = re.compile(r"^\s*\.\. |::$")


def check(version: Version) -> Iterator[Finding]:
    """One finding for all lines of a version that are indented more deeply than the paragraph they are in."""
    if version.page.dialect != "onnx-sphinx-rst" or version.page.flattened:
        return
    lines = version.prose_lines
    deeper = [
        below for above, below in pairwise(lines)
        if below.number == above.number + 1 and _breaks(above.text, below)
    ]  # fmt: skip
    if deeper:
        yield Finding(
            CODE,
            SEVERITY,
            deeper[0].source(),
            "a line within a paragraph is indented more deeply than the others, which breaks the paragraph",
            f"lines {', '.join(str(each.number) for each in deeper)}",
            "repaired",
        )


def _breaks(above: str, below: Line) -> bool:
    if not above or not below.text or _DIRECTIVE.search(above) or _ITEM.match(below.text):
        return False
    item = _ITEM.match(above)
    return _depth(below.text) > (len(item[0]) if item else _depth(above))


def _depth(text: str) -> int:
    return len(text) - len(text.lstrip())
