"""Sentences of a passage, patterns that see any white space as one blank, and normative words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from specs.documents.text.documents import Passage
from specs.model.spec import Origin, Source

MOST_LETTERS = 50_000
"""How far into a passage rules look: hostile text may hold millions of letters."""
LONGEST_SENTENCE = 3000
_END = re.compile(
    r"(?<!\.)\.(?!\.)(?=\s|$|[A-Z][a-z])(?<!e\.g\.)(?<!i\.e\.)(?<!E\.g\.)(?<!etc\.)|;(?=\s)|\s```"
    r"|(?<=[.:)`]\s)[-*]\s(?=[A-Z`'])"
)


@dataclass(frozen=True)
class Sentence:
    """One sentence: its words (of one that never ends, the first), and where they begin in the passage."""

    text: str
    start: int

    def before(self, offset: int) -> str:
        """The words of the sentence in front of an offset into it."""
        return self.text[:offset]


def pattern(text: str) -> re.Pattern[str]:
    """A pattern in which a blank fits any white space (` ?` also none), and letters fit in either case."""
    return re.compile(text.replace(" ?", r"\s*").replace(" ", r"\s+"), re.IGNORECASE)


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of a text, in order; a full stop inside of a number or a name ends none."""
    text = text[:MOST_LETTERS]
    start = 0
    for end in _END.finditer(text):
        if text[start : end.start()].strip():
            yield _trimmed(text[start : end.start()], start)
        start = end.end()
    if text[start:].strip():
        yield _trimmed(text[start:], start)


def _trimmed(text: str, start: int) -> Sentence:
    lead = len(text) - len(text.lstrip())
    return Sentence(text.strip()[:LONGEST_SENTENCE], start + lead)


def found(passage: Passage, offset: int, rule: str, confidence: float) -> Origin:
    """The origin of a statement that a rule read at an offset of a passage."""
    return Origin("imported", (passage.source(offset),), None, rule, confidence)


_WORDS = (
    ("must", pattern(r"\bmust\b")),
    ("shall", pattern(r"\bshall\b")),
    ("should", pattern(r"\bshould\b")),
    ("has to", pattern(r"\b(?:has|have) to be\b")),
    ("required", pattern(r"(?<!not\s)\brequired\b(?! by\b)")),
    (
        "error",
        pattern(
            r"\b(?:an?|results? in|raises?|throws?|=>) errors?\b(?! function)|\berror condition\b|\bthrow\b"
        ),
    ),
    ("invalid", pattern(r"\b(?:invalid|illegal)\b")),
    ("not allowed", pattern(r"\b(?:not (?:be )?(?:allowed|permitted|supported)|cannot be|can't be)\b")),
    ("expected", pattern(r"\b(?:is|are) expected (?:to|in)\b")),
    ("accepted range", pattern(r"\b(?:accepted|allowed|valid) ranges?\b")),
    ("only", pattern(r"\bonly (?:one|\w+D tensors) (?:of .{1,60})?(?:can|may|are)\b")),
)


def find_normative(passage: Passage) -> tuple[tuple[str, Source], ...]:
    """The normative words of a passage, each with the place of the first."""
    text = passage.text[:MOST_LETTERS]
    found = [(word, match.start()) for word, rule in _WORDS if (match := rule.search(text))]
    return tuple((word, passage.source(offset)) for word, offset in found)
