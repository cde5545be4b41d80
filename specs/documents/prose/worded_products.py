"""Shapes that matrix products and quantisation give tensors: rows and columns, vectors along them."""

from __future__ import annotations

from collections.abc import Iterator

from specs.documents.prose.part_names import (
    MOST_LETTERS,
    ParameterNames,
    found,
    name_of,
    pattern,
    sentences,
)
from specs.documents.text.documents import Passage
from specs.model.statements import Broadcast, StatedShape, Statement

_LIKE_NUMPY = pattern(r"\bmatrix (?:product|multiplication) that behaves like \W{0,4}(?:numpy|np)\.matmul\b")
_MATRIX = pattern(r"^N-dimensional (?:\w+ )?matrix [`'\"]?(?P<name>\w{1,40})\b")
_RESULT = pattern(r"^matrix multiply results?\b")
_TRANSPOSED = pattern(
    r"\bwhether [`'\"]?(?P<name>\w{1,40})[`'\"]? should be transposed on the last two dimensions\b"
)
_COLUMNS = pattern(
    r"^if it's a 1-?D tensor, its number of elements (?:should|must) be equal to the number of "
    r"(?P<what>columns|rows) of (?:input )?[`'\"]?(?P<name>\w{1,40})\b"
)
_LAST = pattern(
    r"\b(?:(?:dimension|shape|size|length) (?:is |are )?(?:the )?same (?:shape |size )?as"
    r"|same (?:dimension|shape|size|length) (?:as|with)) (?:the )?"
    r"(?:last dim(?:ension)?s? of (?:input )?[`'\"]?(?P<name>\w{1,40})"
    r"|[`'\"]?(?P<owner>\w{1,40})[`'\"]?'s last dim(?:ension)?)\b"
)
_VECTOR = pattern(r"\b(?:1-?D|vector|1-dimensional)\b")
_FACTORS = (("...", "M", "K"), ("...", "K", "N"))
_PRODUCT = ("...", "M", "N")


def find_products(about: str, passage: Passage, parts: ParameterNames) -> Iterator[Statement]:
    """What a passage says of a matrix product's factors and of vectors along another tensor's last axis."""
    group = about.partition(".")[0]
    if len(parts.data) >= 2 and parts.outputs:
        yield from _factors(about, passage, parts)
    if group == "inputs":
        yield from _vectors(about, passage, parts)


def _factors(about: str, passage: Passage, parts: ParameterNames) -> Iterator[Statement]:
    """The shapes of two factors and their product: matrices in the last two axes, the others broadcast."""
    text = passage.text[:MOST_LETTERS]
    factors = parts.data[:2]
    if about == "summary" and (match := _LIKE_NUMPY.search(text)) is not None:
        origin = found(passage, match.start(), "matrix-product", 0.9)
        for name, extents in zip(factors, _FACTORS, strict=True):
            yield StatedShape(f"inputs.{name}", origin, extents)
        yield StatedShape(f"outputs.{parts.outputs[0]}", origin, _PRODUCT)
        yield Broadcast("summary", origin, tuple(factors))
    elif about == f"outputs.{parts.outputs[0]}" and (match := _RESULT.search(text)) is not None:
        origin = found(passage, match.start(), "matrix-product", 0.9)
        yield StatedShape(about, origin, _PRODUCT)
        yield Broadcast(about, origin, tuple(factors))
    elif about.startswith("inputs.") and (match := _MATRIX.search(text)) is not None:
        if name_of(about) == match["name"] and match["name"] in factors:
            origin = found(passage, match.start(), "matrix-product", 0.9)
            yield StatedShape(about, origin, _FACTORS[factors.index(match["name"])])
    elif about.startswith("attributes.") and (match := _TRANSPOSED.search(text)) is not None:
        if match["name"] not in factors:
            return
        *before, rows, columns = _FACTORS[factors.index(match["name"])]
        origin = found(passage, match.start(), "matrix-product", 0.9)
        when = f"{name_of(about)} != 0"
        yield StatedShape(f"inputs.{match['name']}", origin, (*before, columns, rows), when)


def _vectors(about: str, passage: Passage, parts: ParameterNames) -> Iterator[StatedShape]:
    """A vector that has an element for each column of another tensor, or for each place of its last axis."""
    for sentence in sentences(passage.text):
        columns = _COLUMNS.match(sentence.text)
        match = columns or _LAST.search(sentence.text)
        if match is None or (columns is None and not _VECTOR.search(sentence.before(match.start()))):
            continue
        named = parts.about(match["name"] or match["owner"])
        if named is None or not named.startswith("inputs.") or named == about:
            continue
        place = -2 if columns is not None and columns["what"].lower() == "rows" else -1
        when = f"rank({name_of(about)}) == 1" if columns is not None else None
        origin = found(passage, sentence.start + match.start(), "vector-along", 0.9)
        yield StatedShape(about, origin, (f"shape({name_of(named)})[{place}]",), when)
        return
