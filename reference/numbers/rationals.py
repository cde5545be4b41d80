"""Arrays of exact rational numbers: Python integers over Python integers, element by element."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.element_types import BINARY64, FloatLayout
from reference.numbers.binary_numbers import BinaryNumber
from reference.numbers.numbers import is_representable, largest

Integers = NDArray[Any]
"""An array of dtype object that holds Python integers."""
_MOST_KNOWN = 1 << 16
"""Numbers of which it is remembered what was found."""
_LEAST_POWER = 1074
"""The least number of float64 is one over two to this."""
NO_DIGIT = -1e6
"""Of what no power of two divides; finite, so that zeros beside it stay zeros."""
_BITS_OF_SMALL = 62
_MOST_SMALL = 1 << _BITS_OF_SMALL
"""Integers below this, and the difference of two of them, are of 64 bits."""


@dataclass(frozen=True, eq=False)
class Rationals:
    """Numerators over positive denominators; the two broadcast against each other.

    Nothing is reduced to lowest terms on the way: denominators are shared as long as possible, which is what
    makes this much faster than an array of Fractions.
    """

    numerator: Integers
    denominator: Integers

    @classmethod
    def of(cls, values: object) -> Rationals:
        """From integers, floats or Fractions, nested in sequences, over one common denominator."""
        if isinstance(values, (int, Fraction)):
            ratio = values.as_integer_ratio()
            return cls(*(np.array(each, dtype=object) for each in ratio))
        array = np.asarray(values, dtype=object)
        plain = (each.item() if isinstance(each, np.generic) else each for each in array.flat)
        ratios = [each.as_integer_ratio() for each in plain]
        denominator = math.lcm(*{bottom for _, bottom in ratios})
        whole = [top * (denominator // bottom) for top, bottom in ratios]
        return cls(_integers(whole).reshape(array.shape), _integers([denominator]).reshape(()))

    @classmethod
    def of_binary(cls, values: list[BinaryNumber], shape: tuple[int, ...]) -> Rationals:
        """From integers times powers of two, one by one in row-major order, over one power of two."""
        least = min((each.power for each in values), default=0)
        least = min(least, 0)
        whole = [each.whole << (each.power - least) for each in values]
        return cls(_integers(whole).reshape(shape), _integers([1 << -least]).reshape(()))

    @property
    def shape(self) -> tuple[int, ...]:
        return joint_shape(self.numerator.shape, self.denominator.shape)

    @cached_property
    def small(self) -> NDArray[np.int64] | None:
        """The numerators as integers of 64 bits; None where one of them has more than 62."""
        try:
            found = np.asarray(self.numerator, dtype=object).astype(np.int64)
        except OverflowError:
            return None
        if found.size and (found.max() >= _MOST_SMALL or found.min() <= -_MOST_SMALL):
            return None
        return found

    @cached_property
    def power(self) -> int | None:
        """The power of two that is the denominator of all numbers; None where there is no such one."""
        if self.denominator.shape != ():
            return None
        denominator = int(self.denominator[()])
        return None if denominator & (denominator - 1) else denominator.bit_length() - 1

    def __neg__(self) -> Rationals:
        return Rationals(np.asarray(-self.numerator, dtype=object), self.denominator)

    def __abs__(self) -> Rationals:
        return Rationals(np.asarray(np.abs(self.numerator), dtype=object), self.denominator)

    def __add__(self, other: Rationals) -> Rationals:
        if self.denominator.shape == other.denominator.shape == ():
            ours, theirs = int(self.denominator[()]), int(other.denominator[()])
            common = math.lcm(ours, theirs)
            left, right = self.numerator, other.numerator
            left = left if common == ours else left * (common // ours)
            right = right if common == theirs else right * (common // theirs)
            return Rationals(np.asarray(left + right, dtype=object), np.array(common, dtype=object))
        crossed = self.numerator * other.denominator + other.numerator * self.denominator
        return Rationals(np.asarray(crossed, dtype=object), _product(self.denominator, other.denominator))

    def __sub__(self, other: Rationals) -> Rationals:
        return self + -other

    def __mul__(self, other: Rationals) -> Rationals:
        return Rationals(
            _product(self.numerator, other.numerator), _product(self.denominator, other.denominator)
        )

    def __truediv__(self, other: Rationals) -> Rationals:
        """The quotient; a division by zero is the caller's to exclude."""
        sign = np.where(other.numerator < 0, -1, 1).astype(object)
        return Rationals(
            _product(_product(self.numerator, other.denominator), sign),
            _product(self.denominator, np.abs(other.numerator)),
        )

    def at_most(self, other: Rationals) -> NDArray[np.bool_]:
        """Where these are less than or equal to the others."""
        left, right = self.numerator * other.denominator, other.numerator * self.denominator
        return np.asarray(left <= right, dtype=np.bool_)

    def total(self, axis: int) -> Rationals:
        """The sum along an axis, which is kept with length 1."""
        if self.denominator.shape == () or self.denominator.shape[axis] == 1:
            numerator = np.broadcast_to(self.numerator, self.shape)
            summed = numerator.sum(axis=axis, keepdims=True)  # exact: Python's integers
            return Rationals(np.asarray(summed, dtype=object), self.denominator)
        parts = np.split(np.arange(self.shape[axis]), self.shape[axis])
        terms = [self.take(each, axis) for each in parts]
        result = terms[0]
        for each in terms[1:]:
            result = result + each
        return result

    def take(self, indices: NDArray[Any], axis: int) -> Rationals:
        """The given indices along an axis."""
        numerator = np.broadcast_to(self.numerator, self.shape)
        denominator = np.broadcast_to(self.denominator, self.shape)
        return Rationals(np.take(numerator, indices, axis), np.take(denominator, indices, axis))

    def spread(self, shape: tuple[int, ...]) -> Rationals:
        """The same numbers in a shape that theirs broadcasts to."""
        if self.numerator.shape == shape and self.denominator.shape in ((), shape):
            return self
        denominator = self.denominator
        if denominator.shape != ():
            denominator = np.broadcast_to(denominator, shape)
        return Rationals(np.asarray(np.broadcast_to(self.numerator, shape)), denominator)

    def arranged(self, arrange: Callable[[NDArray[Any]], NDArray[Any]]) -> Rationals:
        """The numbers in another order or shape, by a function of arrays; `spread` them first."""
        denominator = self.denominator if self.denominator.shape == () else arrange(self.denominator)
        return Rationals(arrange(self.numerator), denominator)

    def reduced(self) -> Rationals:
        """The same numbers in lowest terms."""
        divisor = np.frompyfunc(math.gcd, 2, 1)(self.numerator, self.denominator)
        return Rationals(
            np.asarray(self.numerator // divisor, dtype=object),
            np.asarray(self.denominator // divisor, dtype=object),
        )

    def shared(self) -> Rationals:
        """The same numbers over one denominator."""
        if self.denominator.shape == ():
            return self
        denominators = np.broadcast_to(self.denominator, self.shape)
        common = math.lcm(*(int(each) for each in denominators.flat))
        return Rationals(
            np.asarray(self.numerator * (common // denominators), dtype=object),
            _integers([common]).reshape(()),
        )

    def where(self, chosen: NDArray[np.bool_], other: Rationals) -> Rationals:
        """These where `chosen`, the others elsewhere."""
        if self.denominator.shape == other.denominator.shape == ():
            ours, theirs = int(self.denominator[()]), int(other.denominator[()])
            common = math.lcm(ours, theirs)
            kept = self.numerator if common == ours else _product(self.numerator, common // ours)
            put = other.numerator if common == theirs else _product(other.numerator, common // theirs)
            return Rationals(
                np.asarray(np.where(chosen, kept, put), dtype=object), np.array(common, dtype=object)
            )
        return Rationals(
            np.asarray(np.where(chosen, self.numerator, other.numerator), dtype=object),
            np.asarray(np.where(chosen, self.denominator, other.denominator), dtype=object),
        )

    def each(self, function: Callable[[int, int], Any], dtype: Any) -> NDArray[Any]:
        """A function of numerator and denominator, element by element, as an array of a type."""
        found = np.frompyfunc(function, 2, 1)(self.numerator, self.denominator)
        return np.asarray(found, dtype=dtype)

    def floats(self) -> NDArray[np.float64]:
        """Each number rounded to float64."""
        return self._floats

    @cached_property
    def _floats(self) -> NDArray[np.float64]:
        found = self._binary_floats()
        if found is None:
            try:
                # Python's division of integers, which rounds once.
                found = np.asarray(np.divide(self.numerator, self.denominator), dtype=np.float64)
            except OverflowError:
                found = self.each(_float, np.float64)
        found.setflags(write=False)
        return found

    def _binary_floats(self) -> NDArray[np.float64] | None:
        """Integers over a power of two as float64, each rounded once; None where that takes more care."""
        if self.power is None:
            return None
        if self.small is not None:
            whole = self.small.astype(np.float64)
        else:
            try:
                whole = np.asarray(self.numerator, dtype=object).astype(np.float64)
            except OverflowError:
                return None
        # A quotient below the least normal number would be rounded twice.
        if self.power > 1000:
            least = math.ldexp(1.0, min(self.power - 1021, 1023))
            if self.power > 2000 or not np.all((whole == 0) | (np.abs(whole) >= least)):
                return None
        return np.asarray(np.ldexp(whole, -self.power))

    def signs(self) -> NDArray[np.float64]:
        """1 or -1 for each number, 0 for zero."""
        return self._signs

    @cached_property
    def _signs(self) -> NDArray[np.float64]:
        if self.small is not None:
            found = np.asarray(np.sign(self.small), dtype=np.float64)
        else:
            found = np.asarray(np.asarray(self.numerator > 0) * 1.0 - np.asarray(self.numerator < 0) * 1.0)
        found.setflags(write=False)
        return found

    def are_doubles(self) -> bool:
        """Whether float64 holds each of the numbers exactly."""
        is_near = self.power is not None and self.power <= _LEAST_POWER
        if is_near and self.small is not None and (np.abs(self.small) <= 1 << BINARY64.precision).all():
            return True
        held = _representable_in(BINARY64)
        both = (np.broadcast_to(part, self.shape).flat for part in (self.numerator, self.denominator))
        return all(held(*ratio) for ratio in zip(*both, strict=True))

    def last_digits(self) -> NDArray[np.float64]:
        """The power of two that each number is an odd multiple of.

        It is infinite of zero, and `NO_DIGIT` of what no power of two divides, such as thirds.
        """
        if self.power is None:
            return self.each(_last_digit, np.float64)
        if self.small is None:
            zeros = self._zeros
            return np.where(zeros < 0, np.inf, zeros - float(self.power))
        low = self.small & -self.small
        _, exponents = np.frexp(low.astype(np.float64))
        return np.where(low == 0, np.inf, exponents - (1.0 + self.power))

    def floors(self) -> Integers:
        """The greatest integer not above each number."""
        return self.each(lambda numerator, denominator: numerator // denominator, object)

    def fractions(self) -> list[Fraction]:
        """The numbers one by one, in row-major order."""
        return list(self.each(Fraction, object).flat)

    def ratios(self) -> list[tuple[int, int]]:
        """Numerators and denominators in row-major order, in lowest terms where these are powers of two."""
        if self.power is None:
            pairs = [np.broadcast_to(each, self.shape) for each in (self.numerator, self.denominator)]
            return list(zip(*(array.flat for array in pairs), strict=True))
        found = []
        for each in self.numerator.flat:
            zeros = min((each & -each).bit_length() - 1, self.power) if each else self.power
            found.append((each >> zeros, 1 << (self.power - zeros)))
        return found

    def fraction(self, index: int) -> Fraction:
        """One of the numbers, by its place in row-major order."""
        numerator = np.broadcast_to(self.numerator, self.shape).flat[index]
        return Fraction(numerator, np.broadcast_to(self.denominator, self.shape).flat[index])

    def representable(self, layout: FloatLayout) -> NDArray[np.bool_]:
        """Which of the numbers a floating-point layout holds exactly."""
        if self.power is None:
            return self.each(_representable_in(layout), np.bool_)
        if self.small is None:
            return self._large_representable(layout, self.power)
        size, low = np.abs(self.small), self.small & -self.small
        # Of one over two to the power: the least number that the layout has, and the greatest.
        least = self.power + layout.least_exponent - layout.precision + 1
        greatest = largest(layout)
        most = min((greatest.numerator << self.power) // greatest.denominator, _MOST_SMALL)
        fits = (size >> layout.precision < low) & (size <= most)
        if least > 0:
            fits &= low >= 1 << least if least <= _BITS_OF_SMALL else False
        return np.asarray(fits | (low == 0))

    @cached_property
    def _zeros(self) -> NDArray[np.int64]:
        """How many zeros each numerator ends with in binary; -1 for 0."""
        return _counted(self.numerator, lambda whole: (whole & -whole).bit_length() - 1)

    def _large_representable(self, layout: FloatLayout, power: int) -> NDArray[np.bool_]:
        """Which of them a layout holds, where the denominator is two to a power."""
        zeros, bits = self._zeros, _counted(self.numerator, lambda whole: whole.bit_length())
        least = layout.least_exponent - layout.precision
        fits = np.array((bits - zeros <= layout.precision) & (zeros - power > least))
        great = fits & (bits - 1 - power >= layout.greatest_exponent)
        for index in np.argwhere(great):
            whole = abs(self.numerator[tuple(index)])
            fits[tuple(index)] = Fraction(whole, 1 << power) <= largest(layout)
        return np.asarray(fits | (zeros < 0))

    def powers_of_two(self) -> NDArray[np.bool_]:
        """Which of the numbers are zero, or a power of two with either sign."""
        return self.each(_is_power_of_two, np.bool_)


def _counted(whole: Integers, count: Callable[[int], int]) -> NDArray[np.int64]:
    """A count of each integer, in an array of the same shape."""
    return np.array([count(number) for number in whole.flat], dtype=np.int64).reshape(whole.shape)


def _last_digit(top: int, bottom: int) -> float:
    if not top:
        return math.inf
    lowest = bottom & -bottom
    odd = bottom // lowest
    if odd != 1 and top % odd:
        return NO_DIGIT
    return (top & -top).bit_length() - lowest.bit_length()


@cache
def _representable_in(layout: FloatLayout) -> Callable[[int, int], bool]:
    """`is_representable` of a layout; numbers come again and again, in each window that they stand in."""
    return lru_cache(maxsize=_MOST_KNOWN)(partial(is_representable, layout))


def joint_shape(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that two shapes broadcast to; numpy's function is slow where it has nothing to do."""
    return one if one == other or not other else np.broadcast_shapes(one, other)


def _integers(values: list[int]) -> Integers:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _product(left: Integers, right: Integers | int) -> Integers:
    return np.asarray(left * right, dtype=object)


def _float(numerator: int, denominator: int) -> float:
    try:
        return numerator / denominator
    except OverflowError:
        return math.inf if numerator > 0 else -math.inf


def _is_power_of_two(numerator: int, denominator: int) -> bool:
    if numerator == 0:
        return True
    divisor = math.gcd(numerator, denominator)
    numerator, denominator = abs(numerator) // divisor, denominator // divisor
    return numerator & (numerator - 1) == 0 and denominator & (denominator - 1) == 0
