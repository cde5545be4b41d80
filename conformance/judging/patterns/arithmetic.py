"""Numbers off by a constant or a factor, and such as went through a type that holds less.

At least `_FEWEST` elements must be off by eight times what they are allowed and what rounding could explain,
and every element must be where the constant puts it. Offsets need more than one expected value, factors four:
one value alone shows nothing of which constant it is.

A float32 of a double: every element is a float32 number, close to the expected one as float32 numbers go; by
chance one element in 2**29 is. Wrapped and saturated integers, and whole numbers in place of fractions, must
be exactly what the conversion of the expected output gives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from conformance.judging.patterns.elements import Floats, Mask
from conformance.judging.patterns.wrong_output import FEWEST, WrongOutput
from conformance.suite.values import decode_loudly
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType

_FEWEST = 6
_CLEARLY = 8.0
_FEWEST_VALUES = 4


def find_offset(output: WrongOutput) -> str | None:
    """Every finite element is off by one constant."""
    if not output.has_numbers or output.wrong_places.size < _FEWEST:
        return None
    if output.element_type.is_integer:
        return _integer_offset(output)
    right = int(output.wrong_mask.reshape(-1).argmin())
    if not output.wrong_mask.reshape(-1)[right] and np.isfinite(_number(output, right)):
        return None
    got_first, expected_first, _ = output.first_pairs[0]
    slack_first = _room(output, output.first_pairs[0])
    for pair in output.first_pairs:
        off, room = pair[0] - pair[1], _room(output, pair)
        # An offset is at most what this is off by and its slack, and its slack at least half the room.
        if abs(off) + room <= _CLEARLY * room / 2:
            return None
        if abs(off - (got_first - expected_first)) > slack_first + room:
            return None
    got, expected, slack = _floats(output, output.sampled_places)
    offset = _middle(got - expected)
    if not math.isfinite(offset) or not _offset_fits(got, expected, slack, offset).all():
        return None
    got, expected, slack = _floats(output, slice(None))
    finite = np.isfinite(expected)
    if not _offset_fits(got, expected, slack, offset)[finite].all():
        return None
    wrong = output.wrong_mask.reshape(-1)
    if not np.array_equal(wrong, finite) or _few_values(expected[finite], 2):
        return None
    return f"every element is off by {offset:.6g}"


def _middle(values: Floats) -> float:
    """Their median; NaN, which comes last, counts as the greatest."""
    ordered = np.sort(values, kind="stable")
    return float(ordered[(ordered.size - 1) // 2] + ordered[ordered.size // 2]) / 2


def _number(output: WrongOutput, place: int) -> float:
    return float(decode_loudly(output.element_type, output.expected.reshape(-1)[place : place + 1])[0])


def _room(output: WrongOutput, pair: tuple[Any, Any, float]) -> float:
    """At least what rounding and the allowance put a pair of Python's numbers apart."""
    got, expected, allowed = pair
    layout = output.element_type.layout
    assert layout is not None
    greatest = max(abs(got), abs(expected), math.ldexp(1.0, layout.least_exponent))
    return float(allowed + 2 * math.ldexp(greatest, 1 - layout.precision))


def _offset_fits(got: Floats, expected: Floats, slack: Floats, offset: float) -> Mask:
    near = np.abs((got - expected) - offset) <= slack
    return np.asarray(near & (abs(offset) > _CLEARLY * slack))


def _integer_offset(output: WrongOutput) -> str | None:
    if output.wrong_places.size != output.got.size:
        return None
    if len({got - expected for got, expected, _ in output.first_pairs}) > 1:
        return None
    # Wrapped differences are equal where the differences are and all have the same sign.
    got, expected = output.got.reshape(-1), output.expected.reshape(-1)
    for places in (output.sampled_places, slice(None)):
        left, right = got[places], expected[places]
        greater = left > right
        apart = left.astype(np.uint64) - right.astype(np.uint64)
        if not ((apart == apart[0]).all() and (greater == greater[0]).all()):
            return None
    if _few_values(expected.astype(np.float64), 2):
        return None
    return f"every element is off by {int(got[0]) - int(expected[0])}"


def find_scale(output: WrongOutput) -> str | None:
    """Every element is the expected one times one constant."""
    if not output.has_numbers or output.wrong_places.size < _FEWEST:
        return None
    if output.element_type.is_integer:
        return _integer_scale(output)
    if _no_factor(output):
        return None
    got, expected, slack = _floats(output, output.sampled_places)
    magnitude = np.where(np.isfinite(expected), np.abs(expected), 0.0)
    greatest = int(magnitude.argmax())
    if magnitude[greatest] == 0:
        return None
    factor = float(got[greatest] / expected[greatest])
    if not math.isfinite(factor) or factor in (0.0, 1.0):
        return None
    room = max(1.0, abs(factor))
    clearly_off = np.abs(got - expected) > _CLEARLY * room * slack
    if 2 * np.count_nonzero(clearly_off) < min(clearly_off.size, 2 * _FEWEST):
        return None
    if not (np.abs(got - factor * expected) <= room * slack)[np.isfinite(expected)].all():
        return None
    got, expected, slack = _floats(output, slice(None))
    finite = np.isfinite(expected)
    if not finite.any() or not (np.abs(got - factor * expected) <= room * slack)[finite].all():
        return None
    clear = finite & (np.abs(got - expected) > _CLEARLY * room * slack)
    clear &= output.wrong_mask.reshape(-1)
    if np.count_nonzero(clear) < _FEWEST or _few_values(np.abs(expected[clear]), _FEWEST_VALUES):
        return None
    return _scaled_by(factor, f"{factor:.6g}")


def _no_factor(output: WrongOutput) -> bool:
    """Whether a few elements show that no one factor fits."""
    pairs = [
        first_pair
        for first_pair in output.first_pairs
        if math.isfinite(first_pair[0]) and math.isfinite(first_pair[1])
    ]
    if not pairs or not (most := max(pairs, key=lambda pair: abs(pair[1])))[1]:
        return False
    factor = most[0] / most[1]
    room = max(1.0, abs(factor))
    slack = _room(output, most)
    return any(
        abs(got - factor * expected) > 2 * room * (slack + _room(output, (got, expected, limit)))
        for got, expected, limit in pairs
    )


def _integer_scale(output: WrongOutput) -> str | None:
    (left, right, _), *others = output.first_pairs
    if any(got * right != expected * left for got, expected, _ in others):
        return None
    got, expected = output.got.reshape(-1), output.expected.reshape(-1)
    sampled = expected[output.sampled_places].astype(np.float64)
    place = output.sampled_places[int(np.abs(sampled).argmax())]
    if expected[place] == 0 or got[place] == 0:
        return None
    factor = Fraction(int(got[place]), int(expected[place]))
    for places in (output.sampled_places, slice(None)):
        # Python's integers: products of two 64-bit numbers are exact.
        left, right = got[places].astype(np.object_), expected[places].astype(np.object_)
        if not np.asarray(left * factor.denominator == right * factor.numerator, dtype=np.bool_).all():
            return None
    if _few_values(np.abs(output.wrong_expected.astype(np.float64)), _FEWEST_VALUES):
        return None
    return _scaled_by(float(factor), str(factor))


def _scaled_by(factor: float, text: str) -> str:
    return "every element has the other sign" if factor == -1 else f"every element is scaled by {text}"


def _few_values(values: Floats, enough: int) -> bool:
    return np.unique(values).size < enough  # exact: how many, not which


def _floats(output: WrongOutput, places: NDArray[np.intp] | slice) -> tuple[Floats, Floats, Floats]:
    """Got and expected values at flat positions, and how far rounding and the allowance put them apart."""
    got = decode_loudly(output.element_type, output.got.reshape(-1)[places])
    expected = decode_loudly(output.element_type, output.expected.reshape(-1)[places])
    steps = spacing(output.element_type, np.maximum(np.abs(got), np.abs(expected)))
    return got, expected, output.allowed_or_zero(places) + 2 * steps


def spacing(element_type: ElementType, magnitudes: NDArray[Any]) -> Floats:
    """The distance to the next number of a floating-point type at each finite magnitude; NaN elsewhere."""
    layout = element_type.layout
    assert layout is not None
    exponents = np.frexp(np.where(np.isfinite(magnitudes), magnitudes, np.nan))[1] - 1
    exponents = np.maximum(exponents, layout.least_exponent) - (layout.precision - 1)
    return np.where(np.isfinite(magnitudes), np.ldexp(1.0, exponents), np.nan)


Conversion = Callable[[NDArray[Any]], NDArray[Any]]
_FEWEST_WHOLE = 8
_FEWEST_INTEGERS = 2
_NEAR = 4.0
_NAMES = {"float": "float32", "double": "float64"}
_NARROWER_FLOATS = {
    "double": ("float", "float16", "bfloat16"),
    "complex128": ("float",),
    "float": ("float16", "bfloat16"),
}


def find_conversion(output: WrongOutput) -> str | None:
    """Every element went through a type that holds less."""
    if output.wrong is None:
        return None
    if output.element_type.is_integer:
        return _integer_conversion(output)
    for name in _NARROWER_FLOATS.get(output.element_type.name, ()):
        if any(not _may_be(got, ELEMENT_TYPES[name]) for got, _, _ in output.first_pairs):
            continue
        if output.wrong_places.size >= FEWEST and _is_narrower(output, ELEMENT_TYPES[name]):
            return f"computed in or converted through {_NAMES.get(name, name)}"
    return _whole_numbers(output) if output.element_type.is_float else None


def _may_be(value: float, narrow: ElementType) -> bool:
    """Whether a number has no more digits than a type has room for."""
    assert narrow.layout is not None
    return not math.isfinite(value) or math.ldexp(math.frexp(value)[0], narrow.layout.precision).is_integer()


def _is_narrower(output: WrongOutput, narrow: ElementType) -> bool:
    for places in (output.sampled_places, slice(None)):
        got, expected = output.got.reshape(-1)[places], output.expected.reshape(-1)[places]
        allowed = output.allowed_or_zero(places)
        if output.element_type.kind == "complex":
            pairs = [(got.real, expected.real), (got.imag, expected.imag)]
        else:
            pairs = [(got, expected)]
        component = output.element_type.component
        for pair in pairs:
            left, right = (decode_loudly(component, np.ascontiguousarray(part)) for part in pair)
            if not _close(left, right, allowed, narrow):
                return False
    component_parts = (
        [output.wrong_expected.real, output.wrong_expected.imag]
        if output.element_type.kind == "complex"
        else [output.wrong_expected]
    )
    lossy = sum(
        int(np.count_nonzero(_narrowed(values, narrow) != values))
        for part in component_parts
        for values in [decode_loudly(output.element_type.component, np.ascontiguousarray(part))]
    )
    return lossy >= FEWEST


def _close(got: Floats, expected: Floats, allowed: Floats, narrow: ElementType) -> bool:
    alike = (got == expected) | (np.isnan(got) & np.isnan(expected))
    rounded = _narrowed(expected, narrow)
    steps = spacing(narrow, np.maximum(np.abs(got), np.abs(expected)))
    near = np.abs(got - expected) <= _NEAR * steps + allowed
    fits = (_narrowed(got, narrow) == got) & (near | (got == rounded))
    return bool((fits | (alike & ~np.isfinite(expected))).all())


def _narrowed(values: Floats, narrow: ElementType) -> Floats:
    """Values rounded to a narrower type, as float64; bfloat16 by rounding to nearest even."""
    if narrow.name != "bfloat16":
        return values.astype(narrow.storage).astype(np.float64)
    bits = values.astype(np.float32).view(np.uint32)
    even = (bits >> np.uint32(16)) & np.uint32(1)
    rounded = (bits + np.uint32(0x7FFF) + even) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(values), np.nan, rounded.view(np.float32).astype(np.float64))


def _whole_numbers(output: WrongOutput) -> str | None:
    if output.wrong_places.size < _FEWEST_WHOLE:
        return None
    if not all(float(got).is_integer() for got, _, _ in output.first_pairs if math.isfinite(got)):
        return None
    ways: tuple[tuple[str, Callable[[Floats], Floats]], ...] = (
        ("truncated to whole numbers", np.trunc),
        ("rounded to whole numbers", np.rint),
        ("rounded down to whole numbers", np.floor),
        ("rounded up to whole numbers", np.ceil),
    )
    for phrase, way in ways:
        for places in (output.sampled_places, slice(None)):
            got = decode_loudly(output.element_type, output.got.reshape(-1)[places])
            expected = decode_loudly(output.element_type, output.expected.reshape(-1)[places])
            if not np.array_equal(got, way(expected), equal_nan=True):
                break
        else:
            got = decode_loudly(output.element_type, output.wrong_got)
            if np.unique(got).size > 1:  # exact: how many, not which
                return f"the expected output {phrase}"
    return None


def _integer_conversion(output: WrongOutput) -> str | None:
    """What does not fit a narrower type wrapped or saturated, or a 64-bit integer rounded to a float."""
    if output.wrong_places.size < _FEWEST_INTEGERS or output.element_type.bits <= 16:
        return None
    for phrase, convert in _integer_ways(output.element_type):
        for places in (output.sampled_places, slice(None)):
            got, expected = output.got.reshape(-1)[places], output.expected.reshape(-1)[places]
            if not np.array_equal(got, convert(expected)):
                break
        else:
            return phrase
    return None


def _integer_ways(element_type: ElementType) -> Iterator[tuple[str, Conversion]]:
    for narrow in (dtype for dtype in ELEMENT_TYPES.values() if dtype.is_integer):
        # Smaller types than these come about by chance too often.
        if narrow.bits in (16, 32) and narrow.bits < element_type.bits:
            yield f"the expected output wrapped to {narrow}", partial(_wrapped, narrow.storage)
            low, high = narrow.integer_range
            least = max(low, element_type.integer_range[0])
            yield f"the expected output saturated to {narrow}", partial(np.clip, a_min=least, a_max=high)
    for name, bits in (("double", 53), ("float", 24)):
        if bits < element_type.bits:
            phrase = f"computed in or converted through {_NAMES.get(name, name)}"
            yield phrase, partial(_through_float, name, element_type)


def _wrapped(storage: DTypeLike, array: NDArray[Any]) -> NDArray[Any]:
    return array.astype(storage).astype(array.dtype)


def _through_float(name: str, element_type: ElementType, array: NDArray[Any]) -> NDArray[Any]:
    """Integers rounded to a float and back; what then lies beyond the type is its limit."""
    rounded = array.astype(ELEMENT_TYPES[name].storage)
    low, high = element_type.integer_range
    beyond = rounded >= np.ldexp(rounded.dtype.type(1.0), high.bit_length())
    back = np.where(beyond, 0, rounded).astype(array.dtype)
    back[beyond] = high
    found: NDArray[Any] = np.maximum(back, low)
    return found
