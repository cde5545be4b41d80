"""Cases that tell what a runtime loses of wide numbers and of words, where no other case tells it.

That data is wide does not suffice: a quotient of two long integers is mostly small, a product of huge doubles
infinite, and what is sliced may leave the words with blanks out. So the reference is asked about every loss.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from generator.asking.calls import Call
from generator.asking.tensor_edits import is_main
from generator.calls.data.data import fill
from generator.calls.data.draws import Draw
from generator.calls.data.spoilt_words import each_word, in_ascii, spoilt, stripped
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
from opcert.vocabulary.tensors import Tensor
from specs.model.structures import type_variable

WORDS = "string"
_NARROWER = {
    "double": "float",
    "int32": "float",
    "uint32": "float",
    "int64": "double",
    "uint64": "double",
}
"""The widest type that elements of a type are turned into by mistake."""
_DATA = (("random", 6), ("large_offset", 4), ("huge", 2), ("subnormal", 2))
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
    for each, narrow in _NARROWER.items():
        if each in types:
            for way, tells in _WAYS:
                calls = partial(_wide, workshop, factor, each)
                yield _Sought(f"wide_{each}_{way}", held_as(each, narrow), tells, calls)


def _of_words(workshop: Workshop) -> Iterator[_Sought]:
    having = [each for each in workshop.spec.inputs if WORDS in workshop.spec.types_of(each)]
    if not having:
        return
    factor = f"type_{type_variable(workshop.spec, having[0])}"
    for word, change in (("words_with_blanks", stripped), ("words_beyond_ascii", in_ascii)):
        loss = Loss(partial(each_word, change), WORDS)
        yield _Sought(word, loss, tells_of_inputs, partial(_spoilt, workshop, factor))


def _wide(workshop: Workshop, factor: str, element_type: str) -> Iterator[tuple[Levels, Call]]:
    """Calls whose data is of classes that hold wide numbers, alone and beside small ones."""
    known = workshop.model.levels.get(DATA, ())
    for data, rows in _DATA:
        if data not in known:
            continue
        for levels, call in _built(workshop, {factor: element_type, DATA: data}, rows):
            made = (call, _beside_small(workshop, call), _tiny(call))
            yield from ((levels, each) for each in made if each is not None)


def _beside_small(workshop: Workshop, call: Call) -> Call | None:
    """The call in which the other inputs of the first one's type are of one small number."""
    main = is_main(workshop.spec)
    names = {each.name for each in workshop.spec.inputs[1:] if main(each)}
    inputs = tuple(
        (name, _small(given) if given is not None and name in names else given) for name, given in call.inputs
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
    flat[1::3] = [stripped(each) for each in flat[1::3]]
    flat[2::3] = [in_ascii(each) for each in flat[2::3]]
    return Tensor(given.element_type, array)


def _built(workshop: Workshop, fixed: Levels, rows: int) -> Iterator[tuple[Levels, Call]]:
    draw = workshop.draw("losses", *fixed.values())
    for number, row in enumerate(workshop.rows[:rows]):
        levels = {**row, **fixed}
        call = workshop.levels.build_call(workshop.spec, levels, draw.child(str(number)))
        if call is not None:
            yield levels, call.trimmed()
