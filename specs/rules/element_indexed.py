"""A rule indexes a name that the text made one element."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from specs.model import Finding, Severity
from specs.pages import Version

CODE = "element-indexed"
SEVERITY: Severity = "warning"
MOST_PAIRS = 20
"""A text with more of them is none that anybody wrote."""

_PAIR = re.compile(r"\b(\w+)\[i\] = \[\s*(\w+),\s*(\w+)\s*\]")


def check(version: Version) -> Iterator[Finding]:
    """One finding for each pair of elements of `name[i]` that is indexed by i again."""
    for passage in version.passages.values():
        for pair in islice(_PAIR.finditer(passage.text), MOST_PAIRS):
            again = re.compile(rf"(?<!\w)({pair[2]}|{pair[3]})\[i\]").search(passage.text, pair.end())
            if again:
                message = f"the text indexes {again[1]}, which it made an element of {pair[1]}[i]"
                yield Finding(CODE, SEVERITY, passage.source(again.start()), message,
                              f"{pair[0]}, then {again[0]}", "noted")  # fmt: skip
