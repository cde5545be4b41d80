"""How a window is misread: the ends of its pads, one stride for all axes, strides for dilations.

That strides, pads or dilations are ignored is a change of every optional list of an attribute.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from generator.calls.solver.partial import Bindings
from generator.calls.variables.kind import CallValues, KindChange, ValueChange
from generator.calls.variables.misread_padding import order_changes


def window_changes(names: Collection[str]) -> Iterator[KindChange]:
    """The changes of a window that has some of strides, dilations and pads."""
    if "pads" in names:
        yield from order_changes()
    if "strides" in names:
        yield ValueChange("strides first", "the first of strides for all axes", _first_stride)
    if "strides" in names and "dilations" in names:
        yield ValueChange("strides as dilations", "strides and dilations exchanged", _exchanged)


def _first_stride(given: CallValues) -> Bindings:
    strides = given.numbers("strides")
    return {"strides": np.full_like(strides, strides[0])}


def _exchanged(given: CallValues) -> Bindings:
    return {"strides": given.numbers("dilations"), "dilations": given.numbers("strides")}
