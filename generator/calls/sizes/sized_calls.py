"""The call of a plan with data of which every element along the long axis shows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from generator.asking.calls import Call
from generator.calls.data.data import fill
from generator.calls.data.draws import Draw
from generator.calls.sizes.plan import SizePlan
from generator.calls.sizes.roles import Roles
from generator.calls.sizes.sharp_data import bits_that_add_exactly, near_one, sharp, signs_alone, spread_ends
from generator.calls.sizes.solved_sizes import Solved, solved
from generator.calls.space.space import CallSpace
from generator.calls.variables.data_levels import DATA
from generator.calls.variables.kind import Level
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from reference.numbers.numbers import encode
from specs.language.evaluation import EvaluationError
from specs.language.shape_expressions import Shape, evaluate_part

_Style = Callable[[Tensor, Draw], Tensor]
_SUMS = "accumulation_type"
_ORDERS = "nan_in_max_min"
_TYPES = ("double", "float16", "int32", "bfloat16", "int64", "uint8", "int8")
"""Types beside float, one in every third call."""
_TURNS = 4
"""Times that data is drawn: sums that are exact and sums that round in turn."""
_MOST_BITS = 4
"""Bits of numbers that stand in large tensors: few values, which are kept in few bytes."""
_SMALLER = 3
"""Weights of several sums behind each other are smaller by so many powers of two: no gate is all but shut."""
_FEW = 7
"""Values of data in which many elements are equal."""


@dataclass(frozen=True)
class Sized:
    """A call, its levels, and the axes of inputs along which each element must show: input, axis."""

    levels: Mapping[str, Level]
    call: Call
    along: tuple[tuple[str, int], ...] = ()


def sized_calls(
    space: CallSpace, roles: Roles, readings: Mapping[str, object], plan: SizePlan, place: int, draw: Draw
) -> Iterator[Sized]:
    """Calls of a plan, each with other data, the likeliest to be sharp first; none where it has no call."""
    own = types_in_turn(space, roles, place)
    plan = replace(plan, levels={**own, **_data(space, readings), **plan.levels})
    for flags in dict.fromkeys((0,) if plan.alone else (place, 0)):
        found = solved(space, plan, 0 if plan.alone else place, draw.child(str(flags)), flags=flags)
        if found is not None:
            turns = _TURNS if flags == 0 else _TURNS // 2
            stream = draw.child(f"data {flags}")
            yield from _with_data(space, roles, readings, plan, place, found, stream, turns)


def _with_data(
    space: CallSpace,
    roles: Roles,
    readings: Mapping[str, object],
    plan: SizePlan,
    place: int,
    found: Solved,
    draw: Draw,
    turns: int,
) -> Iterator[Sized]:
    if plan.specials:
        yield Sized(found.levels, _with_specials(found.call))
        return
    multiplies = bool(roles.inner) or any(kind.summed_by is not None for kind in space.kinds)
    if _SUMS in readings and multiplies:
        along = _axes_of_products(space, roles, plan, found)
        terms = _terms(roles, found, along)
        for turn in range(turns):
            stream = draw.child(f"{plan.word} products {turn}")
            call = _multiplied(space, roles, found, terms, place + turn, stream)
            yield Sized(found.levels, call, along)
        return
    along = _axis(roles, found)
    if not along or (_SUMS in readings and _ORDERS not in readings):
        if along:
            for style in (_sharp_sums, _near_ones, _signs):
                yield Sized(found.levels, _first_by(space, found.call, style, draw.child(plan.word)), along)
        else:
            yield Sized(found.levels, found.call)
        return
    yield Sized(found.levels, _selected(space, found.call, along, place, draw.child(plan.word)))


def types_in_turn(space: CallSpace, roles: Roles, place: int) -> Mapping[str, Level]:
    """Float, and in every third call another type, each in turn; where there is no float, all in turn."""
    found: dict[str, Level] = {}
    for at, name in enumerate(space.types):
        listed = space.factors[name]
        others = [each for each in _TYPES if each in listed]
        if "float" not in listed:
            found[name] = listed[(place >> at) % len(listed)] if len(listed) <= 4 else listed[0]
        elif at == 0 and others and place % 3 == 2 and len(roles.inner) < 2:
            found[name] = others[place // 3 % len(others)]
    return found


def _data(space: CallSpace, readings: Mapping[str, object]) -> Mapping[str, Level]:
    wanted = "random" if _SUMS in readings else "distinct"
    return {DATA: wanted} if wanted in space.factors.get(DATA, ()) else {}


def _axes_of_products(
    space: CallSpace, roles: Roles, plan: SizePlan, found: Solved
) -> tuple[tuple[str, int], ...]:
    """Where inputs have the extents that are summed over, in the first input that has each.

    Where several are, it is the long one alone; none of a plan whose mechanism may hide elements.
    """
    axes: list[tuple[str, int]] = []
    for name in () if plan.alone else roles.inner:
        if name not in plan.fixed or plan.along not in (None, name):
            continue
        for given, shape in space.spec.shapes.items():
            at = _place_of(name, shape, found)
            if at is not None and given in {parameter.name for parameter in space.data}:
                axes.append((given, at))
                break
    return tuple(axes)


def _place_of(name: str, shape: Shape, found: Solved) -> int | None:
    """The axis of an extent that a shape has as it is, counted from the front."""
    try:
        parts = shape.chosen(found.scope)
        at = 0
        for place, part in enumerate(parts):
            if part.expression is not None and part.expression.text == name:
                behind = len(parts) - place - 1
                return -1 - behind if any(part.several for part in parts[:place]) else at
            if part.word is None:
                at += len(evaluate_part(part, found.scope))
            else:
                at += 1
    except EvaluationError:
        return None
    return None


def _terms(roles: Roles, found: Solved, along: tuple[tuple[str, int], ...]) -> int:
    """How many products a sum has, at most: lengths of axes that are summed over, and of windows."""
    shapes = {name: tensor.shape for name, tensor in found.call.inputs if tensor is not None}
    lengths = [shapes[name][axis] for name, axis in along if name in shapes]
    kernel = found.scope.bindings[roles.window.kernel.text] if roles.window is not None else ()
    return prod(lengths) * prod(kernel) if lengths else max(map(prod, shapes.values()), default=1)


def _multiplied(space: CallSpace, roles: Roles, found: Solved, terms: int, place: int, draw: Draw) -> Call:
    """With factors whose sums are exact, or, in every other, with one factor of all bits of its type."""
    call, names = found.call, {parameter.name for parameter in space.data}
    drawn = {
        slot: given
        for slot, (name, given) in enumerate(call.inputs)
        if given is not None and name in names and given.array.size > 1
    }
    full = min(drawn, key=lambda slot: drawn[slot].array.size, default=None) if place % 2 else None
    made = list(call.inputs)
    for slot, given in drawn.items():
        kind = given.element_type
        bits = min(bits_that_add_exactly(kind, terms), _MOST_BITS)
        if slot == full and kind.layout is not None:
            bits = kind.layout.precision
        smaller = _SMALLER if slot and len(roles.inner) > 1 else 0
        values = sharp(kind, given.shape, bits, draw.child(str(slot)), smaller)
        name = call.inputs[slot][0]
        made[slot] = (name, _mended(space, found, name, values))
    return replace(call, inputs=tuple(made))


def _mended(space: CallSpace, found: Solved, name: str, drawn: Tensor) -> Tensor:
    """The data of an input as the kinds that make it keep their rules leave it."""
    for kind in space.kinds:
        if name in kind.mends:
            drawn = kind.mend(drawn, found.scope)
    return drawn


def _drawn_names(space: CallSpace) -> set[str]:
    """Inputs whose data is drawn and that no kind makes keep a rule."""
    mended = {name for kind in space.kinds for name in kind.mends}
    return {parameter.name for parameter in space.data} - mended


def _sharp_sums(given: Tensor, draw: Draw) -> Tensor:
    return sharp(given.element_type, given.shape, min(_precision(given), 8), draw)


def _near_ones(given: Tensor, draw: Draw) -> Tensor:
    return near_one(given.element_type, given.shape, draw)


def _signs(given: Tensor, draw: Draw) -> Tensor:
    return signs_alone(given.element_type, given.shape, draw)


def _precision(given: Tensor) -> int:
    layout = given.element_type.layout
    return layout.precision if layout is not None else 8


def _first_by(space: CallSpace, call: Call, style: _Style, draw: Draw) -> Call:
    """With the first input's data drawn anew."""
    name, given = call.inputs[0]
    if given is None or name not in _drawn_names(space) or not _is_number(given):
        return call
    return call.with_input(name, style(given, draw))


def _is_number(given: Tensor) -> bool:
    kind = given.element_type
    return kind.is_integer or (kind.layout is not None and kind.bits >= 16)


def _axis(roles: Roles, found: Solved) -> tuple[tuple[str, int], ...]:
    """The axes that the operator goes along, as the call has them."""
    kind = roles.axis
    if kind is None:
        return ()
    value = found.scope.bindings.get(kind.name)
    shapes = {name: tensor.shape for name, tensor in found.call.inputs if tensor is not None}
    if value is None or kind.of not in shapes:
        return ()
    rank = len(shapes[kind.of])
    listed = np.asarray(value).reshape(-1).tolist()
    return tuple((kind.of, int(axis) % rank) for axis in listed if -rank <= axis < rank)


def _selected(
    space: CallSpace, call: Call, along: tuple[tuple[str, int], ...], place: int, draw: Draw
) -> Call:
    """With the ends of lanes in turn where loops treat elements apart; in every other many are equal."""
    name, axis = along[0]
    given = dict(call.inputs).get(name)
    if given is None or name not in _drawn_names(space) or not _is_number(given):
        return call
    if place % 2:
        few = fill(ELEMENT_TYPES["uint8"], given.shape, "random", draw).array.astype(np.int64) % _FEW
        return call.with_input(name, _of_few(given, few))
    return call.with_input(name, spread_ends(given, axis))


def _of_few(given: Tensor, few: NDArray[np.int64]) -> Tensor:
    """As many values of the tensor as there are numbers, each where its number stands."""
    values = given.array.reshape(-1)[:_FEW]
    return Tensor(given.element_type, values[few % len(values)])


def _with_specials(call: Call) -> Call:
    """With NaN, infinities and numbers beyond 2**31 in the first input: in whole vectors and behind them.

    Each row has one or two of them, the first none.
    """
    name, given = call.inputs[0]
    if given is None or given.element_type.layout is None or given.array.ndim < 2:
        return call
    values = encode(given.element_type, [math.nan, math.inf, -math.inf, 3e9, -3e9])
    rows = np.array(given.array)
    last = rows.shape[-1]
    for row, places in enumerate(((), (3, 0), (5, last - 1), (2, last - 2), (7, 9), (last - 3, 1)), 0):
        if row < rows.shape[-2] and last > max(places, default=0):
            for at, place in enumerate(places):
                rows[..., row, place] = values[(row + at) % len(values)]
    return call.with_input(name, Tensor(given.element_type, rows))
