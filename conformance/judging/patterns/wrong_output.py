"""A wrong output as the patterns see it."""

from __future__ import annotations

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
