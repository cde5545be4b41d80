"""The calls among which breaches are looked for: valid ones, and what they become with something changed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.models.packing_nodes import is_carried
from generator.asking.calls import Call
from generator.asking.validity import find_violations
from generator.calls.data.data import fill
from generator.calls.data.draws import Draw
from generator.calls.data.floats import not_numbers
from generator.calls.solver.partial import Bindings, Partial, levels_in
from generator.calls.solver.solving import CallSearch, Found
from generator.calls.space.drawing import draw_call, value_tensor
from generator.calls.space.space import CallSpace
from generator.calls.variables.kind import Level
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.slots import Slot, check_slots, slots_of
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

FARTHER = 6
"""What is added to an extent of 1, which one more would make broadcast."""
OTHER_TYPES = ("string", "bool", "double", "int32", "float", "int64", "complex64")
OTHER_INTEGERS = ("int16", "uint64", "float", "int32", "int64", "string")
"""Types to give an input that has to be an integer: those that a runtime may take without a look first."""
MOST_TYPES = 3
UNSAYABLE = (EvaluationError, ValueError, OverflowError, TypeError)
"""What is raised where an operator's version cannot say a call."""


def with_other_inputs(space: CallSpace, call: Call, draw: Draw) -> Iterator[Call]:
    """The call with one of its tensors in another shape or type, or left out."""
    return filter(_is_sayable, _with_other_inputs(space, call, draw))


def _with_other_inputs(space: CallSpace, call: Call, draw: Draw) -> Iterator[Call]:
    for place, (name, tensor) in enumerate(call.inputs):
        parameter = _parameter(space, name)
        if tensor is None or parameter is None or is_structured(space.spec, parameter):
            continue
        for other in _other_shapes(space, tensor, draw):
            yield _exchanged(call, place, other)
        for other_type in _other_types(space, parameter, tensor):
            yield _retyped(call, {place}, other_type, draw)
        if parameter.option == "single":
            yield _exchanged(call, place, None)


def with_rare_inputs(space: CallSpace, call: Call) -> Iterator[Call]:
    """The call with an input that has no elements along an axis, or begins with NaN or an infinity."""
    for place, (name, tensor) in enumerate(call.inputs):
        parameter = _parameter(space, name)
        if tensor is None or parameter is None or is_structured(space.spec, parameter):
            continue
        for axis in range(len(tensor.shape)):
            yield _exchanged(call, place, Tensor(tensor.element_type, tensor.array.take([], axis)))
        kind = tensor.element_type
        if kind.layout is not None and tensor.array.size:
            for code in not_numbers(kind):
                codes = np.array(tensor.array)
                codes.reshape(-1)[0] = np.array(code, dtype=f"u{codes.itemsize}").view(codes.dtype)
                yield _exchanged(call, place, Tensor(kind, codes))


def _parameter(space: CallSpace, name: str) -> ParameterSpec | None:
    return next((parameter for parameter in space.spec.inputs if parameter.name == name), None)


def _exchanged(call: Call, place: int, tensor: Tensor | None) -> Call:
    inputs = list(call.inputs)
    inputs[place] = (inputs[place][0], tensor)
    left_out = (place,) if tensor is None else ()
    slots = tuple(
        replace(slot, parts=()) if slot.type is None and slot.parts == left_out else slot
        for slot in call.slots
    )
    return replace(call, inputs=tuple(inputs), slots=slots)


def _is_sayable(call: Call) -> bool:
    """Whether a case can say the call: no sequence has tensors of several types, or lacks one."""
    try:
        check_slots(call.inputs, call.slots)
    except UserError:
        return False
    return True


def _other_shapes(space: CallSpace, tensor: Tensor, draw: Draw) -> Iterator[Tensor]:
    """The tensor with one extent more, and with one axis more or fewer."""
    if space.spec.declared is None or not space.spec.declared.shapes:
        return
    shape = tensor.shape
    for axis in reversed(range(len(shape))):
        longer = shape[axis] + (FARTHER if shape[axis] == 1 else 1)
        yield _resized(tensor, (*shape[:axis], longer, *shape[axis + 1 :]), draw)
    yield _resized(tensor, (*shape, 1), draw)
    yield _resized(tensor, (*shape, 2), draw)
    if shape:
        yield _resized(tensor, shape[1:], draw)


def _resized(tensor: Tensor, shape: Sequence[int], draw: Draw) -> Tensor:
    if not tensor.array.size:
        return fill(tensor.element_type, shape, "random", draw.child(str(shape)))
    return Tensor(tensor.element_type, np.resize(tensor.array, tuple(shape)))


def _other_types(space: CallSpace, parameter: ParameterSpec, tensor: Tensor) -> Iterator[str]:
    """A type that the input may not have, and one that other inputs of its type do not have."""
    allowed = space.spec.types_of(parameter)
    if allowed:
        yield from beyond_allowed(allowed)[:1]
    yield from [each for each in allowed if each != tensor.element_type.name and each in ELEMENT_TYPES][:1]


def beyond_types(space: CallSpace, call: Call, variable: str, draw: Draw) -> Iterator[Call]:
    """The call with all inputs of a type variable in a type that it does not allow."""
    of_variable = {parameter.name for parameter in space.spec.inputs if parameter.type == variable}
    places = {place for place, (name, _) in enumerate(call.inputs) if name in of_variable}
    for name in beyond_allowed(space.spec.type_constraints[variable].types)[:MOST_TYPES]:
        yield _retyped(call, places, name, draw)


def _retyped(call: Call, places: Collection[int], name: str, draw: Draw) -> Call:
    """The call with some of its tensors in another type."""
    inputs = (
        (each, _in_type(tensor, name, draw) if place in places and tensor is not None else tensor)
        for place, (each, tensor) in enumerate(call.inputs)
    )
    return call.with_tensors(tuple(inputs))


def beyond_allowed(allowed: Sequence[str]) -> list[str]:
    """Types that are not among those allowed, those first that are most easily taken for one."""
    integers = all(each in ELEMENT_TYPES and ELEMENT_TYPES[each].is_integer for each in allowed)
    return [
        other_integer
        for other_integer in (OTHER_INTEGERS if integers else OTHER_TYPES)
        if other_integer not in allowed
    ]


def _in_type(tensor: Tensor, name: str, draw: Draw) -> Tensor:
    """The tensor in another type: the same numbers where it has them, so that nothing else is changed.

    Other numbers are drawn.
    """
    kind = ELEMENT_TYPES[name]
    if tensor.element_type.is_integer and kind.kind not in ("string", "bool", "complex"):
        same = value_tensor(tensor.array, kind)
        if same.array.tolist() == tensor.array.tolist():
            return same
    return fill(kind, tensor.shape, "random", draw.child(name))


def formed_breaches(spec: Spec, call: Call) -> Iterator[Call]:
    """Calls that differ from a valid one in such an input alone; not each of them breaks a rule."""
    structured = {each.name: each for each in spec.inputs if is_structured(spec, each)}
    for slot in slots_of(call.inputs, call.slots):
        parameter = structured.get(slot.name)
        if parameter is None:
            continue
        for changed in _of_slot(call, slot, parameter):
            kinds = [slot.type for slot in changed.slots if slot.type is not None]
            if all(is_carried(spec.operator, kind) or holds_map(kind) for kind in kinds):
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
    slots = [new if slot == old else slot for slot in slots_of(call.inputs, call.slots)]
    used = sorted({part for slot in slots for part in slot.parts})
    places = {part: place for place, part in enumerate(used)}
    moved = tuple(replace(slot, parts=tuple(places[part] for part in slot.parts)) for slot in slots)
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


class Stage(Enum):
    """Where breaches of a rule are looked for, one stage after the other, until one has some."""

    PLAIN = 0
    TYPES = 1
    """Some rules are about certain types alone, which need not be the plainest."""
    ABOUT = 2
    """Some are about calls that are rare."""
    RARE = 3
    """Some are about elements that kinds never propose."""


def broken_rules(space: CallSpace, call: Call) -> list[str]:
    """The ids of the rules that a call breaks; none where they cannot be decided."""
    try:
        return [violation.id for violation in find_violations(space.spec, call)]
    except EvaluationError:
        return []


@dataclass(frozen=True)
class Base:
    """A call, and the bindings and levels that it was drawn of."""

    scope: Partial
    levels: Mapping[str, Level]
    call: Call


def bases_of(space: CallSpace, stage: Stage, draw: Draw, rules: Mapping[str, Constraint]) -> Iterator[Base]:
    """The valid calls that some rules are broken from at a stage."""
    if stage is Stage.ABOUT:
        about = (rule for rule in rules.values() if rule.when is not None)
        ways = product(about, (space.plain_types, {}))
        made = (_base_about(space, rule, types, draw) for rule, types in ways)
        return (base for base in made if base is not None)
    if stage is Stage.PLAIN:
        return bases(space, draw, space.plain_types)
    return bases(space, draw.child(stage.name.lower()), {})


def bases(space: CallSpace, draw: Draw, types: Mapping[str, Level]) -> Iterator[Base]:
    """Valid calls with these levels of types and data; with any, the plainest call first."""
    made = (_base(space, draw, types, turn) for turn in range(2 * BASES))
    return (base for base in made if base is not None)


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


def changed_calls(space: CallSpace, base: Base, draw: Draw, stage: Stage = Stage.PLAIN) -> Iterator[Call]:
    """Calls of a stage that may break a rule, made from a valid one."""
    if stage is Stage.RARE:
        yield from with_rare_inputs(space, base.call)
        return
    stream = draw.child(base.call.digest(space.spec.operator))
    for kind in space.kinds:
        # A call may not have what the breach is about.
        with suppress(EvaluationError):
            for _, change in kind.breaches(base.scope, stream.child(kind.name)):
                changed = _with(space, base, change, stream)
                if changed is not None:
                    yield changed
    yield from _of_inputs_and_outputs(space, base, stream)


def _of_inputs_and_outputs(space: CallSpace, base: Base, stream: Draw) -> Iterator[Call]:
    """The call with other inputs, other outputs asked for, or without an attribute that it needs."""
    yield from formed_breaches(space.spec, base.call)
    yield from with_other_inputs(space, base.call, stream)
    if base.call.outputs is not None and any(output.option == "variadic" for output in space.spec.outputs):
        names = base.call.outputs
        for asked in ((*names, f"{names[-1]}_more"), names[:-1]):
            if asked:
                yield replace(base.call, outputs=asked)
    for name in () if base.call.slots else space.types:
        yield from beyond_types(space, base.call, name.removeprefix("type_"), stream)
    for name, attribute in space.spec.attributes.items():
        if attribute.required:
            yield base.call.with_attribute(name, None)


def _with(space: CallSpace, base: Base, change: Bindings, draw: Draw) -> Call | None:
    """The call with values exchanged; None where the operator's version cannot even say it."""
    scope = Partial(base.scope.spec, {**base.scope.bindings, **change})
    try:
        return draw_call(space, scope, {**base.levels, **levels_in(change)}, draw)
    except UNSAYABLE:
        return None
