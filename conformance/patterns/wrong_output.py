"""A wrong output as the patterns see it, and how strange a coincidence would be."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.elements import Floats, Mask
from conformance.values import decode_loudly
from opcert.element_types import ElementType
from opcert.tensors import Tensor

SAMPLES = 64
"""A hypothesis is tried on so many wrong elements before it is tried on all."""
FEWEST = 4
"""No pattern is read out of fewer wrong elements, unless it says otherwise."""
STRANGE = 12.0
"""Bits of surprise from which a coincidence is not believed: one in 4,096."""
_COUNTED = 512
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


def places_surprise(among: int, chosen: int, wrong: int) -> float:
    """Bits of surprise that all of `wrong` elements lie in `chosen` of `among` equally likely places."""
    if wrong > chosen or chosen >= among:
        return 0.0
    return _log2_choices(among, wrong) - _log2_choices(chosen, wrong)


def order_surprise(
    element_type: ElementType, predicted: NDArray[Any], allowed: Floats | None, wrong: Mask
) -> float:
    """Bits of surprise that a prediction fits, for an answer made of the right values in any order.

    It is the smaller of two: all values in any order; and as many wrong elements in any places, with the
    wrong values in any order. Values within the allowed distance of one another count as one. Arrays are
    flat.
    """
    places = np.flatnonzero(wrong)
    all_orders = _log2_orders(element_type, predicted, allowed, spread(np.arange(wrong.size), _COUNTED))
    wrong_orders = _log2_orders(element_type, predicted, allowed, spread(places, _COUNTED))
    return min(all_orders, _log2_choices(wrong.size, places.size) + wrong_orders)


def _log2_choices(among: int, chosen: int) -> float:
    return (math.lgamma(among + 1) - math.lgamma(chosen + 1) - math.lgamma(among - chosen + 1)) / math.log(2)


def _log2_orders(
    element_type: ElementType, values: NDArray[Any], allowed: Floats | None, places: NDArray[np.intp]
) -> float:
    """The binary logarithm of the number of ways to order the values at some places."""
    counts = _count_alike(element_type, values[places], None if allowed is None else allowed[places])
    return (math.lgamma(places.size + 1) - sum(math.lgamma(each + 1) for each in counts)) / math.log(2)


def _count_alike(element_type: ElementType, values: NDArray[Any], allowed: Floats | None) -> list[int]:
    """How many there are of each value, taking those for one that the allowances could hide."""
    if element_type.kind == "string":
        return [int(each) for each in np.unique(values.astype(np.bytes_), return_counts=True)[1]]
    if element_type.kind == "complex":
        numbers = values.real.astype(np.float64)
    elif element_type.is_float:
        numbers = decode_loudly(element_type, values)
    else:
        numbers = values.astype(np.float64)
    order = np.argsort(numbers)
    numbers = numbers[order]
    reach = np.zeros(numbers.shape) if allowed is None else allowed[order]
    apart = np.diff(numbers) > reach[1:] + reach[:-1]
    edges = np.flatnonzero(np.concatenate([[True], apart, [True]]))
    return [int(each) for each in np.diff(edges)]
