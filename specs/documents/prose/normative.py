"""Normative words: what makes a passage demand something of a call, so that a violation is an error."""

from __future__ import annotations

from specs.documents.prose.sentences import MOST_LETTERS, pattern
from specs.documents.text.documents import Passage
from specs.model.spec import Source

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
