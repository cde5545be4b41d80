"""Numbers as a reference answers them: rounded once to the output's type, with what is as good."""

from __future__ import annotations

import math

import numpy as np

from opcert.vocabulary.element_types import ElementType
from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.answers.rounding import Rounded, round_floats, round_integers
from reference.numbers.number_arrays import Numbers
from reference.numbers.numbers import encode
from reference.numbers.working import SLACK, Floats, Mask
from reference.readings.choices import Choice
from reference.sums.sums import Sums


def answer_of(
    numbers: Numbers,
    overflow: Choice[str],
    element_type: ElementType | None = None,
    conversion: str = "truncate",
) -> Answer:
    """The answer in an element type, that of the data as a rule.

    Floats are rounded to nearest; integers, by `conversion` where they are none, wrap around or saturate
    beyond the range, which is asked for where it matters.
    """
    kind = numbers.working.element_type if element_type is None else element_type
    numbers = numbers.broadcast(numbers.shape)
    if kind.kind == "bool":
        return Answer(Tensor(kind, numbers.value.spread(numbers.shape).numerator.astype(np.bool_)))
    sums = Sums(numbers.value, np.where(numbers.finite, numbers.error, 0.0))
    if kind.is_integer:
        rule = overflow.ask() if _leaves(kind, numbers) else overflow.option
        integers = round_integers(kind, sums, conversion, rule)
        return _answer(kind, numbers.shape, _or_else(kind, integers, numbers.instead))
    lost = numbers.lost & numbers.finite
    working = numbers.working
    flush = working.is_float and working.flushes(
        working.may_flush(np.abs(numbers.value.floats()), numbers.error)
    )
    rounded = round_floats(kind, sums, lost if lost.any() else None, flush=flush)
    rounded = _with_special(kind, rounded, numbers.sign.reshape(-1), numbers.lost.reshape(-1))
    return _answer(kind, numbers.shape, _or_else(kind, rounded, numbers.instead))


def _leaves(kind: ElementType, numbers: Numbers) -> bool:
    """Whether a number may lie beyond an integer type's range; what lies in it is converted into it."""
    low, high = kind.integer_range
    value = numbers.value
    tops, bottoms = value.numerator, value.denominator
    beyond = np.asarray((tops < low * bottoms) | (tops > high * bottoms), dtype=np.bool_)
    if beyond.any() or not numbers.error.any():
        return bool(beyond.any())
    exact, inexact = value.floats(), numbers.error > 0
    reach = numbers.error + SLACK * np.abs(exact)
    return bool((inexact & ((exact - reach <= low) | (exact + reach >= high))).any())


def _with_special(kind: ElementType, rounded: Rounded, sign: Floats, lost: Mask) -> Rounded:
    special = ~np.isfinite(sign)
    minus_zero = (sign == 0) & np.signbit(sign) & (rounded.allowed == 0)
    if not (special.any() or minus_zero.any()):
        return rounded
    elements = rounded.elements.copy()
    elements[special] = encode(kind, sign[special].tolist())
    elements[minus_zero] = encode(kind, [-0.0])[0]
    perhaps = np.flatnonzero(np.isinf(sign) & lost).tolist()
    nan = tuple(encode(kind, [math.nan]).tolist()) if perhaps else ()
    alternatives = {**rounded.alternatives, **dict.fromkeys(perhaps, nan)}
    return Rounded(elements, rounded.allowed, alternatives)


def _or_else(kind: ElementType, rounded: Rounded, instead: Numbers | None) -> Rounded:
    """With the numbers that may stand in place of some; of zero either one."""
    if instead is None:
        return rounded
    rounded = _or_else(kind, rounded, instead.instead)
    alternatives = dict(rounded.alternatives)
    signs = instead.sign.reshape(-1)
    for index in np.flatnonzero(~np.isnan(signs)).tolist():
        value = (
            instead.value.spread(instead.shape).fraction(index) if np.isfinite(signs[index]) else signs[index]
        )
        held = [value] if value or kind.is_integer else [0.0, -0.0]
        others = [int(value)] if kind.is_integer else encode(kind, held).tolist()
        every = (*alternatives.get(index, ()), *others)
        alternatives[index] = tuple({repr(each): each for each in every}.values())  # 0.0 == -0.0
    return Rounded(rounded.elements, rounded.allowed, alternatives)


def _answer(kind: ElementType, shape: tuple[int, ...], rounded: Rounded) -> Answer:
    return Answer(
        Tensor(kind, rounded.elements.reshape(shape)),
        rounded.allowed.reshape(shape),
        rounded.alternatives or None,
    )
