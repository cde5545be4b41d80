"""What a program computes in: its precision, and what no document says about it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.arithmetics import Arithmetic, Requantise
from opcert.vocabulary.element_types import BINARY32, BINARY64, ElementType, FloatLayout
from reference.numbers.numbers import largest, smallest_normal, smallest_subnormal
from reference.numbers.rationals import Rationals
from reference.readings.choices import Choice

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

MARGIN = math.ldexp(1.0, -20)
"""How far below the greatest number a bound must stay so that no rounding on the way passes it."""
_RELAXED_MARGIN = math.ldexp(1.0, -9)
"""The same of functions by OpenCL's table of unsafe math, whose greatest error is 2^-10 of the value."""
SLACK = math.ldexp(1.0, -40)
"""More than the relative error of a float64 sum of up to a thousand terms of one sign."""


def rounded_up(bound: Floats) -> Floats:
    """A bound computed in float64, raised so that it holds in exact arithmetic; zero stays zero."""
    if not bound.any():
        return bound
    with np.errstate(over="ignore"):
        # What is no number is no bound either: `fmin` makes infinity of it.
        raised = np.fmin(np.nextafter(bound * (1 + SLACK), np.inf), np.inf)
    return np.where(bound == 0, 0.0, raised)


def unit_roundoff(layout: FloatLayout) -> float:
    """The greatest relative error of one rounding to nearest: half a unit in the last place of 1."""
    return math.ldexp(1.0, -layout.precision)


def power_below(size: Floats) -> Floats:
    """The greatest power of two that is not above each number: a rounding there errs by u times that."""
    return np.where(np.isfinite(size) & (size > 0), np.ldexp(0.5, np.frexp(size)[1]), size)


@dataclass(eq=False)
class Computing:
    """In what numbers of type float are computed meanwhile, and what was learned of it.

    `bounded` says that some of them were bounded by it, `apart` that some were bounded without.
    """

    arithmetic: Arithmetic
    bounded: bool = False
    apart: set[str] = field(default_factory=set)


_COMPUTING: ContextVar[Computing | None] = ContextVar("computing", default=None)


@contextmanager
def computing_in(arithmetic: Arithmetic) -> Iterator[Computing]:
    """Let what is evaluated meanwhile be bounded as programs compute that have this in float32's place."""
    computing = Computing(arithmetic)
    token = _COMPUTING.set(computing)
    try:
        yield computing
    finally:
        _COMPUTING.reset(token)


def requantisation() -> Requantise:
    """How integers in steps of a scale come of exact sums meanwhile."""
    computing = _COMPUTING.get()
    if computing is None or computing.arithmetic.requantise == "float32":
        return "float32"
    computing.bounded = True
    return computing.arithmetic.requantise


BETWEEN_ELEMENTS = "places between elements are bounded for coordinates and weights in float32 alone"
COMPARISONS = "what decides is bounded for comparisons in float32 alone"


def bounded_apart(how: str) -> None:
    """Say that a bound is derived of float32 alone, in words."""
    computing = _COMPUTING.get()
    if computing is not None:
        computing.apart.add(how)


@dataclass(frozen=True, eq=False)
class Working:
    """The arithmetic of one call: the element type of its data, and the readings that all of it shares.

    `subnormals` and `accumulation` are asked for where an operation depends on them, and nowhere else.
    """

    element_type: ElementType
    subnormals: Choice[str] = Choice("kept")
    accumulation: Choice[str] = Choice("float32")

    @cached_property
    def constants(self) -> dict[Fraction | int, Any]:
        """Constants as numbers of this arithmetic, as far as they were needed."""
        return {}

    @cached_property
    def is_float(self) -> bool:
        return self.element_type.is_float

    @cached_property
    def arithmetic(self) -> Arithmetic | None:
        """What stands in float32's place, where something does."""
        computing = _COMPUTING.get()
        if computing is None or self.element_type.name != "float" or computing.arithmetic.keeps_floats:
            return None
        computing.bounded = True
        return computing.arithmetic

    @cached_property
    def is_relaxed(self) -> bool:
        """Whether functions and quotients err by OpenCL's table of unsafe math."""
        return self.arithmetic is not None and self.arithmetic.functions == "relaxed"

    def needs_full_functions(self, what: str) -> None:
        """Say that a bound, in words, is derived for functions and quotients of the full column alone."""
        if self.is_relaxed:
            bounded_apart(f"{what} derived for functions of the full column alone")

    @cached_property
    def layout(self) -> FloatLayout:
        """In what operations are computed: float32 at least, or the type itself where it is read so."""
        if self.arithmetic is not None:
            return self.arithmetic.layout
        if self.is_narrow and self.accumulation.option == "input":
            return self.own_layout
        return BINARY64 if self.element_type.name == "double" else BINARY32

    @cached_property
    def sums(self) -> FloatLayout:
        """In what sums are added up."""
        return self.layout if self.arithmetic is None else self.arithmetic.sums

    @cached_property
    def own_layout(self) -> FloatLayout:
        """That of the element type itself, which is one of floats."""
        assert self.element_type.layout is not None
        return self.element_type.layout

    @cached_property
    def is_narrow(self) -> bool:
        """Whether programs compute either in the type itself or in float32."""
        return self.element_type.name in ("float16", "bfloat16")

    @cached_property
    def unit(self) -> float:
        """The greatest relative error of one rounding to nearest."""
        return unit_roundoff(self.layout)

    @cached_property
    def least(self) -> float:
        """The smallest positive number: what one rounding errs by at most where it underflows, twice."""
        least = 0.0 if self.arithmetic is None else self.arithmetic.least
        return max(least, float(smallest_subnormal(self.layout)))

    @cached_property
    def least_normal(self) -> float:
        """Below this a number may be flushed to zero: that of the type, or of the precision if greater.

        Of an arithmetic that keeps its subnormal numbers that of the type alone.
        """
        own = self.element_type.layout
        if own is not None and self.arithmetic is not None and self.arithmetic.subnormals == "keep":
            return float(smallest_normal(own))
        here = float(smallest_normal(self.layout))
        return here if own is None else max(here, float(smallest_normal(own)))

    @cached_property
    def greatest(self) -> float:
        """The greatest finite number that a program can hold on its way."""
        return float(largest(self.layout))

    @cached_property
    def farthest(self) -> float:
        """From here on every program holds an infinity: not where some hold a float32 and some less."""
        return self.greatest if self.arithmetic is None else float(largest(BINARY32))

    @cached_property
    def beyond(self) -> Fraction:
        """Above this a value of a function is an infinity, however far it may be off."""
        return Fraction(self.farthest) * (1 + Fraction(_RELAXED_MARGIN if self.is_relaxed else MARGIN))

    @cached_property
    def range(self) -> tuple[Fraction, Fraction]:
        """The least and the greatest number of the element type."""
        if self.element_type.is_integer:
            low, high = self.element_type.integer_range
            return Fraction(low), Fraction(high)
        assert self.element_type.layout is not None
        return -largest(self.element_type.layout), largest(self.element_type.layout)

    def may_flush(self, size: Floats, error: Floats) -> Mask:
        """Where a number within an error of a size may be below the smallest normal one, and not zero."""
        with np.errstate(invalid="ignore"):
            return np.asarray((size + error > 0) & ~(size - error >= self.least_normal))

    def flushes(self, tiny: Mask) -> bool:
        """Whether tiny numbers may become zero; asks only where there are any."""
        return bool(tiny.any()) and self.subnormals.ask() == "flushed"

    def note_chain(self, inexact: Mask) -> None:
        """Ask for the precision of sums and chains of operations, where some of their results are inexact."""
        if self.is_narrow and inexact.any():
            self.accumulation.ask()


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


_QUOTIENT_ULPS = 2.5
"""Units in the last place of float32 that quotients have by OpenCL's table of unsafe math."""
_MOST_INVERTED = math.ldexp(1.0, 126)


def relaxed_errors(
    dividend: QuotientOperand, divisor: QuotientOperand, error: Floats, ratio: Floats, *, by_reciprocal: bool
) -> tuple[Floats, Mask]:
    """The errors of quotients by the table of unsafe math, and where it says nothing of them.

    It has x / y for magnitudes from 2^-62 to 2^62, and 1 / y from 2^-126 to 2^126. Beyond the first the
    quotient is x times the second: as exact, and rounded once more.
    """
    size, off, is_none = np.abs(divisor.value.floats()), divisor.error, divisor.value.signs() == 0
    with np.errstate(over="ignore", invalid="ignore"):
        far = (size + off > _MOST_INVERTED) | (size - off < 1 / _MOST_INVERTED)
        reach = ratio + error if by_reciprocal else power_below(ratio + error)
        more = rounded_up(error + math.ldexp(2 * _QUOTIENT_ULPS, -BINARY32.precision) * reach)
    some = (dividend.value.signs() != 0) | (dividend.error > 0)
    used = some & dividend.finite & divisor.finite & ~is_none
    return np.where(used, more, error), np.asarray(used & far)
