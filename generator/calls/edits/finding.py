"""Every change that makes sense for an operator: of its spec, and of its kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np

from generator.asking.calls import Call
from generator.calls.edits.attribute_changes import attribute_changes, kind_changes
from generator.calls.edits.change import Change, Changed
from generator.calls.edits.value_changes import value_changes
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from reference.registry import reference_of
from specs.model.spec import ParameterSpec, Reading, Spec


def input_changes(spec: Spec) -> Iterator[Change]:
    """Optional inputs ignored, inputs of one form exchanged, lists of integers reversed, types mended."""
    for parameter in spec.inputs:
        if parameter.option == "optional":
            yield leave_out_input(parameter.name)
        yield change_input(
            f"input {parameter.name} reversed", f"{parameter.name} in reverse order", parameter.name, _reverse
        )
        for name in spec.types_of(parameter):
            yield convert_input(parameter, name)
    for first, second in combinations(spec.inputs, 2):
        yield exchange_inputs(first.name, second.name)


def change_input(key: str, text: str, name: str, change: Callable[[Tensor], Tensor | None]) -> Change:
    """One input replaced by what a function makes of it; the function gives None where it changes nothing."""

    def apply(_spec: Spec, call: Call) -> Changed | None:
        given = dict(call.inputs).get(name)
        made = None if given is None else change(given)
        if made is None or made == given:
            return None
        return Changed(call.with_input(name, made))

    return Change(key, text, apply)


def leave_out_input(name: str) -> Change:
    """An optional input is ignored."""

    def apply(_spec: Spec, call: Call) -> Changed | None:
        return None if dict(call.inputs).get(name) is None else Changed(call.with_input(name, None))

    return Change(f"input {name} ignored", f"{name} ignored", apply)


def convert_input(parameter: ParameterSpec, name: str) -> Change:
    """An input whose element type the operator does not take is converted to one that it takes."""
    wanted = ELEMENT_TYPES[name]

    def convert(given: Tensor) -> Tensor | None:
        plain = ("float", "double", "float16", "bool")
        if any(not dtype.is_integer and dtype.name not in plain for dtype in (given.element_type, wanted)):
            return None
        with np.errstate(invalid="ignore", over="ignore"):
            converted = given.array.astype(wanted.storage)
            lossless = np.array_equal(converted.astype(given.array.dtype), given.array)
        return Tensor(wanted, converted) if lossless else None

    def apply(spec: Spec, call: Call) -> Changed | None:
        given = dict(call.inputs).get(parameter.name)
        if given is None:
            return None
        first = call.inputs[0][1]
        shared = parameter.type == spec.inputs[0].type and parameter.name != spec.inputs[0].name
        if (
            shared
            and first is not None
            and (first.element_type is not wanted or given.element_type is wanted)
        ):
            return None
        if not shared and given.element_type.name in spec.types_of(parameter):
            return None
        converted = convert(given)
        return None if converted is None else Changed(call.with_input(parameter.name, converted))

    wider = (f"input {parameter.name} as int64",) if name == "int32" else ()
    text = f"{parameter.name} converted to {name}"
    return Change(f"input {parameter.name} as {name}", text, apply, variant_of=wider)


def exchange_inputs(first: str, second: str) -> Change:
    """Two inputs of one element type and shape are taken for each other."""

    def apply(_spec: Spec, call: Call) -> Changed | None:
        left, right = (dict(call.inputs).get(name) for name in (first, second))
        if left is None or right is None or left == right:
            return None
        if left.element_type is not right.element_type or left.shape != right.shape:
            return None
        return Changed(call.with_input(first, right).with_input(second, left))

    return Change(f"inputs {first} and {second} exchanged", f"{first} and {second} exchanged", apply)


def _reverse(given: Tensor) -> Tensor | None:
    if given.element_type.is_integer and len(given.shape) == 1:
        return Tensor(given.element_type, given.array[::-1])
    return None


def find_changes(spec: Spec) -> tuple[Change, ...]:
    """The changes to try on calls of an operator version, each key once."""
    changes = [
        *attribute_changes(spec),
        *_reading_changes(spec),
        *input_changes(spec),
        *value_changes(spec),
        *kind_changes(spec),
    ]
    return tuple({change.key: change for change in changes}.values())


def _reading_changes(spec: Spec) -> Iterator[Change]:
    """The options not chosen of every settled reading; of an open one every option is accepted anyway.

    A settled reading of which the reference knows the chosen option alone cannot be changed.
    """
    known = reference_of(spec).readings
    for reading in spec.readings:
        if reading.chosen is not None and reading.id in known:
            for option in reading.options:
                if option != reading.chosen:
                    yield _choose(reading, option)


def _choose(reading: Reading, option: str) -> Change:
    def apply(_spec: Spec, call: Call) -> Changed | None:
        return Changed(call, settled={reading.id: option}, before=reading.chosen)

    return Change(f"reading {reading.id}={option}", option, apply, subject=f"reading {reading.id}")
