"""Outputs that went through a type that holds less: a narrower float, a narrower integer, whole numbers.

A float32 of a double: every element is a float32 number, close to the expected one as float32 numbers go; by
chance one element in 2**29 is. Wrapped and saturated integers, and whole numbers in place of fractions, must
be exactly what the conversion of the expected output gives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.judging.patterns.arithmetic import spacing
from conformance.judging.patterns.elements import Floats
from conformance.judging.patterns.wrong_output import FEWEST, WrongOutput
from conformance.suite.values import decode_loudly
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType

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
        for each in pairs:
            left, right = (decode_loudly(component, np.ascontiguousarray(part)) for part in each)
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
    storage = np.dtype(element_type.storage)
    for narrow in (each for each in ELEMENT_TYPES.values() if each.is_integer):
        # Smaller types than these come about by chance too often.
        if narrow.bits in (16, 32) and narrow.bits < element_type.bits:
            yield f"the expected output wrapped to {narrow}", _wrap(narrow, storage)
            low, high = narrow.integer_range
            least = max(low, element_type.integer_range[0])
            yield f"the expected output saturated to {narrow}", _clip(least, high)
    for name, bits in (("double", 53), ("float", 24)):
        if bits < element_type.bits:
            phrase = f"computed in or converted through {_NAMES.get(name, name)}"
            yield phrase, partial(_through_float, name, element_type)


def _wrap(narrow: ElementType, storage: np.dtype[Any]) -> Conversion:
    return lambda array: array.astype(narrow.storage).astype(storage)


def _clip(low: int, high: int) -> Conversion:
    return lambda array: np.clip(array, low, high)


def _through_float(name: str, element_type: ElementType, array: NDArray[Any]) -> NDArray[Any]:
    """Integers rounded to a float and back; what then lies beyond the type is its limit."""
    rounded = array.astype(ELEMENT_TYPES[name].storage)
    low, high = element_type.integer_range
    beyond = rounded >= np.ldexp(rounded.dtype.type(1.0), high.bit_length())
    back = np.where(beyond, 0, rounded).astype(array.dtype)
    back[beyond] = high
    found: NDArray[Any] = np.maximum(back, low)
    return found
