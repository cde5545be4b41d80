"""Numbers become elements of few bits: integers that saturate, and floats that saturate or do not."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Annotated, Literal

import numpy as np

from opcert.vocabulary.element_types import ElementType
from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.answers.rounding import float_up, round_by
from reference.numbers.number_arrays import Numbers
from reference.numbers.numbers import Number, encode, largest, numbers
from reference.readings.choices import AsReading, Choice

InfinityToFnuz = Annotated[Choice[Literal["saturated", "nan"]], AsReading]
OPEN = math.inf
"""The distance at which any element is as good."""


def as_integers(kind: ElementType, given: Numbers, zeros: Numbers | None = None) -> Answer:
    """Each number rounded to the nearest integer, halves to even; a zero point added; then saturated.

    Every integer is accepted that a number within the error becomes, and any for NaN: no text says which.
    """
    low, high = kind.integer_range
    shifts = [0] * given.error.size if zeros is None else [int(each) for each in zeros.value.fractions()]

    def converted(value: Number, place: int) -> int:
        if isinstance(value, float) and math.isinf(value):
            return high if value > 0 else low
        whole = round_by(Fraction(value), "half_even") + shifts[place]
        return min(max(whole, low), high)

    return _answer(kind, given, converted)


def as_narrow_floats(
    kind: ElementType,
    given: Numbers,
    *,
    saturate: bool,
    infinity_to_fnuz: Choice[Literal["saturated", "nan"]] | None = None,
) -> Answer:
    """Each number rounded once, to nearest, halves to even; beyond the greatest one it is that if saturated.

    Else it is an infinity, or NaN in a type that has none. Any element is accepted for NaN where the type
    has none. What saturated infinities become in types without negative zero is asked for where given.
    """
    fnuz = kind.layout is not None and kind.layout.nan == "negative_zero"
    if fnuz and saturate and infinity_to_fnuz is not None and np.isinf(given.sign).any():
        lost = infinity_to_fnuz.ask() == "nan"
    else:
        lost = False

    def converted(value: Number, _place: int) -> int:
        return narrow_bits(kind, math.nan if lost and math.isinf(value) else value, saturate=saturate)

    return _answer(kind, given, converted)


def narrow_bits(kind: ElementType, value: Number, *, saturate: bool) -> int:
    """The bits of a number, an infinity or NaN in a type of at most 8 bits with a significand."""
    if saturate and not math.isnan(value):
        assert kind.layout is not None
        most = largest(kind.layout)
        if value > most:
            value = most
        elif value < -most:
            value = -most
    return int(encode(kind, [value])[0])


def _answer(kind: ElementType, given: Numbers, converted: Callable[[Number, int], int]) -> Answer:
    """An element for each number, as far from it as those for its least and its greatest value are."""
    given = given.broadcast(given.shape)
    size = given.error.size
    elements, allowed = np.zeros(size, dtype=kind.storage), np.zeros(size)
    alternatives: dict[int, tuple[int, ...]] = {}
    rest = (given.error.flat, given.sign.flat, given.lost.flat)
    for place, (value, error, sign, lost) in enumerate(zip(given.value.fractions(), *rest, strict=True)):
        if math.isnan(sign) and not _has_nan(kind):
            allowed[place] = OPEN
            continue
        exact = value if math.isfinite(sign) and (value or not np.signbit(sign)) else float(sign)
        elements[place] = converted(exact, place)
        if not math.isfinite(sign) or (error == 0 and not lost):
            continue
        if lost or not math.isfinite(error):
            allowed[place] = OPEN
            continue
        slack = Fraction(float(error))
        ends = {converted(value - slack, place), converted(value + slack, place)} - {int(elements[place])}
        if not ends:
            continue
        found = numbers(kind, np.array([elements[place], *ends], dtype=kind.storage))
        if all(math.isfinite(each) for each in found):
            allowed[place] = float_up(max(abs(Fraction(each) - Fraction(found[0])) for each in found))
        else:
            alternatives[place] = tuple(sorted(ends))
    shaped = Tensor(kind, elements.reshape(given.shape))
    return Answer(shaped, allowed.reshape(given.shape), alternatives or None)


def _has_nan(kind: ElementType) -> bool:
    return kind.layout is not None and kind.layout.nan != "none"
