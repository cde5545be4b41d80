"""Whether an output is padded by less than a stride or a dilation."""

from __future__ import annotations

from collections.abc import Sequence


def output_padding_fits(
    added: Sequence[int], strides: Sequence[int] | None, dilations: Sequence[int] | None
) -> bool:
    """Whether each number is less than the greater of the axis's stride and dilation (1 where left out).

    ValueError where the lists are of other lengths, or not of numbers that these may be.
    """
    steps = list(strides) if strides is not None else [1] * len(added)
    spread = list(dilations) if dilations is not None else [1] * len(added)
    if not len(steps) == len(spread) == len(added) or min([*steps, *spread, 1]) < 1 or min([*added, 0]) < 0:
        raise ValueError("not a number for each axis")
    return all(each < max(pair) for each, pair in zip(added, zip(steps, spread, strict=True), strict=True))
