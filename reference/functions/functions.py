"""Elementary functions of Numbers: their values, what programs may be off by, and what is no number.

One table says what each function is allowed: the units in the last place of the OpenCL SPIR-V Environment
Specification, "Relative Error as ULPs", table "ULP Values for Math Instructions - Full Profile", which has a
column each for float64, float32 and float16. Where an arithmetic has relaxed functions the table of the same
section counts that is called "ULP Values for Single Precision Math Instructions with
-cl-unsafe-math-optimizations"; what it does not name (erf, erfc, sqrt) keeps the first one's.
docs/why-believe.md says how errors of arguments pass through.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Literal

import numpy as np
from flint import arb

from opcert.vocabulary.element_types import BINARY32, BINARY64
from reference.numbers.binary_numbers import BinaryNumber, farther
from reference.numbers.enclosures import Ball, apart, nearest_binary
from reference.numbers.noted_functions import VALUE, note_function, note_steps
from reference.numbers.number_arrays import Numbers, settled
from reference.numbers.passing import opened
from reference.numbers.rationals import Rationals
from reference.numbers.working import Floats, Working, rounded_up

DOUBLE_BITS, USUAL_BITS = 1280, 320
"""Of a value: what is left of it where a formula subtracts it from another tells the result's last bit."""
_EXPLODED = 2048
"""The exponential function is above all numbers of all types there, and on the other side below all."""
_LEVEL = 64
"""Where the error function is 1 to more bits than are asked for."""
_FARTHEST = 1 << 4000
"""As good as infinity for a function that has an irrational limit there."""


@dataclass(frozen=True)
class Function:
    """An elementary function of one real number.

    `ulps` are allowed of float64, float32 and float16. `points` are the arguments with rational values: they
    are integers, as these values are, and the `ends` of the domain, between which the function has real
    values; None where there is no end. `limits` are what comes out at each end: an infinity at a pole, NaN
    where there is no limit, None where the end is like any other point, or the limit is no rational number.
    Its `slope` says whether it rises, falls, is even and rises from 0 on ever more steeply, or swings with a
    slope of at most 1; arguments `beyond` a number are as good as that. Where poles recur there is at most
    one between arguments that are less than `poles` apart. One that rises does so ever more steeply upwards,
    downwards, or towards 0, about which it is odd, where `steeper` says so.
    """

    enclose: Callable[[Ball], Ball]
    ulps: tuple[float, float, float]
    points: Mapping[int, int]
    ends: tuple[int | None, int | None] = (None, None)
    limits: tuple[float | None, float | None] = (math.nan, math.nan)
    slope: Literal["rises", "falls", "even", "swings"] = "rises"
    beyond: int | None = None
    poles: float = math.inf
    steeper: Literal["up", "down", "inwards"] | None = None

    def has_value_at(self, numerator: int, denominator: int) -> bool:
        """Whether a number lies in the domain, and is no end at which a limit comes out."""
        (low, high), (at_low, at_high) = self.ends, self.limits
        above = (
            low is None
            or numerator > low * denominator
            or (at_low is None and numerator == low * denominator)
        )
        below = (
            high is None
            or numerator < high * denominator
            or (at_high is None and numerator == high * denominator)
        )
        return above and below

    def allowance(self, working: Working) -> float:
        """The units in the last place that a program may be off by, in the arithmetic of a call."""
        if working.layout == BINARY64:
            return self.ulps[0]
        return in_units_of(working, self.ulps[1], self.ulps[2])


def in_units_of(working: Working, single: float, half: float) -> float:
    """The units in the last place of the precision of a call: those of float32 or those of float16.

    A format that nobody computes functions in gets float32's result, rounded.
    """
    arithmetic = working.arithmetic
    if working.layout.precision >= BINARY32.precision:
        return single
    if arithmetic is not None and not arithmetic.has_functions:
        return float(_as_rounded(working, single))
    return half


def _as_rounded(working: Working, single: Floats | float) -> Floats | float:
    """Units of float32 as those of the precision of a call, and the half one of rounding to that."""
    bits = working.layout.precision
    return single if bits >= BINARY32.precision else 0.5 + single * math.ldexp(1.0, bits - BINARY32.precision)


def or_relaxed(working: Working, full: Floats | float, single: Floats | float) -> Floats | float:
    """The units in the last place that either table allows, of which the second is of float32 alone."""
    return np.maximum(full, _as_rounded(working, single)) if working.is_relaxed else full


_BETWEEN = (-1, 1)
_UP = (math.inf, math.inf)
FUNCTIONS: Mapping[str, Function] = {
    "acos": Function(arb.acos, (4, 4, 2), {1: 0}, _BETWEEN, (None, None), "falls"),
    "acosh": Function(arb.acosh, (4, 4, 2), {1: 0}, (1, None), (None, math.inf)),
    "asin": Function(arb.asin, (4, 4, 2), {0: 0}, _BETWEEN, (None, None)),
    "asinh": Function(arb.asinh, (4, 4, 2), {0: 0}, limits=(-math.inf, math.inf), steeper="inwards"),
    "atan": Function(arb.atan, (5, 5, 2), {0: 0}, limits=(None, None), steeper="inwards"),
    "atanh": Function(arb.atanh, (5, 5, 2), {0: 0}, _BETWEEN, (-math.inf, math.inf)),
    "cos": Function(arb.cos, (4, 4, 2), {0: 1}, slope="swings"),
    "cosh": Function(arb.cosh, (4, 4, 2), {0: 1}, limits=_UP, slope="even", beyond=_EXPLODED),
    "erf": Function(arb.erf, (16, 16, 4), {0: 0}, limits=(-1.0, 1.0), beyond=_LEVEL, steeper="inwards"),
    "erfc": Function(arb.erfc, (16, 16, 4), {0: 1}, limits=(2.0, 0.0), slope="falls", beyond=_LEVEL),
    "exp": Function(arb.exp, (3, 3, 2), {0: 1}, limits=(0.0, math.inf), beyond=_EXPLODED, steeper="up"),
    "expm1": Function(arb.expm1, (3, 3, 2), {0: 0}, limits=(-1.0, math.inf), beyond=_EXPLODED, steeper="up"),
    "log": Function(arb.log, (3, 3, 2), {1: 0}, (0, None), (-math.inf, math.inf), steeper="down"),
    "log1p": Function(arb.log1p, (2, 2, 2), {0: 0}, (-1, None), (-math.inf, math.inf), steeper="down"),
    "sin": Function(arb.sin, (4, 4, 2), {0: 0}, slope="swings"),
    "sinh": Function(arb.sinh, (4, 4, 2), {0: 0}, limits=(-math.inf, math.inf), beyond=_EXPLODED),
    "tan": Function(arb.tan, (5, 5, 2), {0: 0}, poles=3.0),
    "tanh": Function(arb.tanh, (5, 5, 2), {0: 0}, limits=(-1.0, 1.0), beyond=_EXPLODED, steeper="inwards"),
}
"""By name, as C's mathematical library has them."""
_ZERO = BinaryNumber(0, 0)


@dataclass(frozen=True)
class Relaxed:
    """What the table of unsafe math allows a function.

    So many units of float32, by the argument's magnitude where it says so; an `absolute` error in their place
    for arguments of a magnitude `between`. Derived implementations compute `by` a formula, from arguments
    of a `small` magnitude on. From a magnitude `undefined` on it says nothing; a function that is defined
    `everywhere` has its value also where a step of the formula overflows.
    """

    ulps: Callable[[Floats], Floats] | float = 8192.0
    absolute: float = 0.0
    between: tuple[float, float] = (0.0, math.inf)
    by: Callable[[Numbers], Numbers] | None = None
    small: float = 0.0
    undefined: float = math.inf
    everywhere: bool = False

    def allowed(self, numbers: Numbers, full: float) -> tuple[Floats, Floats]:
        """Units in the last place and absolute errors; `full` are the units of the other table."""
        working, (low, high) = numbers.working, self.between
        size, error = np.abs(numbers.value.floats()), numbers.error
        ulps = self.ulps if isinstance(self.ulps, float) else self.ulps(numbers.magnitude)
        perhaps = (size + error >= low) & (size - error <= high)
        surely = (size - error >= low) & (size + error <= high) & (self.absolute > 0)
        single = _as_rounded(working, np.where(surely, 0.0, ulps))
        own = full if working.arithmetic is not None and working.arithmetic.has_functions else 0.0
        return np.maximum(single, own), np.where(perhaps, self.absolute, 0.0)


def _power(numbers: Numbers) -> Numbers:
    return function_of("exp", numbers)


def _halved(numbers: Numbers) -> Numbers:
    return numbers * Fraction(1, 2)


def _tangent_by_powers(x: Numbers) -> Numbers:
    return (_power(x) - _power(-x)) / (_power(x) + _power(-x))


_LOG_NEAR, _LOG_ABSOLUTE = (0.5, 2.0), math.ldexp(1.0, -21)
_TURN, _ON_TURN = math.pi, math.ldexp(1.0, -11)
_SMALL = math.ldexp(1.0, -10)
RELAXED: Mapping[str, Relaxed] = {
    "acos": Relaxed(4096.0),
    "acosh": Relaxed(by=lambda x: function_of("log", x + (x * x - 1).sqrt())),
    "asin": Relaxed(4096.0),
    "asinh": Relaxed(by=lambda x: function_of("log", x + (x * x + 1).sqrt())),
    "atan": Relaxed(4096.0),
    "atanh": Relaxed(
        by=lambda x: _halved(function_of("log", (1 + x) / (1 - x))), small=_SMALL, undefined=1.0
    ),
    "cos": Relaxed(0.0, _ON_TURN, undefined=math.nextafter(_TURN, 4)),
    "cosh": Relaxed(by=lambda x: _halved(_power(x) + _power(-x)), undefined=math.nextafter(88, 89)),
    "exp": Relaxed(lambda size: 3 + np.floor(2 * size)),
    "expm1": Relaxed(by=lambda x: _power(x) - 1),
    "log": Relaxed(3.0, _LOG_ABSOLUTE, _LOG_NEAR),
    "log1p": Relaxed(by=lambda x: function_of("log", x + 1)),
    "sin": Relaxed(0.0, _ON_TURN, undefined=math.nextafter(_TURN, 4)),
    "sinh": Relaxed(
        by=lambda x: _halved(_power(x) - _power(-x)), small=_SMALL, undefined=math.nextafter(88, 89)
    ),
    "tan": Relaxed(by=lambda x: function_of("sin", x) * (1 / function_of("cos", x))),
    "tanh": Relaxed(by=_tangent_by_powers, small=_SMALL, everywhere=True),
}
"""By name, where an arithmetic has relaxed functions, from the table of unsafe math. Beyond half a turn the
error of sin and cos is "larger", without a number."""


def function_of(name: str, numbers: Numbers) -> Numbers:
    """An elementary function of each number: within its allowance, NaN outside its domain."""
    numbers, full = numbers.as_operand(), FUNCTIONS[name].allowance(numbers.working)
    relaxed = RELAXED.get(name) if numbers.working.is_relaxed else None
    if relaxed is None:
        return _within(name, numbers, full, 0.0)
    return _beside_derived(_within(name, numbers, *relaxed.allowed(numbers, full)), numbers, relaxed)


def _beside_derived(found: Numbers, numbers: Numbers, relaxed: Relaxed) -> Numbers:
    """A function with the errors of the formula that it may be computed by, open where it is undefined."""
    size = numbers.magnitude
    if relaxed.by is not None and (mask := numbers.finite & (size >= relaxed.small)).any():
        derived = relaxed.by(numbers)
        wider = mask & derived.finite & found.finite
        error = np.where(wider, np.maximum(found.error, derived.error), found.error)
        lost = mask & (derived.lost | (derived.finite != found.finite)) & (not relaxed.everywhere)
        found = replace(found, error=error, lost=found.lost | lost)
    undefined = numbers.finite & (size >= relaxed.undefined)
    return opened(found, undefined) if undefined.any() else found


def _within(name: str, numbers: Numbers, ulps: Floats | float, absolute: Floats | float) -> Numbers:
    """The same within so many units in the last place and an absolute error."""
    working = numbers.working
    note_function(name)
    note_steps(VALUE * numbers.error.size)
    bits = DOUBLE_BITS if working.layout == BINARY64 else USUAL_BITS
    most = working.beyond
    signs, errors = numbers.sign.reshape(-1).tolist(), numbers.error.reshape(-1).tolist()
    found: list[BinaryNumber] = []
    special, error, lost = [0.0] * len(signs), [0.0] * len(signs), [False] * len(signs)
    arguments = numbers.value.spread(numbers.shape).ratios()
    for at, ((numerator, denominator), sign, off) in enumerate(zip(arguments, signs, errors, strict=True)):
        outcome, reach = _found(name, numerator, denominator, sign, off, bits)
        if not isinstance(outcome, BinaryNumber):
            special[at], outcome = outcome, _ZERO
        elif outcome.exceeds(most):
            special[at], reach = math.inf if outcome.whole > 0 else -math.inf, None
            outcome = _ZERO
        found.append(outcome)
        if off:
            error[at], lost[at] = (math.inf, True) if reach is None else (reach, False)
    zero = np.where(numbers.sign == 0, numbers.sign, 0.0)
    value = Rationals.of_binary(found, numbers.shape)
    bound, outside = (np.array(each, dtype=np.float64).reshape(numbers.shape) for each in (error, special))
    gone = numbers.lost | np.array(lost, dtype=np.bool_).reshape(numbers.shape)
    result = settled(working, value, rounded_up(bound), outside, zero, gone)
    exact = (result.value.signs() == 0) & (result.error == 0) & (np.asarray(absolute) == 0)
    working.note_chain(result.finite & ~exact)
    result = result.rounded(1, exact=exact, least=np.ceil(ulps), ulps=ulps, beside=absolute)
    # An argument that may lie on the other side of an end of the domain, or beyond all numbers.
    doubtful = result.lost & ~np.isfinite(result.sign)
    return opened(result, doubtful) if doubtful.any() else result


@lru_cache(maxsize=1 << 16)
def _found(
    name: str, numerator: int, denominator: int, sign: float, off: float, bits: int
) -> tuple[BinaryNumber | float, float | None]:
    """What comes out of an argument, and how far that may be off; kept for other readings."""
    outcome = _outcome(name, numerator, denominator, sign, bits)
    return outcome, _reach(name, numerator, denominator, off, outcome, bits) if off else 0.0


def _outcome(name: str, numerator: int, denominator: int, sign: float, bits: int) -> BinaryNumber | float:
    """What comes out: a value, or an infinity or NaN."""
    function = FUNCTIONS[name]
    low, high = function.ends
    if math.isnan(sign):
        return sign
    if math.isinf(sign):
        if (high if sign > 0 else low) is not None:
            return math.nan
        numerator, denominator = _FARTHEST if sign > 0 else -_FARTHEST, 1
        limit = function.limits[int(sign > 0)]
    elif function.has_value_at(numerator, denominator):
        limit = None
    elif low is not None and numerator == low * denominator:
        limit = function.limits[0]
    else:
        limit = function.limits[1] if high is not None and numerator == high * denominator else math.nan
    if limit is None:
        return _value(name, numerator, denominator, bits)
    return BinaryNumber(int(limit), 0) if math.isfinite(limit) else limit


def _value(name: str, numerator: int, denominator: int, bits: int) -> BinaryNumber:
    """The value at an argument inside the domain."""
    function = FUNCTIONS[name]
    if numerator % denominator == 0 and (point := numerator // denominator) in function.points:
        return BinaryNumber(function.points[point], 0)
    if function.beyond is not None and abs(numerator) > function.beyond * denominator:
        numerator, denominator = function.beyond if numerator > 0 else -function.beyond, 1
    return nearest_binary(function.enclose, numerator, denominator, bits)


def _reach(
    name: str, numerator: int, denominator: int, off: float, value: BinaryNumber | float, bits: int
) -> float | None:
    """How far the value may be off where the argument is; None for any distance."""
    function = FUNCTIONS[name]
    if not isinstance(value, BinaryNumber) or not math.isfinite(off) or 2 * off > function.poles:
        return None
    if function.slope == "swings":
        return min(off, 2.0)
    told = _reach_where_steeper(function, numerator, denominator, off, value, bits)
    if told is not None:
        return told
    top, bottom = off.as_integer_ratio()
    middle, aside, below = numerator * bottom, top * denominator, denominator * bottom
    if function.slope == "even":
        above = _value(name, abs(middle) + aside, below, bits)
        return farther(value, value, above)
    ends = [middle - aside, middle + aside]
    if not all(function.has_value_at(end, below) for end in ends):
        return None
    low, high = (_value(name, end, below, bits) for end in ends)
    return farther(value, low, high) if function.slope == "rises" else farther(value, high, low)


def _reach_where_steeper(
    function: Function, numerator: int, denominator: int, off: float, value: BinaryNumber, bits: int
) -> float | None:
    """How far the value is off at the farther end alone, in fewer bits; None where that does not tell it."""
    if function.steeper is None or (
        function.beyond is not None and not _is_within(function.beyond, numerator, denominator, off)
    ):
        return None
    upwards = function.steeper == "up" or (function.steeper == "inwards" and numerator < 0)
    low, (top, bottom) = function.ends[0], off.as_integer_ratio()
    if low is not None and (numerator - low * denominator) * bottom <= 2 * top * denominator:
        return None
    return apart(function.enclose, numerator, denominator, off if upwards else -off, value, bits)


def _is_within(beyond: int, numerator: int, denominator: int, off: float) -> bool:
    """Whether all arguments so far from one are nearer to 0 than that."""
    return off < 1 and abs(numerator) < (beyond - 1) * denominator
