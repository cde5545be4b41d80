"""Numbers of every size in tensors that are longer than the vectors of a processor.

A function is often worked out in one way where elements fill a vector, and in another where they do not. What
a vector's way gets wrong of small numbers shows only where small numbers fill one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from conformance.suite.cases import Case
from generator.asking.calls import Call
from generator.asking.tensor_edits import is_main
from generator.calls.data import floats
from generator.calls.data.draws import Draw
from generator.calls.rows.factors import first_types
from generator.calls.variables.vector_lengths import VECTOR_BYTES
from generator.making.operators.workshop import Workshop
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.tensors import Tensor
from reference.answers import UnstableLength

WORD = "sizes_in_vectors"
LENGTH = VECTOR_BYTES + 3
"""Two vectors of elements of 16 bits, more of longer ones, and a rest."""
_BANDS = ((-6, 1), (-24, -7), (-6, 1), (2, 19))
"""Exponents of two, in turn: where functions bend, where they are straight, and where they level off."""
_ROUNDED = 8
"""So many elements at least are rounded, or the case tells nothing that others do not."""


def add_sizes_in_vectors(workshop: Workshop) -> None:
    """For each floating-point type a case, of operators that round what they make of one element each."""
    _, types = first_types(workshop.spec, workshop.model)
    plain = _plain_call(workshop)
    if plain is None:
        return
    kinds = [ELEMENT_TYPES[each] for each in types]
    made = ((f"{WORD}_{each}", each) for each in kinds if each.layout is not None and each.bits >= 16)
    for word, kind in workshop.lacking("boundary", made):
        call = replace(plain, inputs=tuple(_of_many_sizes(workshop, plain, kind)))
        if workshop.violations(call) or workshop.has(call):
            continue
        try:
            case = workshop.make_valid("boundary", word, call)
        except UnstableLength:
            continue
        if _is_rounded(case):
            workshop.keep(call, case)


def _plain_call(workshop: Workshop) -> Call | None:
    """A call of which every input that has elements has one axis, as long as the others."""
    for digest, case in workshop.cases.items():
        if case.id.family == "boundary" and str(case.id.word).startswith("length_") and case.expectations:
            call = workshop.calls[digest]
            shapes = {each.shape for _, each in call.inputs if each is not None}
            made = {each.expected.shape for each in case.expectations[0].outputs}
            if len(shapes) == 1 and made == shapes and len(next(iter(shapes))) == 1:
                return call
    return None


def _of_many_sizes(workshop: Workshop, call: Call, kind: ElementType) -> Iterator[tuple[str, Tensor | None]]:
    main = is_main(workshop.spec)
    names = {each.name for each in workshop.spec.inputs if main(each)}
    draw = workshop.draw(WORD, kind.name)
    for place, (name, given) in enumerate(call.inputs):
        drawn = given is not None and name in names
        yield name, _drawn(kind, draw.child(str(place))) if drawn else given


def _drawn(kind: ElementType, draw: Draw) -> Tensor:
    """Numbers of both signs, their exponents evenly in each band, as far as they are normal in the type."""
    layout = kind.layout
    if layout is None:
        raise ValueError(f"{kind} has no exponents")
    low, high = layout.least_exponent, layout.greatest_exponent - 1
    hidden = 1 << (layout.precision - 1)
    codes = []
    for place in range(LENGTH):
        least, most = _BANDS[place % len(_BANDS)]
        exponent = draw.integer(max(least, low), min(most, high))
        significand = hidden + draw.integer(0, hidden - 1)
        signed = significand if draw.integer(0, 1) else -significand
        codes.append(floats.encode(kind, signed, exponent - layout.precision + 1))
    bits = np.array(draw.shuffled(codes), dtype=f"u{kind.bits // 8}")
    return Tensor(kind, bits.view(kind.storage))


def _is_rounded(case: Case) -> bool:
    """Whether an error is allowed to many elements of what comes out."""
    if not case.expectations:
        return False
    allowed = case.expectations[0].outputs[0].allowed
    return allowed is not None and int(np.count_nonzero(np.isfinite(allowed) & (allowed > 0))) >= _ROUNDED
