"""Data that a narrower type does not hold: of every element type that runtimes turn into another one.

A double whose numbers are all floats, or a 64-bit integer that float64 holds, does not tell in what it was
computed or kept. Types are dealt over the rows, so that a type may have met such data in none of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice

import numpy as np

from conformance.suite.cases import Case
from generator.asking.calls import Call
from generator.calls.rows.factors import first_types
from generator.calls.variables.data_levels import DATA
from generator.making.operators.workshop import Workshop
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from reference.answers import UnstableLength

_NARROWER = {
    "double": ("float",),
    "int32": ("float",),
    "uint32": ("float",),
    "int64": ("double", "int32"),
    "uint64": ("double", "uint32"),
}
"""What elements of a type are turned into by mistake."""
_OTHER_BITS = "bfloat16"
"""The type whose large numbers are NaN where their bits are taken for float16."""
_CLASS = "random"
_TRIED = 12
"""Rows of which a call with such data is looked for."""


def add_wide_values(workshop: Workshop) -> None:
    """For each type of the first input a case with such data, where none is there yet."""
    factor, types = first_types(workshop.spec, workshop.model)
    if _CLASS not in workshop.model.levels.get(DATA, ()):
        return
    for each in _NARROWER:
        if each in types and not any(_tells(case, each) for case in workshop.cases.values()):
            _add_first(workshop, f"wide_{each}", _calls(workshop, factor, each))
    data = {**dict.fromkeys(_NARROWER, _CLASS), _OTHER_BITS: "huge"}
    wanted = ((f"beside_{each}", each) for each in data if each in types)
    for word, each in workshop.lacking("boundary", wanted):
        calls = _calls(workshop, factor, each, data[each])
        beside = ((levels, _beside(workshop, call)) for levels, call in calls)
        _add_first(workshop, word, islice(beside, 1))


def _add_first(workshop: Workshop, word: str, calls: Iterable[tuple[Mapping[str, str], Call | None]]) -> None:
    """The case of the first call that has one answer alone: where such data overflows, nothing is told."""
    for levels, call in calls:
        if call is None or workshop.violations(call):
            continue
        with suppress(UnstableLength):
            case = workshop.make_valid("boundary", word, call, levels)
            if len(case.expectations) == 1:
                workshop.keep(call.trimmed(), case)
                return


def _beside(workshop: Workshop, call: Call) -> Call | None:
    """The call with a second input that is one step from the first in every other element.

    Of floating-point numbers two that are equal are infinities. Of operators that tell how elements of two
    tensors stand to each other; None of any other.
    """
    inputs, outputs = workshop.spec.inputs, workshop.spec.outputs
    if len(inputs) != 2 or inputs[0].type != inputs[1].type or outputs[0].type == inputs[0].type:
        return None
    first = call.inputs[0][1]
    if first is None:
        return None
    array = np.ascontiguousarray(first.array).reshape(-1).copy()
    if array.dtype.kind == "f":
        array[:3:2] = (np.inf, -np.inf)[: array[:3:2].size]
    made = Tensor(first.element_type, array.copy().reshape(first.shape))
    bits = array.view(f"u{array.dtype.itemsize}")
    bits[1::4] += bits.dtype.type(1)
    bits[3::4] -= bits.dtype.type(1)
    second = Tensor(first.element_type, array.reshape(first.shape))
    return call.with_input(inputs[0].name, made).with_input(inputs[1].name, second)


def is_wide(given: Tensor) -> bool:
    """Whether every type that the elements are turned into by mistake loses something of most of them."""
    narrower = _NARROWER.get(given.element_type.name, ())
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(narrower) and all(2 * _lost(given, name) > given.array.size for name in narrower)


def _lost(given: Tensor, name: str) -> int:
    """How many elements a type does not hold."""
    narrow = given.array.astype(ELEMENT_TYPES[name].storage)
    if given.element_type.is_float:
        same = narrow.astype(given.array.dtype) == given.array
        # A subnormal number may become zero in any type.
        plain = np.isfinite(given.array) & (np.abs(given.array) >= np.finfo(given.array.dtype).tiny)
        return int(np.count_nonzero(~same & plain))
    pairs = zip(narrow.reshape(-1).tolist(), given.array.reshape(-1).tolist(), strict=True)
    return sum(held != exact for held, exact in pairs)


def _tells(case: Case, name: str) -> bool:
    first = next((each for _, each in case.inputs), None)
    return (
        case.demand == "answer" and first is not None and first.element_type.name == name and is_wide(first)
    )


def _calls(
    workshop: Workshop, factor: str, element_type: str, data: str = _CLASS
) -> Iterator[tuple[Mapping[str, str], Call]]:
    """Calls of the rows with this type and such data."""
    draw = workshop.draw("wide", element_type)
    for number, row in enumerate(workshop.rows[:_TRIED]):
        levels = {**row, factor: element_type, DATA: data}
        call = workshop.levels.build_call(workshop.spec, levels, draw.child(str(number)))
        first = call.inputs[0][1] if call is not None and call.inputs else None
        if call is None or first is None or first.element_type.name != element_type:
            continue
        fits = is_wide(first) or data != _CLASS
        if fits and not workshop.violations(call) and not workshop.has(call):
            yield levels, call
