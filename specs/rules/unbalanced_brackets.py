"""Brackets of a formula are opened and not closed, or closed and not opened."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specs.documents.pages.pages import Version
from specs.model.spec import Finding, Severity

CODE = "unbalanced-brackets"
SEVERITY: Severity = "warning"

_CODE = re.compile(r"(?<!`)(`{1,2})(?!`)(?P<text>[^`]+?)\1(?!`)")
_OPENING = {")": "(", "]": "[", "}": "{"}


def check(version: Version) -> Iterator[Finding]:
    """One finding for each formula in backquotes whose brackets do not pair; half-open intervals do."""
    for passage in version.passages.values():
        for match in _CODE.finditer(passage.text):
            text = match["text"]
            # What begins or ends with a blank stands between two formulas whose quotes were mixed up.
            if text == text.strip() and not _pairs(text):
                message = "the brackets of a formula do not pair"
                yield Finding(CODE, SEVERITY, passage.source(match.start()), message, text[:120], "noted")


def _pairs(text: str) -> bool:
    open_: list[str] = []
    for letter in text:
        if letter in "([{":
            open_.append(letter)
        elif letter in _OPENING:
            if not open_:
                return False
            last = open_.pop()
            interval = {last, _OPENING[letter]} <= {"(", "["}
            if last != _OPENING[letter] and not interval:
                return False
    return not open_
