"""Attributes beyond the range of the tensors' type: who computes in that type has infinities there."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import opened

COMPARED = frozenset({"Clip", "ThresholdedRelu"})
"""Operators that hold such an attribute against elements, and no more: an infinity bounds them as well."""


def open_beyond(operator: str, given: Mapping[str, Any], arguments: Mapping[str, Any], result: Any) -> Any:
    """What a reference returned; anything in its place where an attribute is beyond a narrow type's range.

    Attributes are float32. No document names the type in which they are used, and one that is infinite there
    makes infinities, NaN of an infinity times zero, and zeros of what is divided by it. Defaults are none.
    """
    if operator in COMPARED:
        return result
    working = next((each.working for each in _numbers(arguments.values()) if each.working.is_narrow), None)
    if working is None:
        return result
    # From halfway to the next power of two on the nearest number of the type is an infinity.
    unit = Fraction(1, 1 << working.own_layout.precision)
    first = working.range[1] * (2 - unit) / (2 - 2 * unit)
    if all(abs(each) < first for each in _attributes(given.values())):
        return result
    parts = result if isinstance(result, tuple) else (result,)
    found = tuple(_opened(each) for each in parts)
    return found if isinstance(result, tuple) else found[0]


def _opened(result: Any) -> Any:
    is_open = isinstance(result, Numbers) and result.working.is_narrow
    return opened(result, np.ones((), np.bool_)) if is_open else result


def _numbers(values: Any) -> Iterator[Numbers]:
    for each in values:
        if isinstance(each, Numbers):
            yield each
        elif isinstance(each, tuple):
            yield from _numbers(each)


def _attributes(values: Any) -> Iterator[float]:
    """The finite numbers of attributes of floats."""
    for each in values:
        if isinstance(each, float) and math.isfinite(each):
            yield each
        elif isinstance(each, tuple):
            yield from _attributes(each)
