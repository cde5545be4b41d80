"""Allowed values of an attribute, found in its description; each rule has a name and a confidence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from specs.documents import Passage
from specs.model import AllowedValues, Origin

ACCEPTED_FROM = 0.75
"""Values below this confidence are proposed; they count when `curated.yaml` confirms them."""

_NUMBERS = {word: number for number, word in enumerate(
    ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], 2)}  # fmt: skip
_QUOTES = "\"'`"
_WORD = r"[A-Za-z_][A-Za-z0-9_]*"
_QUOTED = re.compile(rf"^[{_QUOTES}]+({_WORD})[,.]?[{_QUOTES}]+$")
_BARE = re.compile(rf"^{_WORD}$")


@dataclass(frozen=True)
class _Candidate:
    values: tuple[str, ...]
    offset: int
    rule: str
    default: str | None = None
    count: int | None = None


def find_values(passage: Passage, name: str, default: object = None) -> AllowedValues | None:
    """The values that a description allows its string attribute; None where no rule finds at least two.

    Two rules that disagree leave the first one's answer as a proposal.
    """
    candidates = [each for rule in _RULES for each in rule(passage.text)]
    candidates += _conditions(passage.text, name)
    found = [each for each in candidates if len(set(each.values)) >= 2]
    if not found:
        return None
    first = found[0]
    confidence = _confidence(first, default)
    agreed = all(set(each.values) <= set(first.values) for each in found)
    origin = Origin("imported", (passage.source(first.offset),), rule=first.rule, confidence=confidence)
    proposed = confidence < ACCEPTED_FROM or not agreed
    return AllowedValues(first.values, first.rule, confidence, proposed, origin)


def marked_default(passage: Passage) -> tuple[str, int] | None:
    """The value that a list of values marks with "(default)", and its offset."""
    for rule in (_counted, _introduced):
        for each in rule(passage.text):
            if each.default is not None:
                return each.default, passage.text.find(each.default, each.offset)
    return None


def _confidence(found: _Candidate, default: object) -> float:
    default = found.default if default is None else default
    confidence = 0.5
    if default is not None:
        confidence += 0.25 if default in found.values else -0.2
    if found.count == len(found.values):
        confidence += 0.25
    return min(confidence, 1.0)


def _counted(text: str) -> Iterator[_Candidate]:
    """`<count> modes: a (default), b, c.`"""
    words = "|".join(_NUMBERS)
    for match in re.finditer(rf"\b({words}|[2-9])((?: [a-z]+){{1,3}}): ", text, re.IGNORECASE):
        count = _NUMBERS.get(match[1].lower()) or int(match[1])
        yield from _listed(text, match.end(), "counted-list", count)


def _introduced(text: str) -> Iterator[_Candidate]:
    """`Supported modes: a (default), b` and `one of: a, b`, `to apply: none (default), add`."""
    heads = (
        r"(?:supported|possible|valid|allowed|available)(?: [a-z_]+){0,4}?(?: are| is|:)[: ]+",
        r"\bone of:? ",
        r"\b(?:must|should|can) be(?: either| one of)? (?=[\"'`])",
        r"\bto apply: ",
    )
    for head in heads:
        for match in re.finditer(head, text, re.IGNORECASE):
            yield from _listed(text, match.end(), "introduced-list", None)


def _conditions(text: str, name: str) -> Iterator[_Candidate]:
    """`if <attribute> is "v"`, every one of them."""
    pattern = rf"\b[Ii]f [{_QUOTES}]*{re.escape(name)}[{_QUOTES}]* is [{_QUOTES}]+({_WORD})[{_QUOTES}]+"
    matches = list(re.finditer(pattern, text))
    if matches:
        values = tuple(dict.fromkeys(match[1] for match in matches))
        yield _Candidate(values, matches[0].start(1), "conditions")


def _pairs(text: str) -> Iterator[_Candidate]:
    """`"v": text` pairs."""
    matches = list(re.finditer(rf"(?<![\w{_QUOTES}])([{_QUOTES}]+)({_WORD})\1 ?:(?: |$)", text))
    if matches:
        values = tuple(dict.fromkeys(match[2] for match in matches))
        yield _Candidate(values, matches[0].start(2), "explained-pairs")


_RULES: tuple[Callable[[str], Iterator[_Candidate]], ...] = (_counted, _introduced, _pairs)


def _listed(text: str, start: int, rule: str, count: int | None) -> Iterator[_Candidate]:
    sentence, default = _strip_parentheses(text[start : start + _sentence_end(text[start : start + 2000])])
    parts = [part.strip() for part in re.split(r",|\band\b|\bor\b|;", sentence)]
    heads = [part.split(" - ", 1)[0].strip() for part in parts if part]
    quoted = [match[1] for each in heads if (match := _QUOTED.match(each.strip(".")))]
    values = quoted or heads
    if len(values) < 2 or not all(_BARE.match(each) for each in values):
        return
    yield _Candidate(tuple(dict.fromkeys(values)), start, rule, default, count)


def _sentence_end(text: str) -> int:
    depth = 0
    for position, letter in enumerate(text):
        if letter in "([":
            depth += 1
        elif letter in ")]":
            depth -= 1
        elif letter == "." and depth <= 0 and (position + 1 == len(text) or text[position + 1] == " "):
            return position
    return len(text)


def _strip_parentheses(text: str) -> tuple[str, str | None]:
    """The text without what stands in parentheses, and the word that "(default" follows."""
    default = None
    match = re.search(rf"([{_QUOTES}]*)({_WORD})\1 ?\(default\b", text)
    if match:
        default = match[2]
    return re.sub(r"\([^()]*\)", "", text), default
