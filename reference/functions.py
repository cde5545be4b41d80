"""Elementary functions of Numbers: their values, what programs may be off by, and what is no number.

One table says what each function is allowed: the units in the last place of the OpenCL SPIR-V Environment
Specification, "Relative Error as ULPs", table "ULP Values for Math Instructions - Full Profile", which has a
column each for float64, float32 and float16. docs/bounds.md says how errors of arguments pass through.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal

import numpy as np
from flint import arb

from opcert.vocabulary.element_types import BINARY32, BINARY64
from reference.enclosures import Ball, nearest_value
from reference.number_arrays import Numbers, settled
from reference.passing import opened
from reference.rationals import Rationals
from reference.working import MARGIN, Working, rounded_up

DOUBLE_BITS, USUAL_BITS = 1280, 320
"""Of a value: what is left of it where a formula subtracts it from another tells the result's last bit."""
_EXPLODED = Fraction(2048)
"""The exponential function is above all numbers of all types there, and on the other side below all."""
_LEVEL = Fraction(64)
"""Where the error function is 1 to more bits than are asked for."""
_FARTHEST = Fraction(1 << 4000)
"""As good as infinity for a function that has an irrational limit there."""


@dataclass(frozen=True)
class Function:
    """An elementary function of one real number.

    `ulps` are allowed of float64, float32 and float16. `points` are the arguments with rational values. The
    function has real values between the `ends` of its domain, None where that has none. `limits` are what
    comes out at each end: an infinity at a pole, NaN where there is no limit, None where the end is like any
    other point, or the limit is no rational number. Its `slope` says whether it rises, falls, is even and
    rises from 0 on ever more steeply, or swings with a slope of at most 1; arguments `beyond` a number are as
    good as that. Where poles recur there is at most one between arguments that are less than `poles` apart.
    """

    enclose: Callable[[Ball], Ball]
    ulps: tuple[float, float, float]
    points: Mapping[Fraction, Fraction]
    ends: tuple[Fraction | None, Fraction | None] = (None, None)
    limits: tuple[float | None, float | None] = (math.nan, math.nan)
    slope: Literal["rises", "falls", "even", "swings"] = "rises"
    beyond: Fraction | None = None
    poles: float = math.inf

    def has_value_at(self, argument: Fraction) -> bool:
        """Whether a number lies in the domain, and is no end at which a limit comes out."""
        low, high = self.ends
        if argument in self.ends:
            return self.limits[self.ends.index(argument)] is None
        return (low is None or argument > low) and (high is None or argument < high)

    def allowance(self, working: Working) -> float:
        """The units in the last place that a program may be off by, in the arithmetic of a call."""
        if working.layout == BINARY64:
            return self.ulps[0]
        return self.ulps[1] if working.layout == BINARY32 else self.ulps[2]


_ZERO, _UNIT = Fraction(0), Fraction(1)
_BETWEEN = (-_UNIT, _UNIT)
_UP = (math.inf, math.inf)
FUNCTIONS: Mapping[str, Function] = {
    "acos": Function(arb.acos, (4, 4, 2), {_UNIT: _ZERO}, _BETWEEN, (None, None), "falls"),
    "acosh": Function(arb.acosh, (4, 4, 2), {_UNIT: _ZERO}, (_UNIT, None), (None, math.inf)),
    "asin": Function(arb.asin, (4, 4, 2), {_ZERO: _ZERO}, _BETWEEN, (None, None)),
    "asinh": Function(arb.asinh, (4, 4, 2), {_ZERO: _ZERO}, limits=(-math.inf, math.inf)),
    "atan": Function(arb.atan, (5, 5, 2), {_ZERO: _ZERO}, limits=(None, None)),
    "atanh": Function(arb.atanh, (5, 5, 2), {_ZERO: _ZERO}, _BETWEEN, (-math.inf, math.inf)),
    "cos": Function(arb.cos, (4, 4, 2), {_ZERO: _UNIT}, slope="swings"),
    "cosh": Function(arb.cosh, (4, 4, 2), {_ZERO: _UNIT}, limits=_UP, slope="even", beyond=_EXPLODED),
    "erf": Function(arb.erf, (16, 16, 4), {_ZERO: _ZERO}, limits=(-1.0, 1.0), beyond=_LEVEL),
    "erfc": Function(arb.erfc, (16, 16, 4), {_ZERO: _UNIT}, limits=(2.0, 0.0), slope="falls", beyond=_LEVEL),
    "exp": Function(arb.exp, (3, 3, 2), {_ZERO: _UNIT}, limits=(0.0, math.inf), beyond=_EXPLODED),
    "expm1": Function(arb.expm1, (3, 3, 2), {_ZERO: _ZERO}, limits=(-1.0, math.inf), beyond=_EXPLODED),
    "log": Function(arb.log, (3, 3, 2), {_UNIT: _ZERO}, (_ZERO, None), (-math.inf, math.inf)),
    "log1p": Function(arb.log1p, (2, 2, 2), {_ZERO: _ZERO}, (-_UNIT, None), (-math.inf, math.inf)),
    "sin": Function(arb.sin, (4, 4, 2), {_ZERO: _ZERO}, slope="swings"),
    "sinh": Function(arb.sinh, (4, 4, 2), {_ZERO: _ZERO}, limits=(-math.inf, math.inf), beyond=_EXPLODED),
    "tan": Function(arb.tan, (5, 5, 2), {_ZERO: _ZERO}, poles=3.0),
    "tanh": Function(arb.tanh, (5, 5, 2), {_ZERO: _ZERO}, limits=(-1.0, 1.0), beyond=_EXPLODED),
}
"""By name, as C's mathematical library has them."""


def function_of(name: str, numbers: Numbers) -> Numbers:
    """An elementary function of each number: within its allowance, NaN outside its domain."""
    function, working = FUNCTIONS[name], numbers.working
    bits = DOUBLE_BITS if working.layout == BINARY64 else USUAL_BITS
    values = np.empty(numbers.shape, dtype=object)
    special, error = np.zeros(numbers.shape), np.zeros(numbers.shape)
    lost = np.array(np.broadcast_to(numbers.lost, numbers.shape))
    arguments = numbers.value.spread(numbers.shape).fractions()
    most = Fraction(working.greatest) * (1 + Fraction(MARGIN))
    signs, errors = numbers.sign.reshape(-1).tolist(), numbers.error.reshape(-1).tolist()
    for at, (argument, sign, off) in enumerate(zip(arguments, signs, errors, strict=True)):
        outcome, reach = _found(name, argument.numerator, argument.denominator, sign, off, bits)
        if isinstance(outcome, Fraction) and abs(outcome) > most:
            outcome, reach = math.inf if outcome > 0 else -math.inf, None
        is_value = isinstance(outcome, Fraction)
        values.flat[at], special.flat[at] = (outcome, 0.0) if is_value else (_ZERO, outcome)
        if off:
            error.flat[at] = math.inf if reach is None else reach
            lost.flat[at] |= reach is None
    zero = np.where(numbers.sign == 0, numbers.sign, 0.0)
    found = settled(working, Rationals.of(values), rounded_up(error), special, zero, lost)
    exact = (found.value.signs() == 0) & (found.error == 0)
    working.note_chain(found.finite & ~exact)
    ulps = function.allowance(working)
    found = found.rounded(1, exact=exact, least=math.ceil(ulps), ulps=ulps)
    # An argument that may lie on the other side of an end of the domain, or beyond all numbers.
    doubtful = found.lost & ~np.isfinite(found.sign)
    return opened(found, doubtful) if doubtful.any() else found


@lru_cache(maxsize=1 << 16)
def _found(
    name: str, numerator: int, denominator: int, sign: float, off: float, bits: int
) -> tuple[Fraction | float, float | None]:
    """What comes out of an argument, and how far that may be off; kept for other readings."""
    argument = Fraction(numerator, denominator)
    outcome = _outcome(name, argument, sign, bits)
    return outcome, _reach(name, argument, off, outcome, bits) if off else 0.0


def _outcome(name: str, argument: Fraction, sign: float, bits: int) -> Fraction | float:
    """What comes out: a value, or an infinity or NaN."""
    function = FUNCTIONS[name]
    low, high = function.ends
    if math.isnan(sign):
        return sign
    if math.isinf(sign):
        if (high if sign > 0 else low) is not None:
            return math.nan
        argument = _FARTHEST if sign > 0 else -_FARTHEST
        limit = function.limits[int(sign > 0)]
    else:
        if (low is not None and argument < low) or (high is not None and argument > high):
            return math.nan
        limit = None if function.has_value_at(argument) else function.limits[function.ends.index(argument)]
    if limit is None:
        return _value(name, argument, bits)
    return Fraction(limit) if math.isfinite(limit) else limit


def _value(name: str, argument: Fraction, bits: int) -> Fraction:
    """The value at an argument inside the domain."""
    function = FUNCTIONS[name]
    if argument in function.points:
        return function.points[argument]
    if function.beyond is not None:
        argument = min(max(argument, -function.beyond), function.beyond)
    return nearest_value(function.enclose, argument, bits)


def _reach(name: str, argument: Fraction, off: float, value: Fraction | float, bits: int) -> float | None:
    """How far the value may be off where the argument is; None for any distance."""
    function = FUNCTIONS[name]
    if not isinstance(value, Fraction) or math.isinf(off) or 2 * off > function.poles:
        return None
    if function.slope == "swings":
        return min(off, 2.0)
    if function.slope == "even":
        return _distance(_value(name, abs(argument) + Fraction(off), bits), value)
    around = [argument - Fraction(off), argument + Fraction(off)]
    if not all(map(function.has_value_at, around)):
        return None
    low, high = sorted(_value(name, each, bits) for each in around)
    # A pole lies between where the values are not in the order of the arguments.
    return _distance(value, low, high) if low <= value <= high else None


def _distance(value: Fraction, *others: Fraction) -> float | None:
    """The greatest distance of a value from others; None where float64 has none so great."""
    try:
        return float(max(abs(value - each) for each in others))
    except OverflowError:
        return None
