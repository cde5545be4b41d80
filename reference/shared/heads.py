"""Heads that are packed side by side, and which of keys and values each head of queries has."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from reference.readings.choices import AsReading, Choice

GroupedHeads = Annotated[Choice[Literal["beside", "in_turn"]], AsReading]


def by_heads(array: NDArray[Any], heads: int | None) -> NDArray[Any]:
    """(batch, length, heads x size) as (batch, heads, length, size)."""
    batch, length, width = array.shape
    count = heads or 1
    return array.reshape((batch, length, count, width // count)).transpose((0, 2, 1, 3))


def heads_for_queries(
    count: int, queries: int, grouped_heads: Choice[Literal["beside", "in_turn"]]
) -> NDArray[np.intp]:
    """Which of `count` heads of keys each head of queries has.

    Each is for as many of them; whether these lie side by side is asked where it matters.
    """
    group, every = queries // count, np.arange(queries)
    beside = group == 1 or count == 1 or grouped_heads.ask() == "beside"
    return every // group if beside else every % count
