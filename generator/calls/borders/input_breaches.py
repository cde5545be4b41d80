"""Calls with an input changed, so that a rule may be broken: other shapes and types, none, rare elements."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from generator.asking.calls import Call
from generator.calls.data.data import fill, zeros
from generator.calls.data.draws import Draw
from generator.calls.data.floats import not_numbers
from generator.calls.space.drawing import value_tensor
from generator.calls.space.space import CallSpace
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from specs.language.evaluation import EvaluationError
from specs.model.spec import ParameterSpec
from specs.model.structures import is_structured

FARTHER = 6
"""What is added to an extent of 1, which one more would make broadcast."""
OTHER_TYPES = ("string", "bool", "double", "int32", "float", "int64", "complex64")
OTHER_INTEGERS = ("int16", "uint64", "float", "int32", "int64", "string")
"""Types to give an input that has to be an integer: those that a runtime may take without a look first."""
MOST_TYPES = 3
UNSAYABLE = (EvaluationError, ValueError, OverflowError, TypeError)
"""What is raised where an operator's version cannot say a call."""


@dataclass(frozen=True)
class ChangedCall:
    """A call that may break a rule: what rules see of it, and the call itself with its data drawn."""

    outline: Call
    drawn: Callable[[], Call] | None = None

    def call(self) -> Call | None:
        """The call; None where the operator's version cannot even say it."""
        try:
            return self.outline if self.drawn is None else self.drawn()
        except UNSAYABLE:
            return None


def with_other_inputs(space: CallSpace, call: Call, draw: Draw) -> Iterator[ChangedCall]:
    """The call with one of its tensors in another shape or type, or left out."""
    for place, (name, tensor) in enumerate(call.inputs):
        parameter = _parameter(space, name)
        if tensor is None or parameter is None or is_structured(space.spec, parameter):
            continue
        for other in _other_shapes(space, tensor, draw):
            yield ChangedCall(_exchanged(call, place, other))
        for other_type in _other_types(space, parameter, tensor):
            yield _retyped(space, call, {place}, other_type, draw)
        if parameter.option == "single":
            yield ChangedCall(_exchanged(call, place, None))


def with_rare_inputs(space: CallSpace, call: Call) -> Iterator[ChangedCall]:
    """The call with an input that has no elements along an axis, or begins with NaN or an infinity."""
    for place, (name, tensor) in enumerate(call.inputs):
        parameter = _parameter(space, name)
        if tensor is None or parameter is None or is_structured(space.spec, parameter):
            continue
        for axis in range(len(tensor.shape)):
            yield ChangedCall(
                _exchanged(call, place, Tensor(tensor.element_type, tensor.array.take([], axis)))
            )
        kind = tensor.element_type
        if kind.layout is not None and tensor.array.size:
            for code in not_numbers(kind):
                codes = np.array(tensor.array)
                codes.reshape(-1)[0] = np.array(code, dtype=f"u{codes.itemsize}").view(codes.dtype)
                yield ChangedCall(_exchanged(call, place, Tensor(kind, codes)))


def _parameter(space: CallSpace, name: str) -> ParameterSpec | None:
    return next((each for each in space.spec.inputs if each.name == name), None)


def _exchanged(call: Call, place: int, tensor: Tensor | None) -> Call:
    inputs = list(call.inputs)
    inputs[place] = (inputs[place][0], tensor)
    return replace(call, inputs=tuple(inputs))


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


def beyond_types(space: CallSpace, call: Call, variable: str, draw: Draw) -> Iterator[ChangedCall]:
    """The call with all inputs of a type variable in a type that it does not allow."""
    of_variable = {each.name for each in space.spec.inputs if each.type == variable}
    places = {place for place, (name, _) in enumerate(call.inputs) if name in of_variable}
    for name in beyond_allowed(space.spec.type_constraints[variable].types)[:MOST_TYPES]:
        yield _retyped(space, call, places, name, draw)


def _retyped(space: CallSpace, call: Call, places: Collection[int], name: str, draw: Draw) -> ChangedCall:
    """The call with some of its tensors in another type."""

    def retype(stream: Draw | None) -> Call:
        inputs = (
            (each, _in_type(tensor, name, stream) if place in places and tensor is not None else tensor)
            for place, (each, tensor) in enumerate(call.inputs)
        )
        return replace(call, inputs=tuple(inputs))

    asked = space.touched_rules.ask_for_elements(call.inputs[place][0] for place in places)
    return ChangedCall(retype(draw if asked else None), lambda: retype(draw))


def beyond_allowed(allowed: Sequence[str]) -> list[str]:
    """Types that are not among those allowed, those first that are most easily taken for one."""
    integers = all(each in ELEMENT_TYPES and ELEMENT_TYPES[each].is_integer for each in allowed)
    return [each for each in (OTHER_INTEGERS if integers else OTHER_TYPES) if each not in allowed]


def _in_type(tensor: Tensor, name: str, draw: Draw | None) -> Tensor:
    """The tensor in another type: the same numbers where it has them, so that nothing else is changed.

    Other numbers are drawn, or zeros.
    """
    kind = ELEMENT_TYPES[name]
    if tensor.element_type.is_integer and kind.kind not in ("string", "bool", "complex"):
        same = value_tensor(tensor.array, kind)
        if same.array.tolist() == tensor.array.tolist():
            return same
    return zeros(kind, tensor.shape) if draw is None else fill(kind, tensor.shape, "random", draw.child(name))
