"""StringConcat, StringSplit and StringNormalizer: texts joined, split, taken out and written in one case."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np

from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import Answer, OutsideDomain, UnstableLength
from reference.readings.choices import AsReading, Choice
from reference.registry import reference_operator

STRING = ELEMENT_TYPES["string"]
_ASCII_SPACES = " \t\n\v\f\r"
_UNICODE_SPACES = (
    _ASCII_SPACES
    + "\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000"
    + "".join(chr(code) for code in range(0x2000, 0x200B))
)
"""Those of the property White_Space of Unicode."""
_OWN_MAPPINGS = ("tr", "az", "lt")
"""Languages for which Unicode's SpecialCasing.txt has conditions; which an environment has is open."""


@reference_operator("ai.onnx::StringConcat")
def string_concat(X: Tensor, Y: Tensor) -> Answer:
    """Each text of X with that of Y behind it. Source: StringConcat, Summary."""
    shape = np.broadcast_shapes(X.shape, Y.shape)
    ones, others = (np.broadcast_to(each.array, shape).reshape(-1).tolist() for each in (X, Y))
    return Answer(_texts([one + other for one, other in zip(ones, others, strict=True)], shape))


@reference_operator("ai.onnx::StringSplit")
def string_split(
    X: Tensor,
    *,
    delimiter: str = "",
    maxsplit: int | None = None,
    whitespace: Annotated[Choice[Literal["ascii", "unicode"]], AsReading],
    last_whitespace: Annotated[Choice[Literal["kept", "removed"]], AsReading],
    empty_text: Annotated[Choice[Literal["one", "none"]], AsReading],
) -> tuple[Answer, ...]:
    """The parts of each text along a new last axis, filled up with empty texts, and how many there are.

    Source: StringSplit, Summary, delimiter and maxsplit.
    """
    found = []
    for text in (element.decode() for element in X.array.reshape(-1).tolist()):
        if delimiter:
            parts = text.split(delimiter, -1 if maxsplit is None else maxsplit)
            found.append([] if not text and empty_text.ask() == "none" else parts)
        else:
            found.append(_words(text, maxsplit, whitespace, last_whitespace))
    most = max((len(parts) for parts in found), default=0)
    padded = [part for parts in found for part in [*parts, *[""] * (most - len(parts))]]
    counts = np.array([len(parts) for parts in found], dtype=np.int64).reshape(X.shape)
    texts = _texts([part.encode() for part in padded], (*X.shape, most))
    return Answer(texts), Answer(tensor(counts))


def _words(
    text: str, most: int | None, whitespace: Choice[Literal["ascii", "unicode"]], last: Choice[Any]
) -> list[str]:
    """What stands between whitespace; behind the last split all that is left."""
    unicode = any(each in _UNICODE_SPACES and each not in _ASCII_SPACES for each in text)
    spaces = _UNICODE_SPACES if unicode and whitespace.ask() == "unicode" else _ASCII_SPACES
    rest, parts = text.lstrip(spaces), list[str]()
    while rest and (most is None or len(parts) < most):
        end = next((at for at, each in enumerate(rest) if each in spaces), len(rest))
        parts.append(rest[:end])
        rest = rest[end:].lstrip(spaces)
    if not rest:
        return parts
    stripped = rest.rstrip(spaces)
    return [*parts, stripped if stripped != rest and last.ask() == "removed" else rest]


@reference_operator("ai.onnx::StringNormalizer")
def string_normalizer(
    X: Tensor,
    *,
    case_change_action: str = "NONE",
    is_case_sensitive: int = 0,
    locale: str = "en_US",
    stopwords: tuple[str, ...] = (),
    case_mapping: Annotated[Choice[Literal["full", "simple"]], AsReading],
) -> Answer:
    """The texts of one row that are no stop words, in one case; one empty text where none is left.

    Source: StringNormalizer, Summary, is_case_sensitive and stopwords.
    """
    if locale[:2].lower() in _OWN_MAPPINGS:
        raise OutsideDomain("a locale with case mappings of its own", got=locale)
    texts = [element.decode() for element in X.array.reshape(-1).tolist()]
    kept = [text for text in texts if not _is_listed(text, stopwords, bool(is_case_sensitive))] or [""]
    changed = [_in_case(text, case_change_action, case_mapping) for text in kept]
    return Answer(_texts([text.encode() for text in changed], (*X.shape[:-1], len(changed))))


def _is_listed(text: str, words: Sequence[str], case_sensitive: bool) -> bool:
    """Whether a text is one of the words; UnstableLength where that hangs on how case is left out."""
    if case_sensitive:
        return text in words
    found = {
        any(same(text) == same(word) for word in words)
        for same in (str.lower, str.upper, str.casefold, lambda each: _simply(each, "LOWER"))
    }
    if len(found) > 1:
        raise UnstableLength("whether a text is a stop word hangs on the way in which case is left out")
    return found.pop()


def _in_case(text: str, action: str, mapping: Choice[Literal["full", "simple"]]) -> str:
    if action == "NONE":
        return text
    full, simple = text.lower() if action == "LOWER" else text.upper(), _simply(text, action)
    return simple if full != simple and mapping.ask() == "simple" else full


def _simply(text: str, action: str) -> str:
    """The text with one character for each: the simple case mapping of Unicode, whatever stands beside."""
    changed = [(each, each.lower() if action == "LOWER" else each.upper()) for each in text]
    # Of U+0130 alone among letters the full mapping is two characters and the simple one another.
    return "".join("i" if each == "\u0130" else new if len(new) == 1 else each for each, new in changed)


def _texts(elements: Sequence[bytes], shape: Sequence[int]) -> Tensor:
    array = np.empty(len(elements), dtype=np.object_)
    array[:] = elements
    return Tensor(STRING, array.reshape(tuple(shape)))
