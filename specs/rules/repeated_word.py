"""A word stands twice in a row."""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import eq

from specs.documents.pages.pages import Version
from specs.model.spec import Finding, Severity

CODE = "repeated-word"
SEVERITY: Severity = "hint"

_TWICE = re.compile(
    r"(?<![\w`'\"./-])(the|an?|of|to|is|are|be|in|on|for|by|and|or|with|from|as|at|it|if)"
    r"\s+\1(?![\w`'\"./-])",
    re.IGNORECASE,
)
"""Words of grammar alone: others may well be repeated."""


def check(version: Version) -> Iterator[Finding]:
    """One finding for each place."""
    for passage in version.passages.values():
        words = passage.text.lower().split()
        if not any(map(eq, words, words[1:])):
            continue
        for match in _TWICE.finditer(passage.text):
            before, after = match[0].split()[:2]
            if before != after and not before.istitle():
                continue
            around = passage.text[max(match.start() - 25, 0) : match.end() + 25]
            message = f"the word {match[1].lower()} stands twice in a row"
            yield Finding(CODE, SEVERITY, passage.source(match.start()), message, around.strip(), "noted")
