"""What OpenVINO's pages say of axes, single elements and ranks in words of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from specs.documents.prose.part_names import (
    MOST_LETTERS,
    NUMBER_WORDS,
    ParameterNames,
    found,
    name_of,
    pattern,
    sentences,
)
from specs.documents.text.documents import Passage
from specs.model.statements import Of, Range, Rank, Statement

_RANK = r"(?:[A-Za-z]|rank\(\w{1,40}\)|len\(\w{1,40}\.shape\)|\w{1,40}\.rank)"
_AXES = pattern(
    rf"\[? ?[`$]?-(?P<low>{_RANK})[`$]? ?(?:,|;|\.\.|to) ?[`$]?(?P<high>{_RANK}) ?[-–] ?1[`$]? ?\]?"
)
"""`[-r, r-1]`, `from -r to r - 1`, `-rank(data) .. rank(data)-1`."""
_OF_OUTPUT = pattern(r"\brank of (?:the )?output\b")
_NAMED = re.compile(r"(?:rank|len)\((\w+)|(\w+)\.rank|rank of (?:the )?`?(\w+)`?")
_SINGLE = pattern(
    r"\b(?:1-?D|one-dimensional) tensor (?:with|of|containing) (?:only )?(?:a single|one|1) element\b"
    r"|\btensor with shape `?\[1\]`?"
)
_AT_LEAST = pattern(
    r"\brank (?:is )?(?:greater (?:than )?or equal(?: to)?|not less than|no less than|bigger or equal to) "
    r"(?P<least>\d|one|two|three|four)\b"
)
MOST = 10


def find_page_statements(passages: Mapping[str, Passage], parts: ParameterNames) -> Iterator[Statement]:
    """The statements of all passages that the rules of all dialects do not read."""
    for about, passage in passages.items():
        if about.partition(".")[0] in ("inputs", "attributes"):
            yield from islice(_of_part(about, passage, parts), MOST)


def _of_part(about: str, passage: Passage, parts: ParameterNames) -> Iterator[Statement]:
    text = passage.text[:MOST_LETTERS]
    axes = _AXES.search(text)
    if axes is not None and axes["low"] == axes["high"] and not _OF_OUTPUT.search(text):
        tensor = _tensor(about, text, parts)
        if tensor is not None:
            origin = found(passage, axes.start(), "axes-in-range", 0.9)
            of: Of = "elements" if about.startswith("inputs.") else "value"
            yield Range(about, origin, of, f"-rank({tensor})", None, f"rank({tensor}) - 1")
    if not about.startswith("inputs."):
        return
    for sentence in sentences(text):
        single = _SINGLE.search(sentence.text)
        if single is not None:
            origin = found(passage, sentence.start + single.start(), "one-element", 0.9)
            yield Range(about, origin, "length", "1", None, "1")
        rank = _AT_LEAST.search(sentence.text)
        if rank is not None:
            origin = found(passage, sentence.start + rank.start(), "bounded-rank", 0.9)
            yield Rank(about, origin, NUMBER_WORDS.get(rank["least"].lower(), rank["least"]), None)


def _tensor(about: str, text: str, parts: ParameterNames) -> str | None:
    """The input whose rank a passage speaks of: one that it names beside the word, or else the first."""
    for match in islice(_NAMED.finditer(text), MOST):
        named = parts.about(next(word for word in match.groups() if word))
        if named is not None and named.startswith("inputs.") and named != about:
            return name_of(named)
    others = [name for name in parts.inputs if f"inputs.{name}" != about]
    return others[0] if others else None
