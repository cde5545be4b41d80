"""Numbers that pass to another operation or precision: what may come of them where no text settles it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from reference.numbers.number_arrays import Numbers
from reference.numbers.working import Floats, Mask, Working, rounded_up

_DOUBLE = math.ldexp(1.0, -53)


def passed_on(numbers: Numbers, greatest: Floats, count: int) -> Numbers:
    """The sum of `count` integers as another operation may get it; of floats as it is.

    It may have been added up in double precision, which is exact as far as it has the digits.
    `greatest` is the greatest magnitude among the integers of each sum.
    """
    if not numbers.is_integer:
        return numbers
    sizes = rounded_up(count * np.broadcast_to(greatest, numbers.shape))
    # Each integer, its factors, each addition and what is done with the sum is rounded once.
    roundings = np.ceil(rounded_up(2 * (count + 1) * _DOUBLE * sizes))
    return replace(numbers, error=np.where(sizes * _DOUBLE <= 1, 0.0, roundings))


def kept_in_type(numbers: Numbers) -> tuple[Numbers, Numbers]:
    """Integers as their type may hold them: wrapped around, and at its nearer end."""
    low, high = numbers.working.element_type.integer_range
    span = high - low + 1
    return (
        _each(numbers, lambda top, bottom: (top // bottom - low) % span + low),
        _each(numbers, lambda top, bottom: min(max(top // bottom, low), high)),
    )


def or_kept_in_type(
    found: Numbers,
    exact: Numbers,
    continued: Sequence[Callable[[Numbers], Numbers]],
    others_of: Callable[[], Sequence[Numbers]] = tuple,
) -> Numbers:
    """What was found of exact sums of integers, or what comes of those beyond their type as that holds them.

    No text says in what type the sums are kept: a program may have wrapped them or held them at an end, and
    may go on in double precision. `continued` is what may be done with them; `others_of` gives the sums of
    terms that the type held, where some sum lies beyond it.
    """
    low, high = exact.working.element_type.integer_range
    beyond = exact.value.spread(exact.shape).each(lambda top, _: not low <= top <= high, np.bool_)
    if not beyond.any():
        return found
    others = others_of()
    kept = (*kept_in_type(exact), *others, *(each for other in others for each in kept_in_type(other)))
    values = np.stack([each.value.spread(exact.shape).floors() for each in kept])
    held = Numbers.exact(values, exact.working)
    came = [go_on(held) for go_on in continued]
    came += [_in_double(go_on(_in_double(held))) for go_on in continued]
    integers = np.concatenate([each.value.spread(values.shape).floors() for each in came])
    # Where the sum lies within the type, all rows are made alike.
    rows = {tuple(np.where(beyond, row, 0).flat): row for row in integers}
    for row in rows.values():
        found = found.or_also(Numbers.exact(row, exact.working), beyond)
    return found


def _in_double(integers: Numbers) -> Numbers:
    return _each(integers, lambda top, bottom: int(top / bottom))


def _each(numbers: Numbers, function: Callable[[int, int], int]) -> Numbers:
    return Numbers.exact(numbers.value.spread(numbers.shape).each(function, object), numbers.working)


def held(numbers: Numbers, working: Working) -> Numbers:
    """Numbers as a program holds them that converts them to its precision first."""
    moved = replace(numbers, working=working)
    return moved if numbers.error.any() else moved.rounded(1, exact=True)


def opened(numbers: Numbers, doubtful: Mask) -> Numbers:
    """The same numbers, and anything in place of doubtful ones."""
    mask = np.broadcast_to(doubtful, numbers.shape)
    error, sign = np.where(mask, np.inf, numbers.error), np.where(mask, 1.0, numbers.sign)
    return replace(numbers, error=error, sign=sign, lost=numbers.lost | mask)


def root(numbers: Numbers, of_negative: int = 0) -> Numbers:
    """The square root; of integers that of double precision, since they have none of their own.

    A negative integer is a sum that was wrapped: its root is NaN, and `of_negative` what is made of that.
    """
    found = abs(numbers).sqrt()
    if not numbers.is_integer:
        return found
    size = found.value.floats()
    inexact = found.value.each(lambda top, bottom: Fraction(top, bottom).denominator > 1, np.bool_)
    error = rounded_up(found.error + np.where(inexact, 2 * _DOUBLE * size, 0.0))
    return replace(found, error=error).where(np.asarray(numbers.value.signs() >= 0), of_negative)
