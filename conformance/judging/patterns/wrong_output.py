"""A wrong output as the patterns see it, and how strange a coincidence one is: less than once in 2**bits."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.judging.patterns.elements import Floats, Mask
from conformance.suite.values import decode_loudly
from opcert.vocabulary.element_types import ElementType
from opcert.vocabulary.tensors import Tensor

SAMPLES = 64
"""A hypothesis is tried on so many wrong elements before it is tried on all."""
FEWEST = 4
"""No pattern is read out of fewer wrong elements, unless it says otherwise."""
_FIRST = 4


@dataclass(frozen=True, eq=False)
class WrongOutput:
    """Arrays are in storage; `wrong` marks the wrong elements, and is None where the shape is wrong."""

    element_type: ElementType
    expected: NDArray[Any]
    got: NDArray[Any]
    allowed: Floats | None
    wrong: Mask | None
    inputs: tuple[tuple[str, Tensor], ...] = ()

    @cached_property
    def wrong_mask(self) -> Mask:
        """Of `got`'s shape; all of it where the shape is wrong."""
        return np.ones(self.got.shape, dtype=np.bool_) if self.wrong is None else self.wrong

    @cached_property
    def wrong_places(self) -> NDArray[np.intp]:
        """Flat positions of the wrong elements in `got`."""
        return np.flatnonzero(self.wrong_mask)

    @cached_property
    def sampled_places(self) -> NDArray[np.intp]:
        """Some of the wrong places, evenly spread."""
        return spread(self.wrong_places, SAMPLES)

    @cached_property
    def first_pairs(self) -> tuple[tuple[Any, Any, float], ...]:
        """Got, expected and allowed of a few wrong elements as Python's numbers: most patterns end here.

        Only where `has_numbers`.
        """
        if not self.has_numbers:
            return ()
        places = spread(self.sampled_places, _FIRST)
        got, expected = (each.reshape(-1)[places] for each in (self.got, self.expected))
        if self.element_type.is_float:
            got, expected = (decode_loudly(self.element_type, each) for each in (got, expected))
        allowed = self.allowed_or_zero(places).tolist()
        return tuple(zip(got.tolist(), expected.tolist(), allowed, strict=True))

    @cached_property
    def has_numbers(self) -> bool:
        """Whether the shape is right, and elements are integers or floating-point numbers with a layout."""
        return self.wrong is not None and (
            self.element_type.is_integer or self.element_type.layout is not None
        )

    @cached_property
    def wrong_got(self) -> NDArray[Any]:
        """The wrong elements as they came, in storage."""
        return self.got.reshape(-1)[self.wrong_places]

    @cached_property
    def wrong_expected(self) -> NDArray[Any]:
        """What the wrong elements should be; the shape must be right."""
        return self.expected.reshape(-1)[self.wrong_places]

    def allowed_or_zero(self, places: NDArray[np.intp] | slice = slice(None)) -> Floats:
        """The allowed distances of elements at flat positions."""
        if self.allowed is None:
            return np.zeros(self.expected.reshape(-1)[places].shape)
        return self.allowed.reshape(-1)[places]


def spread(places: NDArray[Any], most: int) -> NDArray[Any]:
    """At most so many of the elements of a flat array, evenly spread."""
    if places.size <= most:
        return places
    return places[np.arange(most) * (places.size - 1) // (most - 1)]


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
    for count in counts:
        placed += count
        found *= choices(placed, count, enough)
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
