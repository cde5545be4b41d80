"""Valid calls at the borders of a space: extents, ranks, lengths around vectors, and the edges of kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from generator.asking.calls import Call
from generator.calls.borders.breach_attempts import broken_rules
from generator.calls.borders.shortcuts import find_shortcuts, plain_call
from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial, levels_in
from generator.calls.solver.solving import CallSearch, Found, SearchVariable
from generator.calls.space.drawing import draw_call
from generator.calls.space.space import CallSpace
from generator.calls.variables.extents import ExtentVariable
from generator.calls.variables.kind import Level
from generator.calls.variables.vector_lengths import MANY, lengths_around
from opcert.vocabulary.element_types import ELEMENT_TYPES
from specs.language.evaluation import EvaluationError
from specs.model.structures import element_types_of

MOST_ELEMENTS = 20_000
EQUAL_EXTENTS = "equal_extents"
EQUAL = 4
"""A length of every extent at once: what is turned or exchanged keeps its shape, and no shape tells it."""


@dataclass(frozen=True)
class Edge:
    """A valid call at a border: a word for the case, its levels, the call."""

    word: str
    levels: Mapping[str, Level]
    call: Call


def find_edges(space: CallSpace, draw: Draw) -> Iterator[Edge]:
    """The calls at the borders of a space, each once."""
    seen: set[str] = set()
    extents = list(_extent_edges(space, draw))
    equal = [each.call for each in extents if each.word == EQUAL_EXTENTS]
    shortcuts = (
        Edge(word, space.plainest, call)
        for word, call in find_shortcuts(space, equal, draw.child("shortcuts"))
    )
    for edge in (*extents, *_kind_edges(space, draw), *shortcuts):
        digest = edge.call.digest(space.spec.operator)
        if digest not in seen and not broken_rules(space, edge.call):
            seen.add(digest)
            yield edge


def _extent_edges(space: CallSpace, draw: Draw) -> Iterator[Edge]:
    """Each extent and each axis of a pack 0 and 1, each end of a rank, and lengths around vectors."""
    packs = [name.removeprefix("rank_") for name in space.factors if name.startswith("rank_")]
    extents = [each.name for each in space.variables if each.name in _extents(space)]
    for pack in packs:
        known = [int(rank) for rank in space.factors[f"rank_{pack}"]]
        for rank in (min(known), max(known)):
            yield from _solved(space, f"rank_{rank}_of_{pack}", {f"rank_{pack}": rank}, {}, draw)
        for rank in {min(known), min(2, max(known))}:
            for axis in range(rank):
                for length in (0, 1):
                    shape = [3 + place for place in range(rank)]
                    shape[axis] = length
                    word = f"{pack}_{axis}_of_{rank}_is_{length}"
                    yield from _solved(space, word, {f"rank_{pack}": rank}, {pack: shape}, draw)
    for name in extents:
        for length in (0, 1):
            yield from _solved(space, f"{name}_is_{length}", {}, {name: length}, draw)
    ranks: dict[str, Level] = {f"rank_{pack}": _rank_near_two(space, pack) for pack in packs}
    equal = {pack: [EQUAL] * _rank_near_two(space, pack) for pack in packs} | dict.fromkeys(extents, EQUAL)
    yield from _solved(space, EQUAL_EXTENTS, ranks, equal, draw)
    for length in vector_lengths(space):
        yield from _of_length(space, length, packs, extents, draw)


def _of_length(
    space: CallSpace, length: int, packs: Sequence[str], extents: Sequence[str], draw: Draw
) -> Iterator[Edge]:
    """A call in which one extent has this length; where it is long, with short others if it needs them."""
    levels: dict[str, Level] = {}
    if packs:
        pack = packs[0]
        rank = (
            1
            if 1 in space.factors[f"rank_{pack}"]
            else min(int(each) for each in space.factors[f"rank_{pack}"] if int(each) > 0)
        )
        levels, word = {f"rank_{pack}": rank}, f"length_{length}"
        fixed: dict[str, object] = {pack: [1] * (rank - 1) + [length]}
        others = list(extents)
    elif extents:
        word, fixed = f"{extents[-1]}_{length}", {extents[-1]: length}
        others = list(extents[:-1])
    else:
        return
    costly = any(each.most_elements is not None for each in space.kinds)
    beside = [2] if costly and packs else [None, 2, 1]
    for short in beside if length == MANY else [None]:
        shortened = {} if short is None else dict.fromkeys(others, short)
        found = list(_solved(space, word, levels, fixed | shortened, draw))
        if found:
            yield from found
            return


def _rank_near_two(space: CallSpace, pack: str) -> int:
    return min((int(each) for each in space.factors[f"rank_{pack}"]), key=lambda rank: (abs(rank - 2), rank))


def vector_lengths(space: CallSpace) -> list[int]:
    """One shorter than, as long as, and one longer than a vector of the first type, and one long length."""
    types = element_types_of(space.spec, space.data[0]) if space.data else ()
    known = [ELEMENT_TYPES[each] for each in types if each in ELEMENT_TYPES and ELEMENT_TYPES[each].bits]
    first = next((each for each in known if each.name == "float"), known[0] if known else None)
    return lengths_around(None if first is None else first.bits)


def _extents(space: CallSpace) -> set[str]:
    """The names of extents that are chosen for themselves."""
    return {each.name for each in space.variables if isinstance(each.candidates, ExtentVariable)}


def _solved(
    space: CallSpace, word: str, levels: Mapping[str, Level], fixed: Bindings, draw: Draw
) -> Iterator[Edge]:
    """A plain call with these bindings, where there is one; levels that do not fit are left free."""
    variables = [*_asked_of_kinds(space, fixed), *(_fixed(each, fixed) for each in space.variables)]
    search = CallSearch(space.spec, variables, space.spec.constraints)
    stream = draw.child(word)
    for given in ({**plain, **levels} for plain in space.plain_calls):
        found = search.solve(given, stream)
        if isinstance(found, Found) and _size(found.scope) <= MOST_ELEMENTS:
            yield Edge(word, given, draw_call(space, found.scope, given, stream))
            return


def _fixed(variable: SearchVariable, fixed: Bindings) -> SearchVariable:
    if variable.name not in fixed:
        return variable
    candidates = _only(variable.name, fixed[variable.name])
    return SearchVariable(variable.name, variable.binds, frozenset(), candidates)


def _asked_of_kinds(space: CallSpace, fixed: Bindings) -> Iterator[SearchVariable]:
    """What a kind binds among other things, which it is told as `given:<name>`."""
    by_kinds = {name for each in space.kinds for name in each.binds}
    for name, value in fixed.items():
        if name in by_kinds or f"shapes:{name}" in by_kinds:
            asked = f"given:{name}"
            yield SearchVariable(asked, frozenset({asked}), frozenset(), _only(asked, value))


def _only(name: str, value: object) -> Callable[[Partial, Draw], Iterator[Bindings]]:
    return lambda _scope, _draw: iter([{name: value}])


def _size(scope: Partial) -> int:
    bound = [each for name, each in scope.bindings.items() if name.startswith("shape:")]
    return max((prod(each) for each in bound if each is not None), default=0)


def _kind_edges(space: CallSpace, draw: Draw) -> Iterator[Edge]:
    plain = plain_call(space, draw.child("kinds"))
    if plain is None:
        return
    levels, found = plain
    for kind in space.kinds:
        stream = draw.child(f"edges of {kind.name}")
        try:
            for word, change in kind.edges(found.scope, stream):
                changed = {**levels, **levels_in(change)}
                bindings = {**found.scope.bindings, **change}
                call = draw_call(space, Partial(found.scope.spec, bindings), changed, stream)
                yield Edge(word, changed, call)
        except EvaluationError:
            continue
