"""How strange a coincidence a pattern would be: whether chance gives it less than once in 2**bits times."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.judging.patterns.elements import Floats, Mask
from conformance.judging.patterns.wrong_output import spread
from conformance.suite.values import decode_loudly
from opcert.vocabulary.element_types import ElementType

STRANGE = 12
"""Bits of surprise from which a coincidence is not believed: one in 4,096."""
_COUNTED = 512


def is_strange_place(among: int, chosen: int, wrong: int, bits: int = STRANGE) -> bool:
    """Whether all of `wrong` elements seldom lie in `chosen` of `among` equally likely places."""
    if wrong > chosen or chosen >= among:
        return False
    odds = 1.0
    for each in range(wrong):
        odds *= (among - each) / (chosen - each)
        if odds >= 1 << bits:
            return True
    return False


def is_strange_order(
    element_type: ElementType, predicted: NDArray[Any], allowed: Floats | None, wrong: Mask, bits: int
) -> bool:
    """Whether a prediction seldom fits an answer that is made of the right values in any order.

    It must seldom do so for all values in any order, and for as many wrong elements in any places, with the
    wrong values in any order. Values within the allowed distance of one another count as one. Arrays are
    flat.
    """
    enough = 1 << bits
    places = np.flatnonzero(wrong)
    if _orders(element_type, predicted, allowed, spread(np.arange(wrong.size), _COUNTED), enough) < enough:
        return False
    orders = _orders(element_type, predicted, allowed, spread(places, _COUNTED), enough)
    return orders * choices(wrong.size, int(places.size), enough) >= enough


def choices(among: int, chosen: int, enough: int) -> int:
    """The number of ways to choose so many of so many, or less of it that is enough."""
    found = 1
    for each in range(min(chosen, among - chosen)):
        found = found * (among - each) // (each + 1)
        if found >= enough:
            break
    return found


def orders_of(counts: list[int], enough: int) -> int:
    """The number of ways to order so many of each of some values, or less of it that is enough."""
    found, placed = 1, 0
    for each in counts:
        placed += each
        found *= choices(placed, each, enough)
        if found >= enough:
            break
    return found


def _orders(
    element_type: ElementType,
    values: NDArray[Any],
    allowed: Floats | None,
    places: NDArray[np.intp],
    enough: int,
) -> int:
    """The number of ways to order the values at some places, or less of it that is enough."""
    counts = _count_alike(element_type, values[places], None if allowed is None else allowed[places])
    return orders_of(counts, enough)


def _count_alike(element_type: ElementType, values: NDArray[Any], allowed: Floats | None) -> list[int]:
    """How many there are of each value, taking those for one that the allowances could hide."""
    if element_type.kind == "string":
        return list(Counter(values.tolist()).values())
    if element_type.kind == "complex":
        numbers = values.real.astype(np.float64)
    elif element_type.is_float:
        numbers = decode_loudly(element_type, values)
    else:
        numbers = values.astype(np.float64)
    order = np.argsort(numbers, kind="stable")
    numbers = numbers[order]
    reach = np.zeros(numbers.shape) if allowed is None else allowed[order]
    apart = np.diff(numbers) > reach[1:] + reach[:-1]
    edges = np.flatnonzero(np.concatenate([[True], apart, [True]]))
    return [int(each) for each in np.diff(edges)]
