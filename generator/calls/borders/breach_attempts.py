"""The calls among which breaches are looked for: valid ones, and what they become with something changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.models.packing_nodes import is_carried
from generator.asking.calls import Call
from generator.asking.validity import find_violations
from generator.calls.borders.input_breaches import (
    UNSAYABLE,
    ChangedCall,
    beyond_types,
    with_other_inputs,
    with_rare_inputs,
)
from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial, levels_in
from generator.calls.solver.solving import CallSearch, Found
from generator.calls.space.drawing import draw_call, draw_outline
from generator.calls.space.space import CallSpace
from generator.calls.variables.kind import Level
from opcert.vocabulary.slots import Slot, slots_of
from opcert.vocabulary.tensors import Tensor
from opcert.vocabulary.value_types import (
    OptionalType,
    SequenceType,
    TensorType,
    ValueType,
    element_type_in,
    holds_map,
)
from specs.language.evaluation import EvaluationError
from specs.model.spec import Constraint, ParameterSpec, Spec
from specs.model.structures import is_structured


def formed_breaches(spec: Spec, call: Call) -> Iterator[Call]:
    """Calls that differ from a valid one in such an input alone; not each of them breaks a rule."""
    structured = {each.name: each for each in spec.inputs if is_structured(spec, each)}
    for slot in slots_of(call.inputs, call.slots):
        parameter = structured.get(slot.name)
        if parameter is None:
            continue
        for changed in _of_slot(call, slot, parameter):
            kinds = [each.type for each in changed.slots if each.type is not None]
            if all(is_carried(spec.operator, each) or holds_map(each) for each in kinds):
                yield changed


def _of_slot(call: Call, slot: Slot, parameter: ParameterSpec) -> Iterator[Call]:
    if parameter.option == "single":
        yield _with_slot(call, slot, Slot(slot.name))
    if not slot.parts or (slot.type is not None and holds_map(slot.type)):
        return
    first = call.inputs[slot.parts[0]][1]
    assert first is not None
    for form in _forms(TensorType(first.element_type)):
        yield _with_slot(call, slot, Slot(slot.name, slot.parts[:1], form))
    yield _with_part(call, slot, np.concatenate([first.array[..., None], first.array[..., None]], axis=-1))
    if first.shape:
        yield _with_part(call, slot, first.array[:0].reshape(0))


def _forms(held: TensorType) -> tuple[ValueType | None, ...]:
    return (None, SequenceType(held), OptionalType(held), OptionalType(SequenceType(held)))


def _with_slot(call: Call, old: Slot, new: Slot) -> Call:
    """The call with one slot exchanged; tensors that no slot has any more go."""
    slots = [new if each == old else each for each in slots_of(call.inputs, call.slots)]
    used = sorted({part for each in slots for part in each.parts})
    places = {part: place for place, part in enumerate(used)}
    moved = tuple(replace(each, parts=tuple(places[part] for part in each.parts)) for each in slots)
    return replace(call, inputs=tuple(call.inputs[part] for part in used), slots=moved)


def _with_part(call: Call, slot: Slot, array: NDArray[Any]) -> Call:
    place = slot.parts[0]
    name, old = call.inputs[place]
    assert old is not None
    kind = old.element_type if slot.type is None else element_type_in(slot.type)
    inputs = [*call.inputs]
    inputs[place] = (name, Tensor(kind, array))
    return replace(call, inputs=tuple(inputs))


BASES = 16
"""Valid calls that rules are broken from."""


class Stage(IntEnum):
    """Where breaches of a rule are looked for, one stage after the other, until one has some."""

    PLAIN = 0
    TYPES = 1
    """Some rules are about certain types alone, which need not be the plainest."""
    ABOUT = 2
    """Some are about calls that are rare."""
    RARE = 3
    """Some are about elements that kinds never propose."""
    SEARCHED = 4


def broken_rules(space: CallSpace, call: Call) -> list[str]:
    """The ids of the rules that a call breaks; none where they cannot be decided."""
    return broken_among(space, call, space.spec.constraints)


def broken_among(space: CallSpace, call: Call, rules: Sequence[Constraint]) -> list[str]:
    try:
        return [each.id for each in find_violations(space.spec, call, rules)]
    except EvaluationError:
        return []


@dataclass(frozen=True)
class Base:
    """A call, and the bindings and levels that it was drawn of."""

    scope: Partial
    levels: Mapping[str, Level]
    call: Call


def base_makers(
    space: CallSpace, stage: Stage, draw: Draw, rules: Mapping[str, Constraint]
) -> list[Callable[[], Base | None]]:
    """What makes each of the valid calls that some rules are broken from at a stage; some make none."""
    if stage is Stage.ABOUT:
        about = [each for each in rules.values() if each.when is not None]
        return [
            partial(_base_about, space, rule, types, draw)
            for rule in about
            for types in (space.plain_types, {})
        ]
    stream = draw if stage is Stage.PLAIN else draw.child(stage.name.lower())
    types = space.plain_types if stage is Stage.PLAIN else {}
    return [partial(_base, space, stream, types, turn) for turn in range(2 * BASES)]


def bases(space: CallSpace, draw: Draw, types: Mapping[str, Level]) -> Iterator[Base]:
    """Valid calls with these levels of types and data; with any, the plainest call first."""
    made = (_base(space, draw, types, turn) for turn in range(2 * BASES))
    return (each for each in made if each is not None)


def _base(space: CallSpace, draw: Draw, types: Mapping[str, Level], turn: int) -> Base | None:
    levels = space.plainest if turn == 0 and types else types
    return valid_base(space, solve_base(space, space.search, levels, draw.child(f"base {turn}")))


def _base_about(space: CallSpace, rule: Constraint, types: Mapping[str, Level], draw: Draw) -> Base | None:
    """A valid call that a rule with a condition is about."""
    about = Constraint(rule.id, None, rule.when, rule.otherwise, None, None, rule.origin)
    search = CallSearch(space.spec, space.variables, [*space.spec.constraints, about])
    return valid_base(space, solve_base(space, search, types, draw.child(f"about {rule.id}")))


def valid_base(space: CallSpace, base: Base | None) -> Base | None:
    return None if base is None or broken_rules(space, base.call) else base


def solve_base(space: CallSpace, search: CallSearch, levels: Mapping[str, Level], draw: Draw) -> Base | None:
    found = search.solve(levels, draw)
    if not isinstance(found, Found):
        return None
    return Base(found.scope, levels, draw_call(space, found.scope, levels, draw))


def proposals(
    space: CallSpace, stage: Stage, base: Base, draw: Draw
) -> Iterator[Callable[[], ChangedCall | None]]:
    """What makes each call of a stage that may break a rule, from a valid one; some make none."""
    if stage is Stage.RARE:
        yield from (partial(_same, each) for each in with_rare_inputs(space, base.call))
        return
    stream = draw.child(base.call.digest(space.spec.operator))
    for kind in space.kinds:
        try:
            for _, change in kind.breaches(base.scope, stream.child(kind.name)):
                yield partial(_with, space, base, change, stream)
        except EvaluationError:
            continue  # this call does not have what the breach is about
    yield from (partial(_same, each) for each in _of_inputs_and_outputs(space, base, stream))


def _same(changed: ChangedCall) -> ChangedCall:
    return changed


def changed_calls(space: CallSpace, base: Base, draw: Draw) -> Iterator[ChangedCall]:
    """Calls that may break a rule, made from a valid one."""
    made = (propose() for propose in proposals(space, Stage.PLAIN, base, draw))
    return (each for each in made if each is not None)


def _of_inputs_and_outputs(space: CallSpace, base: Base, stream: Draw) -> Iterator[ChangedCall]:
    """The call with other inputs, other outputs asked for, or without an attribute that it needs."""
    yield from map(ChangedCall, formed_breaches(space.spec, base.call))
    yield from with_other_inputs(space, base.call, stream)
    if base.call.outputs is not None and any(each.option == "variadic" for each in space.spec.outputs):
        names = base.call.outputs
        for asked in ((*names, f"{names[-1]}_more"), names[:-1]):
            if asked:
                yield ChangedCall(replace(base.call, outputs=asked))
    for name in () if base.call.slots else space.types:
        yield from beyond_types(space, base.call, name.removeprefix("type_"), stream)
    for name, attribute in space.spec.attributes.items():
        if attribute.required:
            yield ChangedCall(base.call.with_attribute(name, None))


def _with(space: CallSpace, base: Base, change: Bindings, draw: Draw) -> ChangedCall | None:
    """The call with values exchanged; None where the operator's version cannot even say it."""
    bindings = {**base.scope.bindings, **change}
    try:
        levels = {**base.levels, **levels_in(change)}
        scope = Partial(base.scope.spec, bindings)
        outline = draw_outline(space, scope, levels, draw)
    except UNSAYABLE:
        return None
    return ChangedCall(outline, lambda: draw_call(space, scope, levels, draw))
