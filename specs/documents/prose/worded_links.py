"""Parts that belong together: one of several alone is given, lists of one length, one that another needs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specs.documents.prose.part_names import ParameterNames, Sentence, found, name_of, pattern, sentences
from specs.documents.text.documents import Passage
from specs.model.statements import OneOf, Range, Required, SameLength, StatedShape, Statement

_NAME = r"[`'\"]?[A-Za-z]\w{0,60}(?:_\*)?[`'\"]?"
_ONE_OF = pattern(
    r"\b(?:one and only one|exactly one)(?: of)?(?: the)? "
    rf"(?P<names>{_NAME}(?: ?(?:or|and) {_NAME})?)s?(?: attributes?)? "
    r"(?:must|should|will) be (?:defined|set)\b"
)
_SAME = pattern(
    r"\bmust be (?:of )?(?:the )?same (?:length|size) as (?:the )?(?P<name>"
    + _NAME
    + r")(?: sequence)?(?=[.;\s]|$)"
)
_BOTH = pattern(rf"\b(?:the )?(?P<one>{_NAME}) and (?P<other>{_NAME}) attributes must have the same length\b")
_PER_FEATURE = pattern(
    r"\blength of features in an \[N, ?F\] tensor or length (?P<least>1)\b"
    r"|\b(?P<names>\w{1,60}) attribute length can be (?P<few>1) element, or it can have one element per "
    r"(?:input )?feature\b"
    r"|\bthere must be as many columns as keys\b"
)

_REQUIRED = pattern(
    r"\brequired (?P<exactly>exactly )?when (?:the )?[`'\"]?(?P<name>\w{1,60})[`'\"]?(?: output)? is "
    r"(?:(?P<positive>positive)|requested)\b"
)


def find_linked(about: str, passage: Passage, parts: ParameterNames) -> Iterator[Statement]:
    """What a passage says of parts together: one alone, of one length, one a column, needed by another."""
    if about.startswith("inputs."):
        yield from _required(about, passage, parts)
    if about.partition(".")[0] not in ("attributes", "summary"):
        return
    for sentence in sentences(passage.text):
        yield from _one_of(about, passage, sentence, parts)
        yield from _same_length(about, passage, sentence, parts)
        yield from _per_column(about, passage, sentence, parts)


def _one_of(about: str, passage: Passage, sentence: Sentence, parts: ParameterNames) -> Iterator[OneOf]:
    match = _ONE_OF.search(sentence.text)
    names = _several(match["names"], parts) if match is not None else ()
    if match is not None and len(names) > 1:
        yield OneOf(about, found(passage, sentence.start + match.start(), "one-of", 0.9), names)


def _same_length(
    about: str, passage: Passage, sentence: Sentence, parts: ParameterNames
) -> Iterator[SameLength]:
    match = _SAME.search(sentence.text)
    if match is not None and about != "summary":
        other = _several(match["name"], parts)
        if len(other) == 1 and other[0] != name_of(about):
            origin = found(passage, sentence.start + match.start(), "same-length", 0.9)
            yield SameLength(about, origin, other[0])
    match = _BOTH.search(sentence.text)
    if match is not None:
        others = _several(match["other"], parts)
        origin = found(passage, sentence.start + match.start(), "same-length", 0.9)
        for name in others if _several(match["one"], parts) else ():
            yield SameLength(f"attributes.{name}", origin, match["one"].strip("`'\""))


def _per_column(
    about: str, passage: Passage, sentence: Sentence, parts: ParameterNames
) -> Iterator[Range | StatedShape]:
    """A list with an element for each feature or column of the first input, or with one for all of them."""
    match = _PER_FEATURE.search(sentence.text)
    if match is None or not parts.inputs:
        return
    columns = f"shape({parts.inputs[0]})[-1]"
    origin = found(passage, sentence.start + match.start(), "a-column-each", 0.9)
    if match["least"] or match["few"]:
        named = _several(f"{match['names']}_*", parts) if match["names"] else (name_of(about),)
        for name in named if about != "summary" or match["names"] else ():
            yield Range(f"attributes.{name}", origin, "length", at_least="1", at_most=columns)
        return
    yield StatedShape(f"inputs.{parts.inputs[0]}", origin, ("N", "C"))
    for name in parts.attributes:
        yield Range(f"attributes.{name}", origin, "length", at_least=columns, at_most=columns)


def _required(about: str, passage: Passage, parts: ParameterNames) -> Iterator[Required]:
    """Where an optional input is given: where a number is positive, or for an output that is asked for."""
    for sentence in sentences(passage.text):
        match = _REQUIRED.search(sentence.text)
        named = parts.about(match["name"]) if match is not None else None
        if match is None or named is None:
            continue
        origin = found(passage, sentence.start + match.start(), "required-when", 0.9)
        if match["positive"] and named.startswith("attributes."):
            yield Required(about, origin, f"{name_of(named)} > 0", bool(match["exactly"]))
        elif not match["positive"] and named.startswith("outputs."):
            yield Required(about, origin, output=name_of(named))


def _several(words: str, parts: ParameterNames) -> tuple[str, ...]:
    """The attributes that words mean: one by its name, all that begin like `keys_*`, a plural's."""
    named: list[str] = []
    for word in re.findall(r"[A-Za-z]\w*(?:\*)?", re.sub(r"\s(?:or|and)\s", " ", words)):
        if word in parts.attributes:
            named.append(word)
            continue
        stem = word.removesuffix("*").removesuffix("_")
        starting = [name for name in parts.attributes if name.startswith(f"{stem}_")]
        plural = stem.removesuffix("ies") if stem.endswith("ies") else stem.removesuffix("s")
        named += starting or [name for name in parts.attributes if f"_{plural}" in name]
    return tuple(dict.fromkeys(named))
