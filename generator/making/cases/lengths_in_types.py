"""Lengths around vectors, and the long one, in the types that kernels are written for beside float."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.asking.calls import Call
from generator.asking.tensor_edits import is_main
from generator.calls.data.data import fill
from generator.calls.rows.factors import first_types
from generator.calls.variables.data_levels import DATA
from generator.calls.variables.vector_lengths import MANY, lengths_around
from generator.making.cases.meaning import meaningful
from generator.making.operators.workshop import Workshop
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.tensors import Tensor
from reference.answers import UnstableLength

LONG = 515
"""What many elements come to here: several blocks of any vector, and a rest."""
_TYPES = ("float16", "int32", "int64", "int8", "uint8")
_CLASS = "distinct"


def add_lengths_in_types(workshop: Workshop) -> None:
    """For each such type the lengths that the plainest type has, those around its own vectors among them."""
    _, types = first_types(workshop.spec, workshop.model)
    if _CLASS not in workshop.model.levels.get(DATA, ()):
        return
    plain = _plain_calls(workshop)
    wanted = (
        (f"{word}_of_{name}", name, call) for name in _TYPES if name in types for word, call in plain.items()
    )
    for word, name, call in workshop.lacking("boundary", wanted):
        made = _in_type(workshop, call, ELEMENT_TYPES[name])
        if workshop.violations(made):
            continue
        with suppress(UnstableLength):
            _add(workshop, word, made)


def _add(workshop: Workshop, word: str, call: Call) -> None:
    """Put the case in, of a shorter call where sums of so many numbers say nothing in the type."""
    if workshop.has(call.trimmed()):
        return
    shorter, case = meaningful(workshop, call, workshop.make_valid("boundary", word, call))
    if shorter is not call:
        word = word.replace(f"_{LONG}_", f"_{_longest(shorter)}_")
        case = workshop.make_valid("boundary", word, shorter)
    workshop.keep(shorter, case)


def _longest(call: Call) -> int:
    return max(length for _, each in call.inputs if isinstance(each, Tensor) for length in each.shape)


def _plain_calls(workshop: Workshop) -> dict[str, Call]:
    """The calls of the plainest type that are one longer than a vector, or long, by their words."""
    words = {f"length_{length}": f"length_{min(length, LONG)}" for length in lengths_around()[-2:]}
    return {
        words[str(case.id.word)]: workshop.calls[digest]
        for digest, case in workshop.cases.items()
        if case.id.family == "boundary" and case.demand == "answer" and case.id.word in words
    }


def _in_type(workshop: Workshop, call: Call, kind: ElementType) -> Call:
    """The call with inputs of the first one's type in another one, of distinct numbers, no axis too long."""
    main = is_main(workshop.spec)
    names = {each.name for each in workshop.spec.inputs if main(each)}
    draw = workshop.draw("lengths", kind.name)

    def drawn(place: int, name: str, given: Tensor | None) -> Tensor | None:
        if given is None:
            return None
        shape = tuple(LONG if length == MANY else length for length in given.shape)
        if name in names:
            return fill(kind, shape, _CLASS, draw.child(str(place)))
        return given if shape == given.shape else Tensor(given.element_type, _cut(given, shape))

    inputs = tuple((name, drawn(place, name, each)) for place, (name, each) in enumerate(call.inputs))
    return replace(call, inputs=inputs)


def _cut(given: Tensor, shape: tuple[int, ...]) -> NDArray[Any]:
    return np.ascontiguousarray(given.array[tuple(slice(length) for length in shape)])
