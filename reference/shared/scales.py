"""Which scale each element of a quantised tensor has."""

from __future__ import annotations

from math import prod

import numpy as np
from numpy.typing import NDArray


def scale_places(
    shape: tuple[int, ...], scales: tuple[int, ...], axis: int, block_size: int
) -> NDArray[np.intp]:
    """The flat place of each element's scale: one for all, one along the axis, or one for each block there.

    ValueError where the scales are not of such a shape.
    """
    if prod(scales) == 1 and len(scales) < 2:
        return np.zeros(shape, dtype=np.intp)
    along = axis % len(shape)
    places = np.arange(prod(scales), dtype=np.intp).reshape(scales)
    if len(scales) == 1 and len(shape) > 1:
        places = places.reshape([-1 if at == along else 1 for at in range(len(shape))])
    elif block_size and scales != shape:
        places = places.repeat(block_size, axis=along).take(range(shape[along]), axis=along)
    return np.broadcast_to(places, shape)
