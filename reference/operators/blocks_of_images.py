"""Col2Im: blocks put together to an image, where they overlap added up."""

from __future__ import annotations

from math import prod

import numpy as np

from reference.numbers.number_arrays import Numbers
from reference.registry import reference_operator
from reference.shared.windows import Ints, spread
from reference.sums.summation import total


@reference_operator("ai.onnx::Col2Im")
def blocks_to_image(
    input: Numbers,
    image_shape: tuple[int, ...],
    block_shape: tuple[int, ...],
    *,
    dilations: Ints = None,
    pads: Ints = None,
    strides: Ints = None,
) -> Numbers:
    """Each element of the image is the sum of those of blocks that fall on it. Source: Col2Im, Inputs."""
    rank, count = len(image_shape), prod(block_shape)
    strides, dilations, pads = strides or (1,) * rank, dilations or (1,) * rank, pads or (0,) * 2 * rank
    blocks = [
        (image_shape[at] + pads[at] + pads[at + rank] - (block_shape[at] - 1) * dilations[at] - 1)
        // strides[at]
        + 1
        for at in range(rank)
    ]
    batch, channels = input.shape[0], input.shape[1] // count
    falling = spread(blocks, image_shape, block_shape, pads[:rank], strides, dilations)
    numbers = input.reshape((batch, channels, count, prod(blocks)))
    places = np.where(falling.inside, falling.places, 0)
    inside = np.broadcast_to(falling.inside, (batch, channels, *places.shape))
    terms = numbers.arranged(lambda each: each[:, :, np.arange(count), places]).where(inside, 0)
    return total(terms, -1).reshape((batch, channels, *image_shape))
