"""Lengths, scales, sizes and regions of interest for Resize: small tensors that tell their axes apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import floor, prod

import numpy as np

from generator.draws import Draw

MOST_ELEMENTS = 220
CANDIDATES = 40
DOWN = (0.3, 0.4, 0.6, 0.7, 0.75)
UP = (1.25, 1.3, 1.5, 1.7, 2.5)


@dataclass(frozen=True)
class Axis:
    """One axis: its length, its scale (a float32 number), its region of interest as two fractions."""

    length: int
    scale: float
    start: float = 0.0
    end: float = 1.0

    @property
    def resized(self) -> int:
        """The length that the scale makes."""
        return floor(self.length * Fraction(float(np.float32(self.scale))))

    def cropped(self) -> Fraction:
        """The length that the scale makes of the region of interest, before it is rounded down."""
        part = Fraction(float(np.float32(self.end))) - Fraction(float(np.float32(self.start)))
        return self.length * part * Fraction(float(np.float32(self.scale)))


def resized_axes(rank: int, which: str) -> list[int] | None:
    """The axes that change length, None where a rank has no such set beside all of its axes.

    `inner`: those behind batch and channel, or the last one; `outer`: the others.
    """
    if which == "every":
        return list(range(rank))
    if rank == 1:
        return None
    split = min(2, max(1, rank - 2))
    return list(range(split, rank)) if which == "inner" else list(range(split))


def draw_axes(levels: Mapping[str, str], draw: Draw) -> list[Axis] | None:
    """Axes of these levels: the best of some draws by size, by empty outputs, and by equal lengths.

    None where the levels exclude each other.
    """
    rank = int(levels["X_rank"])
    changing = resized_axes(rank, levels["resized"])
    if changing is None or (levels["ratio"] == "mixed" and len(changing) < 2):
        return None
    best: tuple[tuple[int, ...], list[Axis]] | None = None
    for attempt in range(CANDIDATES):
        axes = _candidate(
            rank, changing, levels["ratio"], levels.get("roi", "absent"), draw.child(str(attempt))
        )
        outputs = _output_lengths(axes, changing, levels)
        excess = (
            max(prod(axis.length for axis in axes), prod(max(each, 0) for each in outputs)) - MOST_ELEMENTS
        )
        score = (
            sum(_hangs_on_rounding(axis.cropped()) for axis in axes)
            if levels.get("target") == "scales"
            else 0,
            max(excess, 0),
            sum(each < 1 for each in outputs),
            rank - len({axis.length for axis in axes}),
            rank - len(set(outputs)),
        )
        if best is None or score < best[0]:
            best = (score, axes)
            if not any(score):
                break
    return best[1] if best else None


def _output_lengths(axes: list[Axis], changing: list[int], levels: Mapping[str, str]) -> list[int]:
    """About how long the output's axes become: what a choice among draws needs."""
    if levels.get("target") == "scales":
        return [floor(axis.cropped()) for axis in axes]
    policy = levels.get("keep_aspect_ratio_policy", "stretch")
    if policy == "stretch":
        return [axis.resized for axis in axes]
    listed = changing if levels["axes"] == "partial" else range(len(axes))
    factors = [Fraction(axes[axis].resized, axes[axis].length) for axis in listed]
    common = min(factors) if policy == "not_larger" else max(factors)
    return [floor(axis.length * common + Fraction(1, 2)) if place in listed else axis.length
            for place, axis in enumerate(axes)]  # fmt: skip


def _candidate(rank: int, changing: list[int], ratio: str, roi: str, draw: Draw) -> list[Axis]:
    axes = []
    for axis in range(rank):
        if axis not in changing:
            axes.append(Axis(draw.integer(1, 4), 1.0))
            continue
        place = changing.index(axis)
        kind = ("up2", "down_fraction", "down2", "up_fraction")[place % 4] if ratio == "mixed" else ratio
        # The more axes change, the shorter they must be to keep the tensors small.
        shortest, longest = (1, 4) if len(changing) > 3 else (2, 5) if len(changing) > 2 else (2, 8)
        length, scale = _length_and_scale(kind, shortest, longest, draw)
        start, end = _region(roi, place, draw)
        axes.append(Axis(length, scale, start, end))
    return axes


def _length_and_scale(ratio: str, shortest: int, longest: int, draw: Draw) -> tuple[int, float]:
    if ratio == "same":
        return draw.integer(2, longest - 1), 1.0
    if ratio == "down2":
        return 2 * draw.integer(1, longest // 2), 0.5
    if ratio == "up2":
        return draw.integer(shortest, 4), 2.0
    return draw.choice(_pairs(ratio, shortest, longest))


@cache
def _pairs(ratio: str, shortest: int, longest: int) -> list[tuple[int, float]]:
    return [
        (length, scale)
        for length in range(shortest, longest + 1)
        for scale in (UP if ratio == "up_fraction" else DOWN)
        if _fits(ratio, length, scale)
    ]


def _fits(ratio: str, length: int, scale: float) -> bool:
    exact = length * Fraction(float(np.float32(scale)))
    if _hangs_on_rounding(exact):
        return False
    result = floor(exact)
    if ratio == "to_one":
        return result == 1
    return result > length if ratio == "up_fraction" else 1 <= result < length


def _hangs_on_rounding(length: Fraction) -> bool:
    """Whether float32 may round a length to the next whole number."""
    return length.denominator > 1 and abs(length - round(length)) < Fraction(1, 1000)


def _region(roi: str, place: int, draw: Draw) -> tuple[float, float]:
    """Where a region begins and ends; of several axes only the first leaves the tensor."""
    if roi in ("absent", "empty"):
        return 0.0, 1.0
    inside = (draw.choice((0.0, 0.125, 0.2, 0.25)), draw.choice((0.625, 0.75, 0.8, 1.0)))
    if roi == "flipped":
        return inside[1], inside[0]
    if place == 0 and roi == "across":
        return draw.choice(((-0.25, 0.75), (0.25, 1.5), (-0.5, 1.25), (0.4, 1.2)))
    if place == 0 and roi == "outside":
        return draw.choice(((1.25, 2.0), (-1.5, -0.25), (1.125, 1.75)))
    return inside
