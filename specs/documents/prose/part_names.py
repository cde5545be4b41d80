"""Sentences of a passage, words that demand something, and the names of an operator's parts in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from specs.documents.text.documents import Passage
from specs.model.spec import Origin, Source

MOST_LETTERS = 50_000
"""How far into a passage rules look: hostile text may hold millions of letters."""
LONGEST_SENTENCE = 3000
NUMBER_WORDS = {"one": "1", "two": "2", "three": "3", "four": "4"}
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
            r"|\boperator will fail\b"
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


_ARTICLES = re.compile(r"^(?:the|that|an?|its|each|of|shape|tensor's?|respective)\s+", re.IGNORECASE)
_WORD = re.compile(r"[\"'`*]*([A-Za-z_]\w*)[\"'`*]*")
_BESIDE = re.compile(r"_(?:scale|zero_point)s?$")
_GENERIC = frozenset(["tensor", "tensors", "input", "output", "data", "first"])


@dataclass(frozen=True)
class ParameterNames:
    """The parts of one operator by name; `integers` are the attributes of one integer."""

    attributes: Sequence[str] = ()
    inputs: Sequence[str] = ()
    outputs: Sequence[str] = ()
    integers: Sequence[str] = ()

    @property
    def data(self) -> tuple[str, ...]:
        """The inputs without the scales and zero points that quantised ones have beside them."""
        plain = tuple(each for each in self.inputs if not _BESIDE.search(each))
        return plain or tuple(self.inputs)

    def about(self, name: str) -> str | None:
        """The path of the part of that name; None where there is none.

        An input comes before an output and an attribute of its name; letters count in either case where that
        leaves one part alone.
        """
        groups = (("inputs", self.inputs), ("outputs", self.outputs), ("attributes", self.attributes))
        for group, names in groups:
            if name in names:
                return f"{group}.{name}"
        found = [f"{group}.{each}" for group, names in groups for each in names
                 if len(name) > 1 and each.lower() == name.lower()]  # fmt: skip
        return found[0] if len(found) == 1 else None

    def tensor(self, words: str) -> str | None:
        """The input or output that words at the beginning of a text mean: `the input tensor`, `tensor X`."""
        rest = words.lstrip()
        generic = None
        for _ in range(5):
            shorter = _ARTICLES.sub("", rest)
            if shorter != rest:
                rest = shorter.lstrip()
                continue
            match = _WORD.match(rest)
            if match is None:
                break
            found = self.about(match[1])
            quoted = rest[0] in "`'\""
            if found is not None and (quoted or match[1] not in _GENERIC):
                return None if found.startswith("attributes") else found
            word = match[1].lower().rstrip("s")
            if word == "data" and found is not None and not _WORD.match(rest[match.end() :].lstrip()):
                return None if found.startswith("attributes") else found
            if quoted or word not in ("tensor", "input", "output"):
                break
            generic = word if word != "tensor" else generic
            named = found if found and not found.startswith("attributes") else None
            rest = rest[match.end() :].lstrip()
            following = _WORD.match(rest)
            if named and not (following and (following[1] in _GENERIC or self.about(following[1]))):
                return named
        return self._generic(generic)

    def _generic(self, word: str | None) -> str | None:
        """`The input` is the one of that name, or else the first; likewise `the output`."""
        names = {"input": self.inputs, "output": self.outputs}.get(word or "", ())
        if not names:
            return None
        return f"{word}s.{word if word in names else names[0]}"


def name_of(about: str) -> str:
    """The part's own name in a path: `axis` of `attributes.axis`."""
    return about.partition(".")[2]
