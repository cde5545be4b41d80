"""DeformConv: a convolution whose kernel takes elements at places that are data."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import opened
from reference.numbers.working import BETWEEN_ELEMENTS, Mask, bounded_apart
from reference.readings.choices import AsReading, Choice
from reference.registry import reference_operator
from reference.shared.interpolation.sampling import Taps, joined, locations, means, taps_of
from reference.shared.windows import Ints
from reference.sums.summation import sum_of_products

BesideBorder = Annotated[Choice[Literal["interpolated", "zero"]], AsReading]


@reference_operator("ai.onnx::DeformConv")
def deform_conv(
    X: Numbers,
    W: Numbers,
    offset: Numbers,
    B: Numbers | None = None,
    mask: Numbers | None = None,
    *,
    dilations: Ints = None,
    group: int = 1,
    kernel_shape: Ints = None,
    offset_group: int = 1,
    pads: Ints = None,
    strides: Ints = None,
    beside_border: BesideBorder,
) -> Numbers:
    """W[m, c, k] times mask times X at window + k + offset, summed over c and k, plus B.

    Source: DeformConv, Inputs.
    """
    bounded_apart(BETWEEN_ELEMENTS)
    (batch, channels), extents = X.shape[:2], X.shape[2:]
    rank, kernel, lengths = len(extents), W.shape[2:], offset.shape[2:]
    strides, dilations, pads = strides or (1,) * rank, dilations or (1,) * rank, pads or (0,) * 2 * rank
    steps, count = prod(kernel), prod(lengths)
    moved = offset.reshape((batch, offset_group, steps, rank, count)).transposed((3, 0, 1, 2, 4))
    taps = []
    for axis, extent in enumerate(extents):
        window = np.indices(lengths)[axis].reshape(1, count) * strides[axis] - pads[axis]
        base = window + np.indices(kernel)[axis].reshape(steps, 1) * dilations[axis]
        own = moved.gather(_part(moved.shape, axis))
        where = locations(own + Numbers.exact(base.astype(object), X.working), extent, "zeros")
        ends = (-pads[axis], extent - 1 + pads[axis + rank])
        found = taps_of(where, extent, "linear", "zeros", X.working, X.working.layout)
        outside, near = where.beyond(*ends)
        taps.append(_beside(found, outside, near, beside_border))
    size, own_channels = prod(extents), channels // offset_group
    begins = np.repeat(np.arange(batch * offset_group) * size, steps * count)
    grouped = X.reshape((batch * offset_group, own_channels, size)).transposed((1, 0, 2))
    samples = joined(taps, extents, "linear").shifted(begins)
    taken = means(grouped.reshape((own_channels, batch * offset_group * size)), samples, rank)
    taken = taken.reshape((own_channels, batch, offset_group, steps, count))
    taken = taken.transposed((1, 2, 0, 3, 4))
    if mask is not None:
        taken = _times(taken, mask.reshape((batch, offset_group, 1, steps, count)))
    features, terms = W.shape[0] // group, channels // group * steps
    patches = taken.reshape((batch, group, channels // group, steps, count)).transposed((0, 1, 4, 2, 3))
    patches = patches.reshape((batch, group, 1, count, terms))
    filters = W.reshape((group, features, 1, terms))
    plus = None if B is None else B.reshape((group, features, 1))
    sums = sum_of_products(patches, filters, plus=plus)
    strange = (~filters.finite & (patches.sign == 0)).any(axis=-1)
    return opened(sums, strange).reshape((batch, group * features, *lengths))


def _part(shape: tuple[int, ...], first: int) -> NDArray[np.intp]:
    """The flat places of one part along the first axis."""
    found: NDArray[np.intp] = np.arange(prod(shape)).reshape(shape)[first]
    return found


def _beside(taps: Taps, outside: Mask, near: Mask, option: Choice[str]) -> Taps:
    """Outside of the padded tensor is zero, and fractions are interpolated: close to it is a reading.

    Where rounding says on which side of the border a location lies, either holds.
    """
    doubtful = near[:, None]
    if not (taps.inside & outside[:, None]).any() and not doubtful.any():
        return taps
    weights = taps.weights
    error = np.where(doubtful, weights.magnitude, weights.error)
    if option.ask() == "zero":
        taps = replace(taps, inside=taps.inside & ~(outside & ~near)[:, None])
    return replace(taps, weights=replace(weights, error=error))


def _times(taken: Numbers, mask: Numbers) -> Numbers:
    """A number that is none times a sample of nothing: a program multiplies it, or leaves it out."""
    return opened(taken * mask, ~mask.finite & (taken.sign == 0))
