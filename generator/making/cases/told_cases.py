"""Cases that tell what a runtime loses: of wide numbers that a narrower type does not hold, and of words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

import numpy as np

from conformance.suite.cases import Case
from generator.asking.calls import Call
from generator.calls.data.data import fill
from generator.calls.data.draws import Draw
from generator.calls.rows.factors import first_types
from generator.calls.variables.data_levels import DATA
from generator.making.cases.telling import (
    Loss,
    Tells,
    held_as,
    is_told,
    keep_first_told,
    tells_of_inputs,
    tells_of_outputs,
)
from generator.making.operators.workshop import Workshop
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from reference.answers import UnstableLength
from specs.model.structures import type_variable

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
_WIDE_CLASS = "random"
_TRIED = 12
"""Rows of which a call with such data is looked for."""


def add_wide_values(workshop: Workshop) -> None:
    """For each type of the first input a case with such data, where none is there yet."""
    factor, types = first_types(workshop.spec, workshop.model)
    if _WIDE_CLASS not in workshop.model.levels.get(DATA, ()):
        return
    for each in _NARROWER:
        if each in types and not any(_tells(case, each) for case in workshop.cases.values()):
            _add_first(workshop, f"wide_{each}", _calls(workshop, factor, each))
    data = {**dict.fromkeys(_NARROWER, _WIDE_CLASS), _OTHER_BITS: "huge"}
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
        question = workshop.question(call)
        with suppress(UnstableLength):
            if not question.has_one_result():
                continue
            case = workshop.make_valid("boundary", word, call, levels, question)
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
    first = next((tensor for _, tensor in case.inputs), None)
    return (
        case.demand == "answer" and first is not None and first.element_type.name == name and is_wide(first)
    )


def _calls(
    workshop: Workshop, factor: str, element_type: str, data: str = _WIDE_CLASS
) -> Iterator[tuple[Mapping[str, str], Call]]:
    """Calls of the rows with this type and such data."""
    draw = workshop.draw("wide", element_type)
    for number, row in enumerate(workshop.rows[:_TRIED]):
        levels = {**row, factor: element_type, DATA: data}
        call = workshop.levels.build_call(workshop.spec, levels, draw.child(str(number)))
        first = call.inputs[0][1] if call is not None and call.inputs else None
        if call is None or first is None or first.element_type.name != element_type:
            continue
        fits = is_wide(first) or data != _WIDE_CLASS
        if fits and not workshop.violations(call) and not workshop.has(call):
            yield levels, call


Change = Callable[[bytes], bytes]


def stripped(word: bytes) -> bytes:
    """Without blanks at its ends."""
    return word.strip(b" \t\r\n")


def in_ascii(word: bytes) -> bytes:
    """With question marks for bytes beyond ASCII."""
    return bytes(min(each, 63) if each > 127 else each for each in word)


def spoilt(word: bytes) -> bytes:
    """A word that neither leaves as it is: blanks around it, and a letter beyond ASCII."""
    return b" " + word + "é ".encode()


def each_word(change: Change, given: Tensor) -> Tensor:
    """A tensor of strings with every word changed."""
    array = np.empty(given.shape, dtype=object)
    array.reshape(-1)[:] = [change(number) for number in given.array.flat]
    return Tensor(given.element_type, array)


WORDS = "string"
_WIDEST_NARROWER = {
    "double": "float",
    "int32": "float",
    "uint32": "float",
    "int64": "double",
    "uint64": "double",
}
"""The widest type that elements of a type are turned into by mistake."""
_CLASSES = (("random", 6), ("large_offset", 4), ("huge", 2), ("subnormal", 2))
"""Classes of data in which such numbers stand, and the rows of which a call is tried."""
_TINY = math.ldexp(1.0, -200)
_ROWS_OF_WORDS = 4
Levels = Mapping[str, str]
_WAYS: tuple[tuple[str, Tells], ...] = (("given", tells_of_inputs), ("made", tells_of_outputs))


@dataclass(frozen=True)
class _Sought:
    """A loss that some case must tell in some way, and the calls that may."""

    word: str
    loss: Loss
    tells: Tells
    calls: Callable[[], Iterable[tuple[Levels, Call]]]


def add_told_losses(workshop: Workshop) -> None:
    """For each type, and each way to lose something of it, a case, if none tells it yet and one is found."""
    for sought in (*_of_numbers(workshop), *_of_words(workshop)):
        if not is_told(workshop, sought.tells, sought.loss):
            keep_first_told(workshop, sought.word, sought.tells, sought.loss, sought.calls())


def _of_numbers(workshop: Workshop) -> Iterator[_Sought]:
    factor, types = first_types(workshop.spec, workshop.model)
    for each, narrow in _WIDEST_NARROWER.items():
        if each in types:
            for way, tells in _WAYS:
                calls = partial(_wide, workshop, factor, each)
                yield _Sought(f"wide_{each}_{way}", held_as(each, narrow), tells, calls)


def _of_words(workshop: Workshop) -> Iterator[_Sought]:
    having = [parameter for parameter in workshop.spec.inputs if WORDS in workshop.spec.types_of(parameter)]
    if not having:
        return
    factor = f"type_{type_variable(workshop.spec, having[0])}"
    for word, change in (("words_with_blanks", stripped), ("words_beyond_ascii", in_ascii)):
        loss = Loss(partial(each_word, change), WORDS)
        yield _Sought(word, loss, tells_of_inputs, partial(_spoilt, workshop, factor))


def _wide(workshop: Workshop, factor: str, element_type: str) -> Iterator[tuple[Levels, Call]]:
    """Calls whose data is of classes that hold wide numbers, alone and beside small ones."""
    known = workshop.model.levels.get(DATA, ())
    for data, rows in _CLASSES:
        if data not in known:
            continue
        for levels, call in _built(workshop, {factor: element_type, DATA: data}, rows):
            made = (call, _beside_small(workshop, call), _tiny(call))
            yield from ((levels, call) for call in made if call is not None)


def _beside_small(workshop: Workshop, call: Call) -> Call | None:
    """The call in which the other inputs of the first one's type are of one small number."""
    others = workshop.main_inputs - {parameter.name for parameter in workshop.spec.inputs[:1]}
    inputs = tuple(
        (name, _small(given) if given is not None and name in others else given)
        for name, given in call.inputs
    )
    return None if inputs == call.inputs else replace(call, inputs=inputs)


def _tiny(call: Call) -> Call | None:
    """The call with doubles that a float would make zeros of."""
    name, first = call.inputs[0] if call.inputs else ("", None)
    if first is None or first.element_type.name != "double":
        return None
    with np.errstate(all="ignore"):
        return call.with_input(name, Tensor(first.element_type, first.array * _TINY))


def _small(given: Tensor) -> Tensor:
    return fill(given.element_type, given.shape, "constant", Draw("small"))


def _spoilt(workshop: Workshop, factor: str) -> Iterator[tuple[Levels, Call]]:
    """Calls on words that plain text does not hold; where two inputs meet, some of the second are plain."""
    for levels, call in _built(workshop, {factor: WORDS}, _ROWS_OF_WORDS):
        inputs = tuple((name, given if given is None else _with_spoilt(given)) for name, given in call.inputs)
        spoilt_call = replace(call, inputs=inputs)
        yield levels, spoilt_call
        kinds = [given.element_type.name for _, given in inputs if given is not None]
        first = inputs[0][1] if inputs else None
        if kinds == [WORDS, WORDS] and first is not None:
            yield levels, spoilt_call.with_input(inputs[1][0], _partly_plain(first))


def _with_spoilt(given: Tensor) -> Tensor:
    return each_word(spoilt, given) if given.element_type.name == WORDS else given


def _partly_plain(given: Tensor) -> Tensor:
    """Every third word without its blanks, every third without its letters beyond ASCII."""
    array = np.array(given.array)
    flat = array.reshape(-1)
    flat[1::3] = [stripped(number) for number in flat[1::3]]
    flat[2::3] = [in_ascii(number) for number in flat[2::3]]
    return Tensor(given.element_type, array)


def _built(workshop: Workshop, fixed: Levels, rows: int) -> Iterator[tuple[Levels, Call]]:
    draw = workshop.draw("losses", *fixed.values())
    for number, row in enumerate(workshop.rows[:rows]):
        levels = {**row, **fixed}
        call = workshop.levels.build_call(workshop.spec, levels, draw.child(str(number)))
        if call is not None:
            yield levels, call.trimmed()
