"""Conv, ConvTranspose and ConvInteger: windows of elements multiplied with kernels and summed."""

from __future__ import annotations

from math import prod
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.element_types import ELEMENT_TYPES
from reference.answers import Answer
from reference.answers.number_answers import answer_of
from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import opened
from reference.numbers.working import Mask
from reference.readings.choices import AsReading, Choice
from reference.registry import reference_operator
from reference.shared.windows import Ints, Windows, slide, spread
from reference.sums.summation import sum_of_products

OddPadding = Annotated[Choice[Literal["more_at_begin", "more_at_end"]], AsReading]


def convolved(X: Numbers, W: Numbers, group: int, windows: Windows, bias: Numbers | None = None) -> Numbers:
    """The sums of W[m, c, k] X[n, c, window + k] over the channels of m's group and the kernel, plus bias."""
    batch, channels = X.shape[:2]
    features, kernel = W.shape[0] // group, windows.places.shape[1]
    taken = windows.gather(X.reshape((batch, group, channels // group, *X.shape[2:])))
    count = channels // group * kernel
    patches = taken.transposed((0, 1, 3, 2, 4)).reshape((batch, group, 1, len(windows.places), count))
    filters = W.reshape((group, features, 1, count))
    plus = None if bias is None else bias.reshape((group, features, 1))
    # A weight that is no number on padding: a program multiplies it with zero, or leaves it out.
    padding = np.tile(~windows.inside, (1, channels // group))
    strange = ~filters.finite & padding
    if strange.any():
        filters = filters.broadcast(strange.shape).where(~padding, 0)
    sums = sum_of_products(patches, filters, plus=plus)
    doubtful = strange.any(axis=-1) & ~np.isnan(sums.sign)
    return opened(sums, doubtful).reshape((batch, features * group, *windows.lengths))


@reference_operator("ai.onnx::Conv")
def convolve(
    X: Numbers,
    W: Numbers,
    B: Numbers | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: Ints = None,
    group: int = 1,
    kernel_shape: Ints = None,
    pads: Ints = None,
    strides: Ints = None,
) -> Numbers:
    """Windows of X multiplied with each of the filters W, plus B. Source: Conv, Summary and Inputs."""
    windows = slide(
        X.shape[2:], W.shape[2:], strides=strides, pads=pads, dilations=dilations, auto_pad=auto_pad
    )
    sums = convolved(X, W, group, windows, B)
    if dilations is None or X.finite.all():
        return sums
    reach = tuple((each - 1) * step + 1 for each, step in zip(W.shape[2:], dilations, strict=True))
    spans = slide(X.shape[2:], reach, strides=strides, pads=pads, auto_pad=auto_pad)
    shape = (X.shape[0], group, X.shape[1] // group, prod(X.shape[2:]))
    strange = np.asarray(~X.finite.reshape(shape).all(axis=2))
    # What no element of the kernel falls on: a program multiplies it with zero, or leaves it out.
    between = _counted(strange, spans) > _counted(strange, windows)
    doubtful = np.repeat(between, W.shape[0] // group, axis=1).reshape(sums.shape)
    return opened(sums, doubtful & ~np.isnan(sums.sign))


def _counted(marked: Mask, windows: Windows) -> NDArray[np.int64]:
    """How many marked elements, of flat spatial extents, each window has."""
    taken = marked[..., np.where(windows.inside, windows.places, 0)] & windows.inside
    return np.asarray(np.count_nonzero(taken, axis=-1))


@reference_operator("ai.onnx::ConvInteger")
def convolve_integers(
    x: Numbers,
    w: Numbers,
    x_zero_point: Numbers | None = None,
    w_zero_point: Numbers | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: Ints = None,
    group: int = 1,
    kernel_shape: Ints = None,
    pads: Ints = None,
    strides: Ints = None,
) -> Answer:
    """The convolution of x - x_zero_point and w - w_zero_point, in int32. Source: ConvInteger, Inputs."""
    windows = slide(
        x.shape[2:], w.shape[2:], strides=strides, pads=pads, dilations=dilations, auto_pad=auto_pad
    )
    x = x if x_zero_point is None else x - x_zero_point
    if w_zero_point is not None:
        w = w - w_zero_point.reshape((*w_zero_point.shape, *(1,) * (w.ndim - w_zero_point.ndim)))
    return answer_of(convolved(x, w, group, windows), Choice("wrap"), ELEMENT_TYPES["int32"])


@reference_operator("ai.onnx::ConvTranspose")
def convolve_transposed(
    X: Numbers,
    W: Numbers,
    B: Numbers | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: Ints = None,
    group: int = 1,
    kernel_shape: Ints = None,
    output_padding: Ints = None,
    output_shape: Ints = None,
    pads: Ints = None,
    strides: Ints = None,
    version: int,
    odd_padding: OddPadding,
) -> Numbers:
    """Each element of X times the kernels of W, laid over its place and summed, plus B.

    Source: ConvTranspose, Summary, auto_pad and output_padding.
    """
    extents, kernel = X.shape[2:], W.shape[2:]
    rank = len(extents)
    strides, dilations = strides or (1,) * rank, dilations or (1,) * rank
    added, pads = output_padding or (0,) * rank, pads or (0,) * 2 * rank
    is_same = auto_pad in ("SAME_UPPER", "SAME_LOWER")
    lengths, begins = [], []
    for axis, extent in enumerate(extents):
        reach = (kernel[axis] - 1) * dilations[axis] + 1
        full = strides[axis] * (extent - 1) + added[axis] + reach
        if output_shape is None and not is_same:
            lengths.append(full - pads[axis] - pads[axis + rank])
            begins.append(pads[axis])
            continue
        length = extent * strides[axis] if output_shape is None else output_shape[axis]
        more = auto_pad == "SAME_LOWER"
        if (full - length) % 2 and (version < 11 or not is_same):
            more = odd_padding.ask() == "more_at_begin"
        lengths.append(length)
        begins.append((full - length + more) // 2)
    # As a convolution of what falls on each place: features are the second axis of W, in groups of the first.
    grouped = W.reshape((group, W.shape[0] // group, *W.shape[1:]))
    order = (0, 2, 1, *range(3, grouped.ndim))
    filters = grouped.transposed(order).reshape((group * W.shape[1], W.shape[0] // group, *kernel))
    return convolved(X, filters, group, spread(extents, lengths, kernel, begins, strides, dilations), B)
