"""Allowed values and defaults of attributes, found in their descriptions; each rule has a name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from specs.documents.text.documents import Passage
from specs.model.spec import AllowedValues, Origin

MOST_LETTERS = 50_000
MOST_LISTS = 50
"""How far into a description, and for how many lists, the rules look: hostile text may hold millions."""

_NUMBERS = {word: number for number, word in enumerate(
    ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], 2)}  # fmt: skip
_QUOTES = "\"'`"
_WORD = r"[A-Za-z_][A-Za-z0-9_]*"
_QUOTED = re.compile(rf"^[{_QUOTES}]+({_WORD})[,.]?[{_QUOTES}]+$")
_BARE = re.compile(rf"^{_WORD}$")
_PAIR = re.compile(rf"(?<![A-Za-z0-9_{_QUOTES}])([{_QUOTES}]+)({_WORD})([{_QUOTES}]+) ?:(?: |$)")
_STOP_IN_QUOTES = re.compile(rf"([,.])([{_QUOTES}]+)(?=\s|$)")
_INTRODUCTIONS = (
    (r"(?:supported|possible|valid|allowed|available)(?: [a-z_]+){0,4}?(?: are| is|:)[: ]+", True),
    (r"\bsupport(?:s|ed)?(?: [a-z_]+){0,6}?(?: include)? (?=`)", False),
    (r"\bsupport(?:s|ed)?(?: [a-z_]+){0,6}?: (?=[\"'`])", True),
    (r"\bone of:? ", True),
    (r"\bchoose from:? ", True),
    (r"\b(?:must|should|can) be(?: one of)? (?=[\"'`])", False),
    (r"\b(?:must|should|can) be either ", True),
    (r"\bto apply(?: to [a-z]+)?: ", True),
)
"""What stands before a list, and whether these words say that nothing else is allowed."""


@dataclass(frozen=True)
class Candidate:
    """What one rule found: the values, where the first stands, which is marked as the default.

    `count` is the number of values that the text announces; `closed` says that the text names them as all
    that there are, and quotes each.
    """

    values: tuple[str, ...]
    offset: int
    rule: str
    default: str | None = None
    count: int | None = None
    closed: bool = False


def candidates(text: str, name: str) -> Iterator[Candidate]:
    """What every rule finds in the description of the attribute of that name, the most trusted first."""
    for rule in _RULES:
        yield from rule(text)
    yield from _conditions(text, name)


def introduced_values(text: str) -> Iterator[Candidate]:
    """The lists alone that words introduce: those may mark a default."""
    yield from _counted(text)
    yield from _introduced(text)
    yield from _default_and_others(text)


def stated_default(text: str, found: Candidate) -> str | None:
    """The default that a list marks, or that the text names among its values: `Default is a`."""
    if found.default is not None:
        return found.default
    named = _named_default(text, found.values)
    return named[1] if named is not None else None


def _named_default(text: str, values: Sequence[Any]) -> re.Match[str] | None:
    matches = re.finditer(rf"\b[Dd]efault(?: value)? is [{_QUOTES}]*({_WORD})\b", text)
    return next((match for match in matches if match[1] in values), None)


def _places(head: str, text: str) -> Iterator[re.Match[str]]:
    """Where lists may begin; no description has more than a few."""
    return islice(re.finditer(head, text[:MOST_LETTERS], re.IGNORECASE), MOST_LISTS)


def _counted(text: str) -> Iterator[Candidate]:
    """`<count> modes: a (default), b, c.`"""
    words = "|".join(_NUMBERS)
    for match in _places(rf"\b({words}|[2-9])((?: [a-z]+){{1,3}}): ", text):
        count = _NUMBERS.get(match[1].lower()) or int(match[1])
        yield from _listed(text, match.end(), "counted-list", count, True)


def _introduced(text: str) -> Iterator[Candidate]:
    """`Supported modes: a (default), b` and `one of: a, b`, `to apply: none (default), add`."""
    for head, closed in _INTRODUCTIONS:
        for match in _places(head, text):
            yield from _listed(text, match.end(), "introduced-list", None, closed)


def _pairs(text: str) -> Iterator[Candidate]:
    """`"v": text` pairs."""
    matches = [each for each in _PAIR.finditer(text) if each[1] == each[3][::-1]]
    if matches:
        values = tuple(dict.fromkeys(match[2] for match in matches))
        yield Candidate(values, matches[0].start(2), "explained-pairs")


def _default_and_others(text: str) -> Iterator[Candidate]:
    """`A (default) for this. Use B for that.`, each value quoted or in capitals."""
    word = rf"[{_QUOTES}]+{_WORD}[{_QUOTES}]+|[A-Z][A-Z0-9_]+"
    first = re.match(rf"({word}) ?\(default\) for ", text)
    others = re.findall(rf"\bUse ({word}) for ", text)
    if first and others:
        values = tuple(dict.fromkeys(other.strip(_QUOTES) for other in (first[1], *others)))
        yield Candidate(values, 0, "default-and-others", values[0])


def _conditions(text: str, name: str) -> Iterator[Candidate]:
    """`if <attribute> is "v"`, every one of them."""
    pattern = rf"\b[Ii]f [{_QUOTES}]*{re.escape(name)}[{_QUOTES}]* is [{_QUOTES}]+({_WORD})[{_QUOTES}]+"
    matches = list(re.finditer(pattern, text))
    if matches:
        values = tuple(dict.fromkeys(match[1] for match in matches))
        yield Candidate(values, matches[0].start(1), "conditions")


_RULES: tuple[Callable[[str], Iterator[Candidate]], ...] = (
    _counted,
    _introduced,
    _pairs,
    _default_and_others,
)


def _listed(text: str, start: int, rule: str, count: int | None, closed: bool) -> Iterator[Candidate]:
    rest = _STOP_IN_QUOTES.sub(r"\2\1", text[start : start + 2000])
    sentence, default = _strip_parentheses(rest[: _sentence_end(rest)])
    parts = [part.strip() for part in re.split(r",|\band\b|\bor\b|;", sentence)]
    heads = [part.split(" - ", 1)[0].strip() for part in parts if part]
    quoted = [match[1] for head in heads if (match := _QUOTED.match(head.strip(".")))]
    values = quoted or heads
    if len(values) < 2 or not all(_BARE.match(value) for value in values):
        return
    closed = closed and len(quoted) == len(heads)
    yield Candidate(tuple(dict.fromkeys(values)), start, rule, default, count, closed)


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


_STATED = re.compile(
    r"(?:\b[Tt]he default(?: value)? is|\bDefault(?: value)? is|\bby default it is|\b[Dd]efaults? to) "
    r"(?P<value>``[^`]*``|`[^`]*`|\"[^\"]*\"|'[^']*'|[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?f?|[A-Za-z_]\w*)"
)
_FORMULA = re.compile(r" ?(?:[/*^]|[-+] ?\w)")
"""What goes on behind a number that is the beginning of a formula: 1/sqrt(n)."""
_NUMBER = re.compile(r"^[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?f?$")


@dataclass(frozen=True)
class FoundDefault:
    """A default: its value and origin; `undecodable` is the text that stands where a value should."""

    value: Any
    origin: Origin | None
    undecodable: str | None = None
    offset: int = 0


def find_default(passage: Passage) -> FoundDefault | None:
    """The default that a passage states; None where it states none."""
    undecodable: FoundDefault | None = None
    for match in _STATED.finditer(passage.text):
        raw = match["value"]
        bare = raw.strip("`\"'")
        if not re.search(r"\w", bare):
            undecodable = FoundDefault(None, None, raw, match.start("value"))
            continue
        if not raw.startswith(("`", '"', "'")) and not _NUMBER.match(bare.rstrip(".")):
            continue
        if _FORMULA.match(passage.text, match.end()):
            continue
        origin = Origin("imported", (passage.source(match.start("value")),), None, "stated-default", 1.0)
        return FoundDefault(_decode(bare), origin, None, match.start("value"))
    marked = marked_default(passage)
    if marked is not None:
        value, offset = marked
        origin = Origin("imported", (passage.source(offset),), None, "marked-default", 1.0)
        return FoundDefault(value, origin, undecodable.undecodable if undecodable else None, offset)
    return undecodable


def named_default(passage: Passage, values: AllowedValues) -> FoundDefault | None:
    """The default that a passage names among the values that it allows, without quotes: `Default is a`."""
    named = _named_default(passage.text, values.values)
    if named is None:
        return None
    origin = Origin("imported", (passage.source(named.start(1)),), None, "stated-default", 1.0)
    return FoundDefault(named[1], origin, None, named.start(1))


def _decode(text: str) -> Any:
    text = text.rstrip(".") if _NUMBER.match(text.rstrip(".")) and text.endswith(".") else text
    if not _NUMBER.match(text):
        return text
    text = text.rstrip("f")
    return int(text) if re.fullmatch(r"[-+]?[0-9]+", text) else float(text)


ACCEPTED_FROM = 0.75
"""Values below this confidence are proposed; they count when `spec.yaml` confirms them."""


def find_values(
    passage: Passage, name: str, default: object = None, required: bool = False
) -> AllowedValues | None:
    """The values that a description allows its string attribute; None where no rule finds at least two.

    Two rules that disagree leave the first one's answer as a proposal. A `required` attribute has no default
    that could speak for its values; there a list that the text closes counts instead.
    """
    found = [candidate for candidate in candidates(passage.text, name) if len(set(candidate.values)) >= 2]
    if not found:
        return None
    first = found[0]
    stated = stated_default(passage.text, first) if default is None else default
    confidence = _confidence(first, stated, required)
    agreed = all(set(candidate.values) <= set(first.values) for candidate in found)
    origin = Origin("imported", (passage.source(first.offset),), rule=first.rule, confidence=confidence)
    proposed = confidence < ACCEPTED_FROM or not agreed
    return AllowedValues(first.values, first.rule, confidence, proposed, origin)


def marked_default(passage: Passage) -> tuple[str, int] | None:
    """The value that a list of values marks with "(default)", and its offset."""
    for introduced_value in introduced_values(passage.text):
        if introduced_value.default is not None:
            return introduced_value.default, passage.text.find(
                introduced_value.default, introduced_value.offset
            )
    return None


def _confidence(found: Candidate, default: object, required: bool) -> float:
    confidence = 0.5
    if default is not None:
        confidence += 0.25 if default in found.values else -0.2
    elif required and found.closed:
        confidence += 0.25
    if found.count == len(found.values):
        confidence += 0.25
    return min(confidence, 1.0)
