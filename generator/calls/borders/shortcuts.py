"""Valid calls where a runtime may take a shortcut: a default written or left out, one tensor twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from generator.asking.calls import Call
from generator.calls.borders.breach_attempts import broken_rules
from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED, Partial
from generator.calls.solver.solving import Found
from generator.calls.space.drawing import draw_call
from generator.calls.space.space import CallSpace
from generator.calls.variables.kind import Level
from opcert.vocabulary.slots import Slot, slots_of


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
    return replace(call, inputs=inputs, slots=tuple(Slot(each.name, each.parts) for each in behind))
