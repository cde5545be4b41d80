"""Everything that the passages of one operator version state about its parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice

from specs.documents.prose.part_names import ParameterNames
from specs.documents.prose.ranges import find_ranges
from specs.documents.prose.ranks import find_ranks, rank_names
from specs.documents.prose.relevance import find_relevance
from specs.documents.prose.same_shapes import find_broadcasts, find_same_shapes
from specs.documents.prose.type_classes import find_type_classes
from specs.documents.prose.worded_shapes import find_shapes
from specs.documents.text.documents import Passage
from specs.model.spec import Origin
from specs.model.statements import Statement

MOST_STATEMENTS = 500
"""A page with more of them is none that anybody wrote."""
_NOWHERE = Origin("imported")


def find_statements(passages: Mapping[str, Passage], parts: ParameterNames) -> tuple[Statement, ...]:
    """The statements of all passages (by what they are about), in the order of the passages."""
    symbols = rank_names(passages, parts)
    found = (
        each for about, passage in passages.items() for each in _of_passage(about, passage, parts, symbols)
    )
    return merge_statements(islice(found, MOST_STATEMENTS))


def merge_statements(*groups: Iterable[Statement]) -> tuple[Statement, ...]:
    """The statements of several passages or documents; what stands twice is one, with both places."""
    found: dict[Statement, Statement] = {}
    for each in chain(*groups):
        key = replace(each, origin=_NOWHERE)
        found[key] = _also(found[key], each) if key in found else each
    return tuple(found.values())


def _also(first: Statement, second: Statement) -> Statement:
    """A statement that stands twice, with both places."""
    sources = dict.fromkeys((*first.origin.sources, *second.origin.sources))
    surer = max(first, second, key=lambda each: each.origin.confidence or 0)
    return replace(surer, origin=replace(surer.origin, sources=tuple(sources)))


def _of_passage(
    about: str, passage: Passage, parts: ParameterNames, symbols: Mapping[str, str]
) -> Iterator[Statement]:
    yield from find_ranges(about, passage, parts, symbols)
    yield from find_ranks(about, passage, parts, symbols)
    yield from find_shapes(about, passage, parts)
    yield from find_same_shapes(about, passage, parts)
    yield from find_broadcasts(about, passage, parts)
    yield from find_relevance(about, passage, parts)
    yield from find_type_classes(about, passage)
