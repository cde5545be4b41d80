"""Sums of products of quantised numbers, scaled back and quantised anew."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated, Literal

import numpy as np

from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.answers.orders import whole
from reference.answers.quantised import InfinityToFnuz, as_integers, as_narrow_floats
from reference.functions.stable_formulas import whichever
from reference.numbers.number_arrays import Numbers
from reference.numbers.working import Mask, Working
from reference.readings.choices import AsReading, Choice

TiesOfSteps = Annotated[Choice[Literal["even", "either"]], AsReading]
StepsOfFloats = Annotated[Choice[Literal["type", "whole"]], AsReading]
GREATEST_SUM = (1 << 31) - 1
"""Sums are of 32 bits: what a greater one becomes is open."""
GREATEST_PRODUCT = 255 * 255
_A_LITTLE = math.ldexp(1.0, -40)


def distance(given: Tensor, zero_point: Numbers, working: Working) -> Numbers:
    """How far elements are from their zero point, exact as far as float32 holds it."""
    return Numbers.of(given, working) - zero_point


def accumulating(working: Working) -> Working:
    """The arithmetic that sums of distances are added up in: none of fewer bits than float32 has."""
    return replace(working, element_type=ELEMENT_TYPES["float"])


def in_steps(
    scaled: Numbers, plain: Numbers, first: Numbers, second: Numbers, step: Numbers, precise: Working
) -> Numbers:
    """A sum in steps of the output: `scaled`, of numbers that were scaled one by one, divided by the step; or
    the sum `plain` of their distances times both scales and the reciprocal of the step, in any order.
    """

    def at_once() -> Numbers:
        factor = whichever((first * second) / step, lambda: first * (second / step))
        # Other orders round as often, each time by at most twice what is charged here.
        return replace(plain, working=precise) * replace(factor, error=2 * factor.error)

    return whichever(scaled / step, at_once)


def halves(quotient: Numbers) -> Mask:
    """Where a number lies half-way between two integers, and no rounding on the way moves it."""
    doubled = quotient.value.each(lambda top, bottom: 2 * top % bottom == 0 and top % bottom != 0, np.bool_)
    return np.asarray(np.broadcast_to(doubled, quotient.shape) & quotient.finite & (quotient.error == 0))


def quantised(
    quotient: Numbers,
    zero_point: Tensor,
    *,
    ties: Choice[Literal["even", "either"]] | None = None,
    steps_of_floats: Choice[Literal["type", "whole"]] | None = None,
    infinity_to_fnuz: InfinityToFnuz | None = None,
) -> Answer:
    """saturate(quotient + zero point), the quotient rounded to nearest and halves to even.

    `ties` is asked where some lie half-way and no text says where these go; `steps_of_floats` where the
    output has a floating-point type.
    """
    kind = zero_point.element_type
    zeros = Numbers.of(zero_point, quotient.working).reshape(()).broadcast(quotient.shape)
    if kind.is_integer:
        if ties is not None and (half := halves(quotient)).any() and ties.ask() == "either":
            quotient = replace(quotient, error=np.where(half, _A_LITTLE, quotient.error))
        return as_integers(kind, quotient, zeros)
    if steps_of_floats is not None and steps_of_floats.ask() == "whole":
        quotient = whole(quotient, "half_even")
    return as_narrow_floats(kind, quotient + zeros, saturate=True, infinity_to_fnuz=infinity_to_fnuz)
