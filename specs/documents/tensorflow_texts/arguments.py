"""What a TensorFlow text says of a tensor behind its type: shape, bounds, requirements and steps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from specs.documents.prose.formulas import find_formulas
from specs.documents.text.documents import Passage
from specs.model.spec import Formula, Origin

_RANK = re.compile(
    r"\s*(?:Must be |An? )?(?P<rank>\d+|N)-D\b"
    r"(?! or\b| and\b| \(or\b| slice|, (?:or )?(?:\d|N)-D)(?![^.]{0,30},? or an? )"
    r"(?:,? (?:\w+ )?`?[Tt]ensor`?)?(?: (?:with|of) shape `?(?P<shape>\[[^\[\]]*\]))?"
)
_AT_LEAST = re.compile(r"all values must be >= (-?\d+)")
_REQUIRED = re.compile(r"[Ii]t is required that `?(?P<text>[^`]+?)`? ?\.(?:\s|$)")
_STEP = re.compile(r"to (?:produce )?(?:the )?`?(?P<name>\w+)`?\s+of shape:?\s+(?=\[)")


@dataclass(frozen=True)
class TensorWords:
    """What the words behind a tensor's type state of its shape and values."""

    rank: str | None
    shape: tuple[str, ...] | None
    at_least: int | None
    formulas: tuple[Formula, ...]


def describe_tensor(passage: Passage, start: int) -> TensorWords:
    """Rank, shape, bound, requirements and steps; `start` is where the words about the type end."""
    rank, least = _RANK.match(passage.text, start), _AT_LEAST.search(passage.text, start)
    return TensorWords(
        rank["rank"] if rank else None,
        _extents(rank["shape"]) if rank and rank["shape"] else None,
        int(least[1]) if least else None,
        tuple(_formulas(passage)),
    )


def _extents(text: str) -> tuple[str, ...]:
    return tuple(each.strip() for each in text.strip("[]").split(",") if each.strip())


def _formulas(passage: Passage) -> Iterator[Formula]:
    for match in _REQUIRED.finditer(passage.text):
        origin = Origin("imported", (passage.source(match.start("text")),))
        yield Formula("required", " ".join(match["text"].split()), origin)
    for match in _STEP.finditer(passage.text):
        shape = _bracketed(passage.text, match.end())
        if shape is not None:
            origin = Origin("imported", (passage.source(match.start("name")),))
            yield Formula(f"shape({match['name']})", shape, origin)
    examples = passage.text.find("Some examples")
    for formula in find_formulas(passage):
        before = passage.source(examples) if examples >= 0 else None
        if before is None or formula.origin.sources[0].line < before.line:
            yield formula


def _bracketed(text: str, start: int) -> str | None:
    """The bracketed text that begins at an offset, its white space as single blanks."""
    depth = 0
    for position in range(start, min(len(text), start + 2000)):
        depth += (text[position] == "[") - (text[position] == "]")
        if depth == 0:
            return re.sub(r"\s+", " ", text[start : position + 1])
    return None
