"""Windows by plain loops, written from the documents' formulas; random ones for tests."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from random import Random
from typing import Any

Index = tuple[int, ...]


@dataclass
class Sliding:
    """A window with the attributes of a call, and the extents that it slides over."""

    extents: Index
    kernel: Index
    strides: Index
    dilations: Index
    pads: Index
    auto_pad: str = "NOTSET"
    ceil_mode: int = 0

    @property
    def attributes(self) -> dict[str, Any]:
        """As a call has them: what is as by default is left out now and then by the caller."""
        given = {"strides": self.strides, "dilations": self.dilations, "auto_pad": self.auto_pad}
        return given if self.auto_pad != "NOTSET" else {**given, "pads": self.pads}

    def axis(self, at: int) -> tuple[int, int, int]:
        """How many windows there are along an axis, and the padding before and behind."""
        extent, stride = self.extents[at], self.strides[at]
        effective = (self.kernel[at] - 1) * self.dilations[at] + 1
        if self.auto_pad.startswith("SAME"):
            count = ceil(Fraction(extent, stride))
            added = (count - 1) * stride + effective - extent
            less, more = floor(Fraction(added, 2)), ceil(Fraction(added, 2))
            return (count, less, more) if self.auto_pad == "SAME_UPPER" else (count, more, less)
        if self.auto_pad == "VALID":
            return ceil(Fraction(extent - effective + 1, stride)), 0, 0
        begin, end = self.pads[at], self.pads[at + len(self.extents)]
        rounded = ceil if self.ceil_mode else floor
        room = extent + begin + end - self.dilations[at] * (self.kernel[at] - 1) - 1
        count = rounded(Fraction(room, stride) + 1)
        if self.ceil_mode:
            count = len([each for each in range(count) if each * stride < extent + begin])
        return count, begin, end

    @property
    def lengths(self) -> Index:
        return tuple(self.axis(at)[0] for at in range(len(self.extents)))

    def window(self, output: Index) -> Iterator[tuple[Index, Index, bool, bool]]:
        """Kernel index, place, whether an element is there, and whether it is that or padding."""
        for offset in itertools.product(*map(range, self.kernel)):
            place, inside, padded = [], True, True
            for at, each in enumerate(offset):
                _, begin, end = self.axis(at)
                here = output[at] * self.strides[at] + each * self.dilations[at] - begin
                place.append(here)
                inside = inside and 0 <= here < self.extents[at]
                padded = padded and -begin <= here < self.extents[at] + end
            yield offset, tuple(place), inside, padded

    def outputs(self) -> Iterator[Index]:
        yield from itertools.product(*map(range, self.lengths))

    @property
    def is_told(self) -> bool:
        """Whether texts say what comes of it: it fits, and SAME does not take anything away."""
        for at, extent in enumerate(self.extents):
            count, begin, end = self.axis(at)
            effective = (self.kernel[at] - 1) * self.dilations[at] + 1
            if count < 1 or extent + begin + end < effective or min(begin, end) < 0:
                return False
            rest = (extent - effective) % self.strides[at]
            if self.auto_pad == "VALID" and self.ceil_mode and rest:
                return False
        return True

    @property
    def holds_elements(self) -> bool:
        return all(any(inside for *_, inside, _ in self.window(output)) for output in self.outputs())


def some_sliding(random: Random, *, ceil_mode: bool = False, most: int = 5) -> Sliding:
    """A window of which texts say what comes, over one to three axes."""
    while True:
        rank = random.choice([1, 1, 2, 2, 3])
        auto_pad = random.choice(["NOTSET", "NOTSET", "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"])
        drawn = [tuple(random.randint(1, each) for _ in range(rank)) for each in (most, 3, 3, 2)]
        pads = tuple(random.randint(0, 2) if auto_pad == "NOTSET" else 0 for _ in range(2 * rank))
        found = Sliding(
            drawn[0], drawn[1], drawn[2], drawn[3], pads, auto_pad, int(ceil_mode and random.random() < 0.5)
        )
        if found.is_told:
            return found
