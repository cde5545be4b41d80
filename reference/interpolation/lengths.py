"""Output lengths: exact, and refused where honest routes would differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from reference.answers import OutsideDomain, UnstableLength

HALF = Fraction(1, 2)


def scaled_length(length: int, scale: Fraction, start: Fraction, end: Fraction) -> int:
    """floor(length * (end - start) * scale), as the summary of the ONNX document has it.

    Raises UnstableLength where float32 or float64 arithmetic gives another length than exact arithmetic,
    OutsideDomain where the length is negative.
    """
    exact = math.floor(length * (end - start) * scale)
    routes = {exact}
    for kind in (np.float32, np.float64):
        size, region, factor = kind(length), kind(float(end)) - kind(float(start)), kind(float(scale))
        orders = (size * region * factor, size * factor * region, size * (region * factor))
        routes |= {math.floor(float(each)) for each in orders}
    if routes != {exact}:
        raise UnstableLength(
            "the output length hangs on rounding",
            got=" or ".join(map(str, sorted(routes))),
            expected=f"one length for floor({length} * ({float(end)} - {float(start)}) * {float(scale)})",
        )
    if exact < 0:
        raise OutsideDomain("the region of interest turns a length negative", got=str(exact))
    return exact


def common_scale(policy: str, sizes: Sequence[int], lengths: Sequence[int]) -> tuple[Fraction, int]:
    """The one scale of keep_aspect_ratio_policy, as (size, length): the least or greatest size / length."""
    if 0 in lengths:
        raise OutsideDomain("no aspect ratio to keep along an axis of length 0")
    pairs = [(Fraction(size), length) for size, length in zip(sizes, lengths, strict=True)]
    choose = min if policy == "not_larger" else max
    return choose(pairs, key=lambda pair: pair[0] / pair[1])


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
