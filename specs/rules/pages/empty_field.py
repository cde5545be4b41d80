"""A field of the page's head has no value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from specs.model import Finding, Severity
from specs.pages import Version

CODE = "empty-field"
SEVERITY: Severity = "warning"

_VALUE = re.compile(r"\s+(?!This version of)\S|`")
_FIELD = re.compile(r"^\* \*\*([\w ]+)\*\*:\s*$")


def check(version: Version) -> Iterator[Finding]:
    """One finding for all empty fields of a version."""
    if version.page.dialect != "onnx-sphinx-rst":
        return
    empty = []
    for line, below in pairwise(version.lines):
        if line.text.startswith("**Summary**") or line.text.startswith("**Attributes**"):
            break
        field = _FIELD.match(line.text)
        if field and not _VALUE.match(below.text):
            empty.append((field[1], line))
    if empty:
        names = ", ".join(name for name, _ in empty)
        message = "fields of the page's head are empty"
        yield Finding(CODE, SEVERITY, empty[0][1].source(), message, names, "noted")
