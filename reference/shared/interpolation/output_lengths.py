"""Output lengths: exact, and refused where honest routes would differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from reference.answers import UnstableLength

HALF = Fraction(1, 2)


@lru_cache(maxsize=4096)
def scaled_length(length: int, scale: Fraction, start: Fraction, end: Fraction) -> int:
    """floor(length * (end - start) * scale), as the summary of the ONNX document has it.

    Raises UnstableLength where float32 or float64 arithmetic gives another length than exact arithmetic.
    """
    exact = math.floor(length * (end - start) * scale)
    routes = {exact, *(math.floor(each) for each in _by_route(length, scale, start, end))}
    if routes != {exact}:
        raise UnstableLength(
            "the output length hangs on rounding",
            got=" or ".join(map(str, sorted(routes))),
            expected=f"one length for floor({length} * ({float(end)} - {float(start)}) * {float(scale)})",
        )
    return exact


def refuse_nearly_one(length: int, scale: Fraction, start: Fraction, end: Fraction) -> None:
    """Raise UnstableLength where length * (end - start) * scale is not 1, and a route finds that it is."""
    exact = length * (end - start) * scale
    if exact != 1 and 1.0 in _by_route(length, scale, start, end):
        raise UnstableLength(
            "whether the output has a single element hangs on rounding",
            got=f"{length} * ({float(end)} - {float(start)}) * {float(scale)}",
            expected="a length of 1, or one that no arithmetic takes for 1",
        )


def _by_route(length: int, scale: Fraction, start: Fraction, end: Fraction) -> set[float]:
    """length * (end - start) * scale in float32 and in float64, multiplied in any order."""
    found: set[float] = set()
    for kind in (np.float32, np.float64):
        size, region, factor = kind(length), kind(float(end)) - kind(float(start)), kind(float(scale))
        orders = (size * region * factor, size * factor * region, size * (region * factor))
        found |= {float(each) for each in orders}
    return found


def common_scale(policy: str, sizes: Sequence[int], lengths: Sequence[int]) -> tuple[Fraction, int]:
    """The one scale of keep_aspect_ratio_policy, as (size, length): the least or greatest size / length."""
    pairs = [(Fraction(size), length) for size, length in zip(sizes, lengths, strict=True)]
    choose = min if policy == "not_larger" else max
    return choose(pairs, key=lambda pair: pair[0] / pair[1])


@lru_cache(maxsize=4096)
def rounded_length(scale: tuple[Fraction, int], length: int) -> int:
    """round_int(scale * length), halfway cases up.

    Raises UnstableLength where float32 or float64 arithmetic gives another length.
    """
    exact = math.floor(scale[0] * length / scale[1] + HALF)
    routes = {exact}
    for kind in (np.float32, np.float64):
        factor = kind(float(scale[0])) / kind(scale[1])
        routes.add(math.floor(Fraction(float(factor * kind(length))) + HALF))
    if routes != {exact}:
        raise UnstableLength(
            "the output length hangs on rounding",
            got=" or ".join(map(str, sorted(routes))),
            expected=f"one length for round_int({float(scale[0])} / {scale[1]} * {length})",
        )
    return exact
