"""ExtractImagePatches: the patches that a dilated convolution would see, stacked in depth."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.registry import AsReading, reference_operator
from reference.shared.movement import NegativeZeros, Subnormals, blank, moved


@reference_operator("org.openvino::ExtractImagePatches-3")
def extract_image_patches(
    data: Tensor,
    *,
    sizes: tuple[int, ...],
    strides: tuple[int, ...],
    rates: tuple[int, ...],
    auto_pad: str,
    depth_order: Annotated[Literal["depth_innermost", "depth_outermost"], AsReading] = "depth_innermost",
    subnormals: Subnormals,
    negative_zeros: NegativeZeros,
) -> Answer:
    """Patches of an image, each turned into one column of the output's depth.

    Shapes: `data` [batch, depth, rows, columns], output [batch, sizes[0] * sizes[1] * depth, patches down,
    patches across]. `sizes`, `strides` and `rates` are pairs of positive integers. Element types: the
    numeric ones and bool. Without padding as many patches as fit; else one for each stride begun, in an
    image padded with zeros on both sides, an odd one at the end (`same_upper`) or at the beginning
    (`same_lower`). Bit-exact.
    Source: ExtractImagePatches-3, Attributes and Example.
    """
    batch, depth, *extents = data.shape
    effective = [size + (size - 1) * (rate - 1) for size, rate in zip(sizes, rates, strict=True)]
    counts, pads = [], []
    for extent, reach, stride in zip(extents, effective, strides, strict=True):
        if auto_pad == "valid":
            counts.append((extent - reach) // stride + 1)
            pads.append((0, 0))
        else:
            count = -(-extent // stride)
            total = max(0, (count - 1) * stride + reach - extent)
            counts.append(count)
            half = (total // 2, total - total // 2)
            pads.append(half if auto_pad == "same_upper" else half[::-1])

    padded = blank(
        data.element_type, [batch, depth, *(sum(pad) + size for pad, size in zip(pads, extents, strict=True))]
    )
    (top, _), (left, _) = pads
    padded[:, :, top : top + extents[0], left : left + extents[1]] = data.array
    rows, columns = (
        np.arange(size)[:, None] * rate + np.arange(count)[None, :] * stride
        for size, rate, count, stride in zip(sizes, rates, counts, strides, strict=True)
    )
    patches = padded[:, :, rows[:, None, :, None], columns[None, :, None, :]]
    order = (0, 2, 3, 1, 4, 5) if depth_order == "depth_innermost" else (0, 1, 2, 3, 4, 5)
    stacked = patches.transpose(order).reshape(batch, sizes[0] * sizes[1] * depth, *counts)
    result = Tensor(data.element_type, stacked)
    return moved(result, subnormals, negative_zeros)
