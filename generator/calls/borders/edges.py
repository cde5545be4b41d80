"""Valid calls at the borders of a space: extents, ranks, lengths around vectors, and the edges of kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from generator.asking.calls import Call
from generator.calls.borders.breach_attempts import broken_rules
from generator.calls.data.draws import Draw
from generator.calls.kinds.quantisation import GRANULARITY
from generator.calls.solver.partial import OMITTED, Bindings, Partial, levels_in
from generator.calls.solver.solving import CallSearch, Found, SearchVariable
from generator.calls.space.drawing import draw_call
from generator.calls.space.space import CallSpace
from generator.calls.variables.extents import ExtentVariable, is_choice
from generator.calls.variables.kind import Level
from generator.calls.variables.vector_lengths import MANY, lengths_around
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.slots import Slot, slots_of
from specs.language.evaluation import EvaluationError
from specs.model.structures import element_types_of


def find_shortcuts(space: CallSpace, equal: Sequence[Call], draw: Draw) -> Iterator[tuple[str, Call]]:
    """Calls with a word for each, made of a plain one; not all of them keep every rule.

    `equal` are calls whose extents are all equal: two inputs have one shape there that else have two.
    """
    solved = plain_call(space, draw)
    if solved is None:
        return
    levels, found = solved
    for name, attribute in space.spec.attributes.items():
        if attribute.has_default and not attribute.required:
            at_default = _with_and_without(space, found.scope, name, levels, draw)
            if all(broken_rules(space, call) for _, call in at_default):
                at_default = _solved_without(space, name, draw.child(f"without {name}"))
            yield from at_default
    plain = draw_call(space, found.scope, levels, draw)
    for call in (plain, *equal):
        twice = _with_one_tensor_twice(call)
        if twice is not None:
            yield "one_tensor_twice", twice
            return


def plain_call(space: CallSpace, draw: Draw) -> tuple[Mapping[str, Level], Found] | None:
    """A call in which nothing in particular is asked for, and its levels; None where there is none."""
    for levels in space.plain_calls:
        found = space.search.solve(levels, draw)
        if isinstance(found, Found):
            return levels, found
    return None


def _with_and_without(
    space: CallSpace, scope: Partial, name: str, levels: Mapping[str, Level], draw: Draw
) -> list[tuple[str, Call]]:
    """The call with an attribute written at its default, and with it left out."""
    found = []
    for word, value in (("written", space.spec.attributes[name].default), ("left_out", None)):
        bindings = {**scope.bindings, name: value}
        call = draw_call(space, Partial(scope.spec, bindings), levels, draw)
        found.append((f"default_of_{name}_{word}", call))
    return found


def _solved_without(space: CallSpace, name: str, draw: Draw) -> list[tuple[str, Call]]:
    """The same of a call that is solved without the attribute, where shapes of another value do not fit."""
    for chosen in _levels_that_leave_out(space, name):
        for plain in space.plain_calls:
            levels = {**plain, **chosen}
            found = space.search.solve(levels, draw)
            if isinstance(found, Found):
                calls = _with_and_without(space, found.scope, name, levels, draw)
                if not any(broken_rules(space, call) for _, call in calls):
                    return calls
    return []


def _levels_that_leave_out(space: CallSpace, name: str) -> Iterator[Mapping[str, Level]]:
    """The level that says so; where there is none, each one of the kind that says what the attribute is."""
    if name in space.factors:
        yield from ({name: OMITTED} for level in space.factors[name] if level == OMITTED)
        return
    for kind in space.kinds:
        if name in kind.covers:
            for factor, levels in kind.factors().items():
                yield from ({factor: level} for level in levels)


def _with_one_tensor_twice(call: Call) -> Call | None:
    """The call in which two inputs of one type and shape are the same tensor; None where it has no two."""
    if call.slots:
        return None
    given = [(place, tensor) for place, (_, tensor) in enumerate(call.inputs) if tensor is not None]
    for at, (first, tensor) in enumerate(given):
        for other, candidate in given[at + 1 :]:
            if (candidate.element_type, candidate.shape) == (tensor.element_type, tensor.shape):
                return _shared(call, first, other)
    return None


def _shared(call: Call, first: int, other: int) -> Call:
    """The call without the input at `other`, whose slot is the tensor at `first`."""
    slots = [
        replace(slot, parts=tuple((first if part == other else part) for part in slot.parts))
        for slot in slots_of(call.inputs, call.slots)
    ]
    behind = [replace(slot, parts=tuple(part - (part > other) for part in slot.parts)) for slot in slots]
    inputs = (*call.inputs[:other], *call.inputs[other + 1 :])
    return replace(call, inputs=inputs, slots=tuple(Slot(slot.name, slot.parts) for slot in behind))


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
    equal = [extent.call for extent in extents if extent.word == EQUAL_EXTENTS]
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
    extents = [variable.name for variable in space.variables if variable.name in _extents(space)]
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
    for factor, level in _other_shapes(space):
        yield from _solved(space, f"{EQUAL_EXTENTS}_{factor}_{level}", {**ranks, factor: level}, equal, draw)
    for length in vector_lengths(space):
        yield from _of_length(space, length, packs, extents, draw)


def _other_shapes(space: CallSpace) -> Iterator[tuple[str, Level]]:
    """The levels at which inputs differ in shape: one lies along an axis, and another is as long."""
    for factor, levels in space.factors.items():
        if is_choice(factor) or factor == GRANULARITY:
            for level in levels:
                if level not in (space.plainest[factor], "scalar"):
                    yield factor, level


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
            else min(int(factor) for factor in space.factors[f"rank_{pack}"] if int(factor) > 0)
        )
        levels, word = {f"rank_{pack}": rank}, f"length_{length}"
        fixed: dict[str, object] = {pack: [1] * (rank - 1) + [length]}
        others = list(extents)
    elif extents:
        word, fixed = f"{extents[-1]}_{length}", {extents[-1]: length}
        others = list(extents[:-1])
    else:
        return
    costly = any(kind.most_elements is not None for kind in space.kinds)
    beside = [2] if costly and packs else [None, 2, 1]
    for short in beside if length == MANY else [None]:
        shortened = {} if short is None else dict.fromkeys(others, short)
        found = list(_solved(space, word, levels, fixed | shortened, draw))
        if found:
            yield from found
            return


def _rank_near_two(space: CallSpace, pack: str) -> int:
    return min(
        (int(factor) for factor in space.factors[f"rank_{pack}"]), key=lambda rank: (abs(rank - 2), rank)
    )


def vector_lengths(space: CallSpace) -> list[int]:
    """One shorter than, as long as, and one longer than a vector of the first type, and one long length."""
    types = element_types_of(space.spec, space.data[0]) if space.data else ()
    known = [ELEMENT_TYPES[each] for each in types if each in ELEMENT_TYPES and ELEMENT_TYPES[each].bits]
    first = next((dtype for dtype in known if dtype.name == "float"), known[0] if known else None)
    return lengths_around(None if first is None else first.bits)


def _extents(space: CallSpace) -> set[str]:
    """The names of extents that are chosen for themselves."""
    return {variable.name for variable in space.variables if isinstance(variable.candidates, ExtentVariable)}


def _solved(
    space: CallSpace, word: str, levels: Mapping[str, Level], fixed: Bindings, draw: Draw
) -> Iterator[Edge]:
    """A plain call with these bindings, where there is one; levels that do not fit are left free."""
    variables = [*_asked_of_kinds(space, fixed), *(_fixed(variable, fixed) for variable in space.variables)]
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
    by_kinds = {name for kind in space.kinds for name in kind.binds}
    for name, value in fixed.items():
        if name in by_kinds or f"shapes:{name}" in by_kinds:
            asked = f"given:{name}"
            yield SearchVariable(asked, frozenset({asked}), frozenset(), _only(asked, value))


def _only(name: str, value: object) -> Callable[[Partial, Draw], Iterator[Bindings]]:
    return lambda _scope, _draw: iter([{name: value}])


def _size(scope: Partial) -> int:
    bound = [binding for name, binding in scope.bindings.items() if name.startswith("shape:")]
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
