"""Data of which sums and products come out exactly: small whole numbers, and powers of two."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from generator.calls.data.draws import Draw

Floats = NDArray[np.float32]


def integers(*values: int) -> NDArray[np.int64]:
    """Integers of 64 bits, as shapes and axes are."""
    return np.array(values, np.int64)


def whole(
    key: str, *shape: int, least: int = -4, most: int = 4, dtype: DTypeLike = np.float32
) -> NDArray[Any]:
    """Whole numbers between two, drawn for a key."""
    drawn = Draw(f"neighbours {key}").numbers(least, most, math.prod(shape))
    return np.array(drawn, dtype=dtype).reshape(shape)


def different(key: str, *shape: int) -> Floats:
    """The numbers from 1 on, each once and in no order: whatever moves, shows."""
    count = math.prod(shape)
    return np.array(Draw(f"neighbours {key}").shuffled(range(1, count + 1)), dtype=np.float32).reshape(shape)


def powers(key: str, *shape: int, least: int = -2, most: int = 2) -> Floats:
    """Powers of two of either sign."""
    draw = Draw(f"neighbours {key}")
    exponents = draw.numbers(least, most, math.prod(shape))
    signs = draw.numbers(0, 1, math.prod(shape))
    values = [math.ldexp(1 - 2 * sign, each) for sign, each in zip(signs, exponents, strict=True)]
    return np.array(values, dtype=np.float32).reshape(shape)


def real(key: str, *shape: int) -> Floats:
    """Numbers between -4 and 4 with 20 bits behind the point."""
    return (whole(key, *shape, least=-(1 << 22), most=1 << 22, dtype=np.float64) / (1 << 20)).astype(
        np.float32
    )
