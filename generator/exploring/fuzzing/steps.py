"""Random steps from one call to another, beyond the factors' levels."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.asking.calls import Call
from generator.calls.data.data import data_classes, fill
from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.space.drawing import value_tensor
from generator.exploring.shrinking.element_changes import converted, has_numbers
from generator.exploring.shrinking.known_space import CallValidity
from generator.exploring.shrinking.shape_changes import (
    change_entry,
    lengths,
    remove,
    renumbered,
    repeat,
    with_axis,
    without_axis,
)
from opcert.vocabulary.attributes import Attribute, attribute
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.tensors import Tensor
from reference.numbers.numbers import encode
from specs.language.evaluation import EvaluationError
from specs.model.spec import AttributeSpec

Step = Callable[[Draw, CallValidity, Call], Call | None]
LONGEST_AXIS = 9
MOST_ELEMENTS = 400
"""Elements that a step may give the first input."""


def take_step(draw: Draw, space: CallValidity, call: Call) -> Call | None:
    """One random change of a call; None where what was drawn changes nothing here."""
    steps = (*_STEPS, drawn_anew, drawn_anew) if space.levels.space.kinds else _STEPS
    return draw.choice(steps)(draw, space, call)


def drawn_anew(draw: Draw, space: CallValidity, call: Call) -> Call | None:
    """The call with the values of one of its kinds drawn anew, at any levels; None where it has none."""
    known = [each for each in space.levels.space.kinds if each.covers]
    if not known or call.slots:
        return None
    kind = draw.choice(known)
    levels = {name: draw.choice(levels) for name, levels in kind.factors().items()}
    try:
        found = next(iter(kind.candidates(levels, _scope_of(space, call), draw.child("values"))), None)
        return None if found is None else _with_values(space, call, found)
    except (EvaluationError, ValueError, IndexError, TypeError, ArithmeticError):
        return None  # what the kind needs, a call that was changed before may lack


def _scope_of(space: CallValidity, call: Call) -> Partial:
    """What a call binds: its attributes, the values of inputs that a kind gives, and the shapes of inputs."""
    covered = {name for kind in space.levels.space.kinds for name in kind.covers}
    bound: dict[str, Any] = {
        name: (given.value if given is not None else None)
        for name in space.spec.attributes
        for given in [call.attributes.get(name)]
    }
    bound = {name: list(each) if isinstance(each, tuple) else each for name, each in bound.items()}
    for name, given in call.inputs:
        bound[f"shape:{name}"] = None if given is None else given.shape
        if name in covered:
            bound[name] = None if given is None else given.array.tolist()
    for parameter in space.spec.inputs:
        if parameter.name in covered:
            bound.setdefault(parameter.name, None)
    return Partial(space.spec, bound)


def _with_values(space: CallValidity, call: Call, values: Bindings) -> Call | None:
    """The call with other values of attributes and inputs; None where it lacks an input that gets one."""
    given = dict(call.inputs)
    for name, value in values.items():
        known = space.spec.attributes.get(name)
        if known is not None and known.kind is not None:
            plain = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
            call = call.with_attribute(name, None if value is None else attribute(known.kind, plain))
        elif name in given:
            tensor = given[name]
            if value is None:
                call = call.with_input(name, None)
            elif tensor is None:
                return None
            else:
                call = call.with_input(name, _as_tensor(value, tensor))
    return call


def _as_tensor(value: Any, like: Tensor) -> Tensor:
    if isinstance(value, Tensor):
        return value
    array = np.asarray(value)
    if array.size == like.array.size and not array.ndim:
        array = array.reshape(like.shape)
    return value_tensor(array, like.element_type)


def _set_attribute(draw: Draw, space: CallValidity, call: Call) -> Call | None:
    known = [each for each in space.spec.attributes.values() if each.kind is not None]
    if not known:
        return None
    chosen = draw.choice(known)
    value = random_attribute(draw, space, chosen, space.value_of(call, chosen.name))
    return call.with_attribute(chosen.name, value)


def _leave_out(draw: Draw, space: CallValidity, call: Call) -> Call | None:
    """An attribute or an optional input less."""
    optional = [parameter.name for parameter in space.spec.inputs if parameter.option == "optional"]
    names = [
        *call.attributes,
        *(name for name, tensor in call.inputs if tensor is not None and name in optional),
    ]
    if not names:
        return None
    name = draw.choice(names)
    return call.with_attribute(name, None) if name in call.attributes else call.with_input(name, None)


def _set_elements(draw: Draw, _space: CallValidity, call: Call) -> Call | None:
    """Some elements of an input; behind the first input they are likely to be amounts."""
    found = {name: tensor for name, tensor in call.inputs if tensor is not None and tensor.array.size}
    if not found:
        return None
    name, given = draw.choice(list(found.items()))
    made = random_element if name == call.first[0] else random_amount
    array = given.array.copy()
    for place in draw.numbers(0, array.size - 1, draw.integer(1, 3)):
        array.reshape(-1)[place : place + 1] = made(draw, given.element_type)
    return call.with_input(name, Tensor(given.element_type, array))


def _refill(draw: Draw, _space: CallValidity, call: Call) -> Call | None:
    name, given = call.first
    return None if given is None else call.with_input(name, _filled(draw, given, given.shape))


def _set_extent(draw: Draw, _space: CallValidity, call: Call) -> Call | None:
    name, given = call.first
    if given is None or not given.shape:
        return None
    axis = draw.integer(0, len(given.shape) - 1)
    shape = list(given.shape)
    shape[axis] = draw.integer(0, LONGEST_AXIS)
    if math.prod(shape) > MOST_ELEMENTS:
        return None
    return call.with_input(name, _filled(draw, given, tuple(shape)))


def _filled(draw: Draw, given: Tensor, shape: tuple[int, ...]) -> Tensor:
    data_class = draw.choice(data_classes(given.element_type))
    return fill(given.element_type, shape, data_class, draw.child("data"))


def _set_type(draw: Draw, space: CallValidity, call: Call) -> Call | None:
    """Another element type for an input and all that share it: new data first, converted numbers else."""
    chosen, given = draw.choice(call.inputs) if call.inputs else call.first
    if given is None:
        return None
    parameter = next(each for each in space.spec.inputs if each.name == chosen)
    wanted = ELEMENT_TYPES[draw.choice([*space.spec.types_of(parameter), "int32", "int64", "float"])]
    for name in space.same_type(parameter):
        each = dict(call.inputs).get(name)
        if each is None:
            continue
        if chosen != call.first[0] and has_numbers(each):
            call = call.with_input(name, converted(each, wanted))
        else:
            data_class = draw.choice(data_classes(wanted))
            call = call.with_input(name, fill(wanted, each.shape, data_class, draw.child(name)))
    return call


def _change_lists(draw: Draw, _space: CallValidity, call: Call) -> Call | None:
    """An entry more or less in every list of one length, and often an axis more or less to go with it."""
    given = call.first[1]
    if given is None:
        return None
    rank, known = len(given.shape), lengths(call)
    fewer = draw.choice((True, False))
    index = draw.integer(0, max([rank, *known]) - 1) if rank or known else 0
    if draw.choice((True, False)) and rank - fewer >= 0:
        axis = draw.integer(0, rank - fewer)
        numbered = list(renumbered(call, axis, rank)) if fewer and draw.choice((True, False)) else []
        call = numbered[0] if numbered else call
        call = without_axis(call, axis) if fewer else with_axis(call, axis)
    if known:
        length = draw.choice(known)
        if index < length:
            call = change_entry(call, length, index, remove if fewer else repeat)
    return call


_STEPS: tuple[Step, ...] = (
    _set_attribute,
    _set_elements,
    _set_elements,
    _leave_out,
    _refill,
    _set_extent,
    _set_extent,
    _set_type,
    _change_lists,
)


ENDS = (2**31 - 1, 2**31, 2**62, 2**63 - 1, -(2**31), -(2**63))
"""Whole numbers at which narrower arithmetic overflows."""
_WORDS = ("", "other", "NEAREST", "\N{BULLET}")
_FACTORS = (0.5, 1.0, 2.0, 1.5, 0.25, 3.0, 1 / 3, 0.75, 0.6, 1.2, 2.5)
_LONGEST_LIST = 5
_LONGEST_TEXT = 4
_FRACTION = 16
_CHARACTERS = 0xD800
"""Characters below the surrogates, which no text has alone."""


def random_element(draw: Draw, kind: ElementType) -> NDArray[Any]:
    """One element, as an array of one in the type's storage."""
    if kind.kind == "bool":
        return np.array([draw.integer(0, 1) == 1])
    if kind.kind == "string":
        found = np.empty(1, dtype=np.object_)
        found[0] = random_text(draw).encode()
        return found
    if kind.kind == "complex":
        parts = [random_element(draw, kind.component) for _ in range(2)]
        return np.concatenate(parts).view(kind.storage)
    if kind.is_integer:
        low, high = kind.integer_range
        ranges = ((max(low, -3), min(high, 9)), (low, high), (low, low), (high, high))
        return np.array([draw.integer(*draw.choice(ranges))], dtype=kind.storage)
    if not _rounds(kind):
        return np.array([draw.integer(0, (1 << kind.bits) - 1)], dtype=kind.storage)
    near = draw.choice((True, False, False))
    return encode(kind, [float(draw.integer(-9, 9)) if near else random_float(draw, _width(kind))])


def random_amount(draw: Draw, kind: ElementType) -> NDArray[Any]:
    """One number of a list that says how much, as `random_element`: lengths, scales, pads, blocks."""
    if kind.is_integer:
        low, high = kind.integer_range
        ends = [end for end in ENDS if low <= end <= high] or [low, high]
        near = draw.integer(max(low, -3), min(high, 9))
        return np.array([draw.choice((near, draw.choice(ends)))], dtype=kind.storage)
    if kind.is_float and _rounds(kind):
        numbers = (draw.choice(_FACTORS), _fraction(draw, -1, 4), random_float(draw, 16))
        return encode(kind, [draw.choice(numbers)])
    return random_element(draw, kind)


def random_attribute(draw: Draw, space: CallValidity, known: AttributeSpec, now: Any) -> Attribute:
    """A value for an attribute; `now` is the one that it has."""
    assert known.kind is not None
    kind = known.kind.removesuffix("s")
    levels = next((factor.levels for factor in space.spec.factors if factor.name == known.name), ())
    named = (*(known.allowed or ()), *(level for level in levels if level != OMITTED))
    listed = [value for value in named if _suits(value, kind)]
    if kind == known.kind:
        return Attribute(kind, _random_item(draw, kind, listed))
    items = list(now) if isinstance(now, list | tuple) else []
    how = draw.choice(("new", "turned", "one new") if items else ("new", "turned"))
    if how == "new":
        items = [_random_item(draw, kind, listed) for _ in range(draw.integer(0, _LONGEST_LIST))]
    elif how == "turned":
        items = draw.shuffled(items)
    else:
        items[draw.integer(0, len(items) - 1)] = _random_item(draw, kind, listed)
    return Attribute(known.kind, tuple(items))


def _random_item(draw: Draw, kind: str, listed: list[Any]) -> Any:
    if kind == "string":
        return draw.choice([*listed, *_WORDS])
    near: list[Any] = [draw.choice(listed)] if listed else []
    if kind == "int":
        return draw.choice([*near, draw.integer(-3, 9), draw.choice(ENDS)])
    single = [_single(each) for each in near]
    return draw.choice([*single, _fraction(draw, -4, 4), random_float(draw, 32)])


def _suits(value: Any, kind: str) -> bool:
    wanted = {"int": int, "float": int | float, "string": str}[kind]
    return isinstance(value, wanted) and not isinstance(value, bool)


def _single(value: float) -> float:
    """The nearest float32: attributes have no more."""
    return value if math.isnan(value) else float(np.float32(value))


def _fraction(draw: Draw, low: int, high: int) -> float:
    """A sixteenth between two whole numbers, which every floating-point type of 16 bits and more has."""
    return draw.integer(low * _FRACTION, high * _FRACTION) / _FRACTION


def random_float(draw: Draw, width: int) -> float:
    """Any number of a width of 16, 32 or 64 bits, NaN and infinities included; its corners more often."""
    kind = {16: np.float16, 32: np.float32, 64: np.float64}[width]
    if draw.integer(0, 1):
        return draw.choice(_corners(kind))
    return float(np.array(draw.integer(0, (1 << width) - 1), f"uint{width}").view(kind))


@cache
def _corners(kind: Any) -> tuple[float, ...]:
    known = np.finfo(kind)
    near = (1.0, known.max, known.tiny, known.smallest_subnormal, known.eps, kind(1 + known.eps), kind(0.1))
    return (math.nan, *(float(sign * size) for size in (0.0, math.inf, *near) for sign in (1, -1)))


def _rounds(kind: ElementType) -> bool:
    """Whether every float has a nearest element: not where NaN, or zero and signs, have none."""
    return kind.layout is not None and kind.layout.nan != "none"


def _width(kind: ElementType) -> int:
    """The width whose floats reach every corner of the type."""
    return 64 if kind.bits == 64 else 16 if kind.name == "float16" else 32


def random_text(draw: Draw) -> str:
    """A text of a few characters: of ASCII, or of any that two bytes hold."""
    most = [draw.choice((127, _CHARACTERS - 1)) for _ in range(draw.integer(0, _LONGEST_TEXT))]
    return "".join(chr(draw.integer(0, each)) for each in most)
