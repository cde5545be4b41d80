"""Lengths around vectors, and the long one, in the types that kernels are written for beside float."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from generator.adequacy.tensor_edits import is_main
from generator.asking.calls import Call
from generator.borders.vector_lengths import MANY, lengths_around
from generator.making.workshop import Workshop
from generator.rows.factors import first_types
from generator.spaces.data_levels import DATA, fits
from generator.values.data import fill
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.tensors import Tensor
from reference.answers import UnstableLength

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
        if workshop.violations(made) or workshop.has(made):
            continue
        with suppress(UnstableLength):
            workshop.add_valid("boundary", word, made)


def _plain_calls(workshop: Workshop) -> dict[str, Call]:
    """The calls of the plainest type that are one longer than a vector, or long, by their words."""
    lengths = (lengths_around()[-2], MANY)
    return {
        str(case.id.word): workshop.calls[digest]
        for digest, case in workshop.cases.items()
        if case.id.family == "boundary"
        and case.demand == "answer"
        and str(case.id.word).endswith(tuple(f"_{length}" for length in lengths))
    }


def _in_type(workshop: Workshop, call: Call, kind: ElementType) -> Call:
    """The call with inputs of the first one's type in another one, of distinct numbers."""
    main = is_main(workshop.spec)
    names = {each.name for each in workshop.spec.inputs if main(each)}
    draw = workshop.draw("lengths", kind.name)

    def drawn(place: int, name: str, given: Tensor | None) -> Tensor | None:
        if given is None or name not in names or not fits(kind.name, _CLASS):
            return given
        return fill(kind, given.shape, _CLASS, draw.child(str(place)))

    inputs = tuple((name, drawn(place, name, each)) for place, (name, each) in enumerate(call.inputs))
    return replace(call, inputs=inputs)
