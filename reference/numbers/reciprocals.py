"""What a quotient errs by, beyond its roundings, where programs multiply with a divisor's reciprocal."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from reference.numbers.numbers import smallest_normal
from reference.numbers.rationals import Rationals
from reference.numbers.working import MARGIN, Floats, Mask, Working


class QuotientOperand(Protocol):
    """What a quotient's errors hang on of its operands, which are Numbers."""

    @property
    def working(self) -> Working: ...
    @property
    def value(self) -> Rationals: ...
    @property
    def error(self) -> Floats: ...
    @property
    def finite(self) -> Mask: ...
    @property
    def magnitude(self) -> Floats: ...


def reciprocal_errors(
    dividend: QuotientOperand, divisor: QuotientOperand, inverse: Rationals, ratio: Floats
) -> tuple[Floats, Mask]:
    """The further error of each quotient, and where it is lost; `ratio` is its size.

    A subnormal reciprocal is off by as much as the smallest number, of which the quotient is the dividend's
    multiple, or it is flushed; one beyond the greatest number is an infinity. Asks for the precision where a
    narrow type does not hold a reciprocal.
    """
    working, size = dividend.working, np.abs(inverse.floats())
    some = (dividend.value.signs() != 0) | (dividend.error > 0)
    used = some & dividend.finite & divisor.finite & (divisor.value.signs() != 0)
    if working.is_narrow:
        working.note_chain(used & ~inverse.representable(working.own_layout))
    beyond = np.asarray(used & (size >= working.greatest * (1 - MARGIN)), dtype=np.bool_)
    tiny = used & (size * (1 - MARGIN) < float(smallest_normal(working.layout)))
    if not tiny.any():
        return np.zeros(ratio.shape), beyond
    with np.errstate(over="ignore", invalid="ignore"):
        missed = working.least * dividend.magnitude
    more = np.where(tiny & ~inverse.representable(working.layout), missed, 0.0)
    return np.where(tiny, more + ratio, more) if working.flushes(tiny) else more, beyond
