"""Changing one factor of a call at a time: an attribute, an optional input, a type, signs, elements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from generator.asking.calls import Call
from generator.exploring.shrinking.known_space import CallValidity
from generator.exploring.shrinking.matters import value_text, values_of
from generator.exploring.shrinking.plainness import numbers_of, type_rank
from generator.exploring.shrinking.reductions import converted, fewer_axes, with_type
from opcert.vocabulary.attributes import attribute
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor

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
    if factor.startswith("signs of "):
        return _signs(call, factor.removeprefix("signs of "))
    if not is_crisp(factor):
        return ""
    if factor.startswith("type of "):
        given = dict(call.inputs).get(factor.removeprefix("type of "))
        return LEFT_OUT if given is None else given.element_type.name
    if factor in space.spec.attributes:
        return value_text(space, call, factor)
    return LEFT_OUT if dict(call.inputs).get(factor) is None else GIVEN


def plainest(space: CallValidity, call: Call) -> Iterator[OneFactorCall]:
    """The call with one factor at its plainest value, for each that has another one; crisp factors first."""
    for name, given in call.attributes.items():
        known = space.spec.attributes.get(name)
        if known is not None and not known.required:
            yield OneFactorCall(name, _default(space, name), call.with_attribute(name, None), plain=True)
        elif known is not None and known.kind:
            # What has no default has no plainest value either.
            for value in values_of(space, known)[:MOST_VALUES]:
                if value != given.value:
                    changed = call.with_attribute(name, attribute(known.kind, value))
                    yield OneFactorCall(name, _text(value), changed, plain=True)
    if not call.slots:
        for parameter in space.spec.inputs:
            if parameter.option == "optional" and dict(call.inputs).get(parameter.name) is not None:
                yield OneFactorCall(
                    parameter.name, LEFT_OUT, call.with_input(parameter.name, None), plain=True
                )
        for factor, names, kinds in _types(space, call):
            now = value_of(space, call, factor)
            if kinds and kinds[0] != now:
                yield OneFactorCall(factor, kinds[0], with_type(call, names, kinds[0]), plain=True)
        yield from _positive(call)
        yield from _elements(call)
        yield from _shapes(call)


def others(space: CallValidity, call: Call) -> Iterator[OneFactorCall]:
    """The call with one crisp factor at each other value that it may have, those named above left out."""
    for known in space.spec.attributes.values():
        now = value_text(space, call, known.name)
        for value in values_of(space, known)[:MOST_VALUES]:
            if known.kind is not None and str(value) != now:
                changed = call.with_attribute(known.name, attribute(known.kind, value))
                yield OneFactorCall(known.name, _text(value), changed)
        if known.name not in call.attributes and known.has_default and known.kind is not None:
            # A runtime may have another default than the document.
            given = call.with_attribute(known.name, attribute(known.kind, known.default))
            yield OneFactorCall(known.name, f"{GIVEN_AS}{_text(known.default)}", given)
    if not call.slots:
        for factor, names, kinds in _types(space, call):
            now = value_of(space, call, factor)
            for each in kinds[:MOST_VALUES]:
                if each != now:
                    yield OneFactorCall(factor, each, with_type(call, names, each))


def with_value(space: CallValidity, call: Call, factor: str, value: str) -> OneFactorCall | None:
    """The call with a crisp factor at a value as text; None where it cannot have that one."""
    known = space.spec.attributes.get(factor)
    if known is not None and known.kind is not None:
        for each in values_of(space, known):
            if _text(each) == value:
                return OneFactorCall(factor, value, call.with_attribute(factor, attribute(known.kind, each)))
    if not call.slots:
        for name, names, kinds in _types(space, call):
            if name == factor and value in kinds:
                return OneFactorCall(factor, value, with_type(call, names, value))
    return None


def _default(space: CallValidity, name: str) -> str:
    known = space.spec.attributes[name]
    return _text(known.default) if known.has_default else LEFT_OUT


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_text, value))}]"
    if value is None:
        return LEFT_OUT
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def _types(space: CallValidity, call: Call) -> Iterator[tuple[str, list[str], list[str]]]:
    """Each group of inputs of one type, and the types that it may have, the plainest first."""
    given, seen = dict(call.inputs), set[str]()
    for parameter in space.spec.inputs:
        tensor = given.get(parameter.name)
        if tensor is None or parameter.name in seen:
            continue
        group = space.same_type(parameter)
        seen.update(group)
        kinds = sorted(space.spec.types_of(parameter), key=lambda each: type_rank(ELEMENT_TYPES[each]))
        yield f"type of {parameter.name}", group, kinds


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


def _signs(call: Call, name: str) -> str:
    return "some negative" if name in _lists(call) else "none negative"


def _positive(call: Call) -> Iterator[OneFactorCall]:
    """Negative numbers of a list counted from the front of the first input, which is the same for an axis."""
    first = call.inputs[0][1] if call.inputs else None
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
        yield OneFactorCall(f"signs of {name}", f"[{', '.join(map(str, turned))}]", changed, plain=True)


def with_plain_elements(call: Call) -> Call | None:
    """The call with the elements 0, 1, 2, ... in its first input; None where it has them, or no numbers."""
    return next((each.call for each in _elements(call) if each.to == PLAIN_ELEMENTS), None)


def _elements(call: Call) -> Iterator[OneFactorCall]:
    """The first input with plain elements; with small ones; without signs, without NaN and infinity."""
    if not call.inputs:
        return
    name, given = call.inputs[0]
    if given is None or given.array.size == 0:
        return
    kind, double = given.element_type, ELEMENT_TYPES["double"]
    if not (kind.is_float or kind.is_integer or kind.kind == "complex"):
        return
    numbers = np.asarray(numbers_of(given), dtype=np.float64)
    finite = np.nan_to_num(numbers, nan=1.0, posinf=2.0, neginf=-2.0)
    ways = {PLAIN_ELEMENTS: np.arange(numbers.size, dtype=np.float64) % 100}
    if kind.kind == "complex" and given.array.imag.any():
        real = Tensor(kind, given.array.real.astype(given.array.dtype))
        yield OneFactorCall(f"{ELEMENTS} {name}", "real", call.with_input(name, real), plain=True)
    if kind.kind != "complex":
        ways["not negative"] = np.abs(numbers)
        ways["not NaN"] = np.nan_to_num(numbers, nan=1.0, posinf=np.inf, neginf=-np.inf)
        ways["finite"] = finite
        ways["small"] = np.where(np.abs(finite) > 100, np.sign(finite) * (np.abs(finite) % 97), finite)
    for to, values in ways.items():
        if np.array_equal(values, numbers, equal_nan=True):
            continue
        tensor = converted(Tensor(double, values.reshape(given.shape)), kind)
        yield OneFactorCall(f"{ELEMENTS} {name}", to, call.with_input(name, tensor), plain=True)


def _shapes(call: Call) -> Iterator[OneFactorCall]:
    """An axis of the first input less, with what belongs to it."""
    if not call.inputs or call.inputs[0][1] is None:
        return
    first = call.inputs[0][1]
    for each in islice(fewer_axes(call), MOST_SHAPES):
        tensor = each.inputs[0][1]
        assert tensor is not None
        if tensor.array.size < min(TELLING, first.array.size):
            continue  # of so few elements the wrong ones may be right by chance
        yield OneFactorCall(f"{SHAPE} {call.inputs[0][0]}", str(list(tensor.shape)), each, plain=True)
