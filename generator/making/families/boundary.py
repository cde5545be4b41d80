"""Cases at the edges of the input space: extents 0 and 1, rank 0, extreme values, NaN, infinities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import islice, product

import numpy as np

from conformance.suite.cases import Case
from generator.asking.ambiguity import ambiguity
from generator.asking.calls import Call
from generator.calls.data.floats import not_numbers
from generator.calls.rows.covering import cover, with_fixed
from generator.calls.rows.factors import first_types
from generator.calls.rows.feasibility import Level, Row
from generator.making.operators.workshop import Workshop, word_of
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from reference.answers import UnstableLength

PLACES = ("first", "inside", "last")
"""Where loops treat elements apart."""
CLEARER = 6
"""Calls among which the clearest is taken."""
SPECIALS = ("nan", "infinity", "negative_infinity")


def make_cases(workshop: Workshop) -> None:
    calls = workshop.levels.boundary_calls(workshop.spec, workshop.draw("boundary"))
    for word, levels, call in workshop.lacking("boundary", calls):
        with suppress(UnstableLength):
            workshop.add_valid("boundary", word_of(word), call, levels)
    rows = _rows_with_specials(workshop)
    specials = ((f"{special}_{place}", special, place) for special, place in product(SPECIALS, PLACES))
    for word, special, place in workshop.lacking("boundary", specials):
        _add_clearest(workshop, word, _calls_with(workshop, rows, special, place))


def _add_clearest(workshop: Workshop, word: str, calls: Iterator[tuple[Mapping[str, str], Call]]) -> None:
    """Of the first calls the one with the least share of elements that have several accepted results."""
    best: tuple[Fraction, Call, Case] | None = None
    for levels, call in islice(calls, CLEARER):
        try:
            case = workshop.make_valid("boundary", word, call, levels)
        except UnstableLength:
            continue
        share = ambiguity([case]).share
        if best is None or share < best[0]:
            best = (share, call, case)
        if not share:
            break
    if best is not None and not workshop.has(best[1]):
        workshop.keep(*best[1:])


def _rows_with_specials(workshop: Workshop) -> list[Row]:
    """Rows whose first input may hold NaN and infinities, all levels of the other factors among them.

    There are none of an operator without floating-point types, or without the class `nonfinite`.
    """
    model = workshop.model
    if not _plain_float(workshop) or "nonfinite" not in model.levels.get("data", ()):
        return []
    fixed: dict[str, Level] = {**_plain_float(workshop), "data": "nonfinite"}
    return cover(with_fixed(model, {name: level for name, level in fixed.items() if name in model.levels}), 1)


def _plain_float(workshop: Workshop) -> Mapping[str, str]:
    """A floating-point type with such values, float before others, as a level of the first input's types."""
    factor, types = first_types(workshop.spec, workshop.model)
    found = sorted((each for each in types if _has_specials(each)), key=lambda each: each != "float")
    return {factor: found[0]} if found else {}


def _calls_with(
    workshop: Workshop, rows: Sequence[Row], special: str, place: str
) -> Iterator[tuple[Mapping[str, str], Call]]:
    """Calls of these rows whose first input has one such value, in that place, among distinct numbers."""
    model = workshop.model
    draw = workshop.draw("boundary", special, place)
    for row in draw.shuffled(rows):
        levels = {name: str(level) for name, level in model.row_levels(row).items()}
        levels |= _plain_float(workshop)
        call = workshop.levels.build_call(workshop.spec, {**levels, "data": "distinct"}, draw.child(str(row)))
        X = call.inputs[0][1] if call is not None and call.inputs else None
        if call is None or X is None or X.array.size < len(PLACES):
            continue
        changed = call.with_input(call.inputs[0][0], _with_special(X, special, place))
        if not workshop.violations(changed):
            yield levels, changed


def _has_specials(element_type: str) -> bool:
    kind = ELEMENT_TYPES[element_type]
    return kind.layout is not None and len(not_numbers(kind)) == len(SPECIALS)


def _with_special(X: Tensor, special: str, place: str) -> Tensor:
    codes = dict(zip(SPECIALS, not_numbers(X.element_type), strict=True))
    array = np.array(X.array)
    flat = array.reshape(-1)
    position = {"first": 0, "inside": flat.size // 2, "last": flat.size - 1}[place]
    flat[position] = np.array(codes[special], dtype=f"u{flat.itemsize}").view(flat.dtype)
    return Tensor(X.element_type, array)
