"""How many places a block has in an image."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod


def block_count(
    image: Sequence[int],
    block: Sequence[int],
    strides: Sequence[int] | None,
    pads: Sequence[int] | None,
    dilations: Sequence[int] | None,
) -> int:
    """The product over all axes of the places of a dilated block in the padded image.

    Left out: strides and dilations of 1, no pads. ValueError where the lists are not of one number an axis,
    or a number is none that it may be.
    """
    rank = len(image)
    steps = list(strides) if strides is not None else [1] * rank
    spread = list(dilations) if dilations is not None else [1] * rank
    around = list(pads) if pads is not None else [0] * 2 * rank
    if not len(block) == len(steps) == len(spread) == rank or len(around) != 2 * rank:
        raise ValueError("not a number for each axis")
    if min([*image, *block, *steps, *spread], default=1) < 1 or min(around, default=0) < 0:
        raise ValueError("a number that is none of these")
    room = [
        image[at] + around[at] + around[at + rank] - (block[at] - 1) * spread[at] - 1 for at in range(rank)
    ]
    return prod(each // steps[at] + 1 if each >= 0 else 0 for at, each in enumerate(room))
