"""Calls with one factor changed: an attribute, an optional input, a type, signs, elements, a shape."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.asking.calls import Call
from generator.exploring.shrinking.element_changes import (
    converted,
    counted,
    has_numbers,
    numbers_of,
    type_groups,
    with_numbers,
    with_type,
)
from generator.exploring.shrinking.known_space import CallValidity
from generator.exploring.shrinking.shape_changes import fewer_axes
from opcert.vocabulary.attributes import attribute
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from specs.model.spec import AttributeSpec

LEFT_OUT = "left out"
GIVEN_AS = "given as "
"""Before a default that is written down: a runtime may have another one."""
PLAIN_ELEMENTS = "0, 1, 2, ..."
GIVEN = "given"
MOST_VALUES = 8
MOST_SHAPES = 8
TELLING = 6
"""So many elements are left where axes are taken away, if there were."""
ELEMENTS = "elements of"
"""Factors of elements and of shapes begin so; what they are is no value that another call has or has not."""
SHAPE = "shape of"
TYPE = "type of "
_SIGNS = "signs of "
_PLAIN_TYPES = ("float", "int32", "double", "float16")
_NUMBERS: dict[str, tuple[int | float, ...]] = {"int": (0, 1, 2, -1), "float": (0.0, 0.5, 1.0, -1.0, 2.0)}
_Shape = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class OneFactorCall:
    """A call in which one factor was changed: its name, the value it has now, and the call.

    `plain` says that the value is the plainest that the factor has.
    """

    factor: str
    to: str
    call: Call
    plain: bool = False


def is_crisp(factor: str) -> bool:
    """Whether a factor has a value that can be named: no mere elements or lengths."""
    return not factor.startswith((ELEMENTS, SHAPE))


def value_of(space: CallValidity, call: Call, factor: str) -> str:
    """The value that a factor has in a call, as text; empty where it has none."""
    if factor.startswith(_SIGNS):
        return "some negative" if factor.removeprefix(_SIGNS) in _lists(call) else "none negative"
    if not is_crisp(factor):
        return ""
    if factor.startswith(TYPE):
        given = dict(call.inputs).get(factor.removeprefix(TYPE))
        return LEFT_OUT if given is None else given.element_type.name
    if factor in space.spec.attributes:
        return _text(space.value_of(call, factor))
    return LEFT_OUT if dict(call.inputs).get(factor) is None else GIVEN


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_text, value))}]"
    if value is None:
        return LEFT_OUT
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def plainest(space: CallValidity, call: Call) -> Iterator[OneFactorCall]:
    """The call with one factor at its plainest value, for each that has another one; crisp factors first."""
    for name in call.attributes:
        known = space.spec.attributes.get(name)
        if known is not None and known.required:
            # What has no default has no plainest value either.
            yield from (replace(other_value, plain=True) for other_value in _other_values(space, call, known))
    yield from left_out(space, call)
    if call.slots:
        return
    for first, names, types in type_groups(space, call):
        if types and types[0] != value_of(space, call, f"{TYPE}{first}"):
            yield OneFactorCall(f"{TYPE}{first}", types[0], with_type(call, names, types[0]), plain=True)
    yield from _positive(call)
    yield from _elements(call)
    yield from _fewer_axes(call)


def others(space: CallValidity, call: Call) -> Iterator[OneFactorCall]:
    """The call with one crisp factor at each other value that it may have, those named above left out."""
    for known in space.spec.attributes.values():
        yield from _other_values(space, call, known)
        if known.name not in call.attributes and known.has_default and known.kind is not None:
            # A runtime may have another default than the document.
            given = call.with_attribute(known.name, attribute(known.kind, known.default))
            yield OneFactorCall(known.name, f"{GIVEN_AS}{_text(known.default)}", given)
    yield from other_types(space, call)


def left_out(space: CallValidity, call: Call) -> Iterator[OneFactorCall]:
    """The call without an attribute or an input that may be left out."""
    for name in call.attributes:
        known = space.spec.attributes.get(name)
        if known is not None and not known.required:
            changed = call.with_attribute(name, None)
            yield OneFactorCall(name, value_of(space, changed, name), changed, plain=True)
    for parameter in () if call.slots else space.spec.inputs:
        if parameter.option == "optional" and dict(call.inputs).get(parameter.name) is not None:
            changed = call.with_input(parameter.name, None)
            yield OneFactorCall(parameter.name, LEFT_OUT, changed, plain=True)


def other_attributes(
    space: CallValidity, call: Call, most: int | None = MOST_VALUES
) -> Iterator[OneFactorCall]:
    """The call with one attribute at each other value that it may have, so many of each at most."""
    for known in space.spec.attributes.values():
        yield from _other_values(space, call, known, most)


def other_types(space: CallValidity, call: Call, most: int | None = MOST_VALUES) -> Iterator[OneFactorCall]:
    """The call with the inputs of one type in each other type that they may have, so many at most."""
    for first, names, types in () if call.slots else type_groups(space, call):
        now = value_of(space, call, f"{TYPE}{first}")
        for name in types[:most]:
            if name != now:
                yield OneFactorCall(f"{TYPE}{first}", name, with_type(call, names, name))


def _other_values(
    space: CallValidity, call: Call, known: AttributeSpec, most: int | None = MOST_VALUES
) -> Iterator[OneFactorCall]:
    now = value_of(space, call, known.name)
    for value in _values_of(space, known)[:most]:
        if _text(value) != now:
            changed = call.with_attribute(known.name, attribute(str(known.kind), value))
            yield OneFactorCall(known.name, _text(value), changed)


def _values_of(space: CallValidity, known: AttributeSpec) -> list[Any]:
    """Values to try for an attribute that is no list: those allowed, else the factor's levels and numbers."""
    if known.kind not in ("int", "float", "string"):
        return []
    if known.allowed is not None:
        return list(known.allowed)
    levels = next((factor.levels for factor in space.spec.factors if factor.name == known.name), ())
    wanted: Any = {"int": int, "float": float, "string": str}[known.kind]
    listed = [level for level in levels if isinstance(level, wanted) and not isinstance(level, bool)]
    # An int with levels is one of few; other numbers might be none of its values.
    more = _NUMBERS.get(known.kind, ()) if known.kind == "float" or not listed else ()
    return list(dict.fromkeys((*listed, *more)))


def with_value(space: CallValidity, call: Call, factor: str, value: str) -> OneFactorCall | None:
    """The call with a crisp factor at a value as text; None where it cannot have that one."""
    changed = (*other_attributes(space, call, None), *other_types(space, call, None))
    return next((each for each in changed if (each.factor, each.to) == (factor, value)), None)


def _lists(call: Call) -> Mapping[str, Sequence[int]]:
    """Lists of integers with a negative one, in attributes and in the inputs behind the first."""
    found: dict[str, Sequence[int]] = {}
    for name, each in call.attributes.items():
        values = each.value if isinstance(each.value, tuple) else (each.value,)
        if each.kind in ("int", "ints") and any(isinstance(one, int) and one < 0 for one in values):
            found[name] = [int(one) for one in values if isinstance(one, int)]
    for name, tensor in call.inputs[1:]:
        if tensor is not None and tensor.element_type.is_integer and tensor.array.size <= 64:
            numbers = [int(one) for one in tensor.array.reshape(-1)]
            if any(one < 0 for one in numbers):
                found[name] = numbers
    return found


def _positive(call: Call) -> Iterator[OneFactorCall]:
    """Negative numbers of a list counted from the front of the first input, which is the same for an axis."""
    first = call.first[1]
    if first is None or not first.shape:
        return
    rank = len(first.shape)
    for name, numbers in _lists(call).items():
        turned = [one + rank if one < 0 else one for one in numbers]
        if any(one < 0 for one in turned):
            continue
        given = call.attributes.get(name)
        if given is not None:
            value = tuple(turned) if isinstance(given.value, tuple) else turned[0]
            changed = call.with_attribute(name, attribute(given.kind, value))
        else:
            tensor = dict(call.inputs)[name]
            assert tensor is not None
            array = np.array(turned, dtype=tensor.array.dtype).reshape(tensor.shape)
            changed = call.with_input(name, Tensor(tensor.element_type, array))
        yield OneFactorCall(f"{_SIGNS}{name}", _text(turned), changed, plain=True)


def with_plain_elements(call: Call) -> Call | None:
    """The call with the elements 0, 1, 2, ... in its first input; None where it has them, or no numbers."""
    return next((element.call for element in _elements(call) if element.to == PLAIN_ELEMENTS), None)


def with_plain_type(space: CallValidity, call: Call) -> Call | None:
    """The call with 0, 1, 2, ... in the inputs of the first one's type; None where that has no numbers."""
    if call.first[1] is None or call.slots:
        return None
    start = 0
    for name in space.same_type(space.spec.inputs[0]):
        given = dict(call.inputs).get(name)
        if given is None or given.array.size == 0:
            continue
        if not has_numbers(given):
            return None
        call, start = call.with_input(name, counted(given, start)), start + given.array.size
    return call


def _elements(call: Call) -> Iterator[OneFactorCall]:
    """The first input with plain elements; with small ones; without signs, without NaN and infinity."""
    name, given = call.first
    if given is None or given.array.size == 0 or not has_numbers(given):
        return
    numbers = numbers_of(given)
    ways: dict[str, NDArray[Any]] = {PLAIN_ELEMENTS: np.arange(numbers.size) % 100}
    if given.element_type.kind == "complex":
        if given.array.imag.any():
            real = Tensor(given.element_type, given.array.real.astype(given.array.dtype))
            yield OneFactorCall(f"{ELEMENTS} {name}", "real", call.with_input(name, real), plain=True)
    else:
        finite = np.nan_to_num(numbers, nan=1.0, posinf=2.0, neginf=-2.0)
        ways["not negative"] = np.abs(numbers)
        ways["not NaN"] = np.nan_to_num(numbers, nan=1.0, posinf=np.inf, neginf=-np.inf)
        ways["finite"] = finite
        ways["small"] = np.where(np.abs(finite) > 100, np.sign(finite) * (np.abs(finite) % 97), finite)
    for to, values in ways.items():
        if not np.array_equal(values, numbers, equal_nan=True):
            changed = call.with_input(name, with_numbers(given, values))
            yield OneFactorCall(f"{ELEMENTS} {name}", to, changed, plain=True)


def _fewer_axes(call: Call) -> Iterator[OneFactorCall]:
    """An axis of the first input less, with what belongs to it."""
    name, first = call.first
    if first is None:
        return
    for changed in islice(fewer_axes(call), MOST_SHAPES):
        tensor = changed.first[1]
        assert tensor is not None
        if tensor.array.size < min(TELLING, first.array.size):
            continue  # of so few elements the wrong ones may be right by chance
        yield OneFactorCall(f"{SHAPE} {name}", str(list(tensor.shape)), changed, plain=True)


def further(call: Call) -> Iterator[OneFactorCall]:
    """Calls with other elements and shapes than `plainest` gives, which may be none of the operator.

    The elements of each input small or all the same, axes without elements with one, scalars with an axis.
    """
    if call.slots:
        return
    for name in _PLAIN_TYPES:
        retyped = _of_first_type(call, partial(converted, kind=ELEMENT_TYPES[name]))
        if retyped is not None:
            yield OneFactorCall(f"{TYPE}{call.first[0]}", name, retyped)
    if is_variadic(call):
        starts = count()
        small = _of_first_type(call, lambda given: _small(given, next(starts)))
        if small is not None:
            yield OneFactorCall(f"{ELEMENTS} all", "0, 1, 2, 0, ...", small)
        for rank in range(1, min(len(given.shape) for _, given in call.inputs if given is not None)):
            cut = _of_first_type(call, partial(_cut, axes=tuple(range(rank))))
            if cut is not None:
                yield OneFactorCall(f"{SHAPE} all", f"1 along the first {rank}", cut)
        return
    for name, given in call.inputs:
        if given is not None and given.array.size and _is_plain(given):
            ones, zeros = (with_numbers(given, np.full(given.array.size, value)) for value in (1, 0))
            for to, made in {"0, 1, 2, 0, ...": _small(given), "all 1": ones, "all 0": zeros}.items():
                if made != given:
                    yield OneFactorCall(f"{ELEMENTS} {name}", to, call.with_input(name, made))
    yield from _reshaped(call, "one element in place of none", lambda shape: tuple(max(n, 1) for n in shape))
    yield from _reshaped(call, "an axis in place of none", lambda shape: shape or (1,))
    told = "an axis in place of none, and in lists one entry in place of none"
    yield from _reshaped(call, told, lambda shape: (1,) if shape in ((), (0,)) else shape)
    name, first = call.first
    if first is not None and first.shape:
        longer = Tensor(first.element_type, first.array.reshape((*first.shape, 1)))
        yield OneFactorCall(f"{SHAPE} {name}", "an axis of 1 more", call.with_input(name, longer))
    yield from _first_alone(call)


def is_variadic(call: Call) -> bool:
    """Whether several tensors of a call stand for one input."""
    names = [name for name, _ in call.inputs]
    return len(set(names)) < len(names)


def _is_plain(given: Tensor) -> bool:
    return given.element_type.is_float or given.element_type.is_integer


def _small(given: Tensor, start: int = 0) -> Tensor:
    return with_numbers(given, np.arange(start, start + given.array.size) % 3)


def _of_first_type(call: Call, turn: Callable[[Tensor], Tensor]) -> Call | None:
    """The call with all tensors of the first one's type turned; None where that has no numbers."""
    first = call.first[1]
    if first is None or not _is_plain(first):
        return None
    inputs = tuple(
        (name, given if given is None or given.element_type is not first.element_type else turn(given))
        for name, given in call.inputs
    )
    return replace(call, inputs=inputs)


def _reshaped(call: Call, to: str, of: Callable[[_Shape], _Shape]) -> Iterator[OneFactorCall]:
    """The call with other shapes of all tensors that have numbers, their elements repeated or small."""
    changed = call
    for name, given in call.inputs:
        if given is not None and of(given.shape) != given.shape and given.element_type.name != "string":
            shape = of(given.shape)
            array = np.resize(given.array.reshape(-1), math.prod(shape)).reshape(shape)
            made = Tensor(given.element_type, array)
            changed = changed.with_input(name, made if given.array.size else _small(made))
    if changed is not call:
        yield OneFactorCall(f"{SHAPE} all", to, changed)


def _first_alone(call: Call) -> Iterator[OneFactorCall]:
    """An input with what is first along an axis, along all axes behind the second, and along all."""
    for name, given in call.inputs:
        if given is None or not given.array.size:
            continue
        rank = len(given.shape)
        axes: list[_Shape] = [(axis,) for axis, extent in enumerate(given.shape) if extent > 1]
        axes += [tuple(range(start, rank)) for start in (2, 0) if start + 1 < rank]
        axes += [(0, 1)] if rank > 2 else []
        for some in axes:
            told = f"1 along {', '.join(map(str, some))}"
            cut = _cut(given, some)
            if cut.shape != given.shape:
                yield OneFactorCall(f"{SHAPE} {name}", told, call.with_input(name, cut))
                if rank == 1:
                    alike = _cut_alike(call, given.shape)
                    yield OneFactorCall(f"{SHAPE} {name}", f"{told}, as others like it", alike)
                    every = _cut_axes(call, given.shape[0])
                    yield OneFactorCall(f"{SHAPE} {name}", f"{told}, as all axes like it", every)


def _cut(given: Tensor, axes: _Shape) -> Tensor:
    places = tuple(slice(0, 1) if axis in axes else slice(None) for axis in range(len(given.shape)))
    return Tensor(given.element_type, np.ascontiguousarray(given.array[places]))


def _cut_alike(call: Call, shape: _Shape) -> Call:
    """The call with the first element alone of every input of one axis and such a length."""
    for name, given in call.inputs:
        if given is not None and given.shape == shape:
            call = call.with_input(name, _cut(given, (0,)))
    return call


def _cut_axes(call: Call, extent: int) -> Call:
    """The call with what is first along every axis of such a length, of every input."""
    for name, given in call.inputs:
        if given is not None and extent in given.shape:
            axes = tuple(axis for axis, each in enumerate(given.shape) if each == extent)
            call = call.with_input(name, _cut(given, axes))
    return call
