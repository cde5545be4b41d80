"""Where windows along an axis, elements of an image and boxes are placed, at the levels that kinds have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED, Bindings
from generator.calls.variables.kind import Level

FAR = 2**31 - 1


def padded_as_much_as_lost(kernel: Sequence[int]) -> Iterator[tuple[str, Bindings]]:
    """Pads that give back what a window with stride 1 takes, along every axis and along the first alone."""
    begins = [(length - 1) // 2 for length in kernel]
    ends = [length - 1 - begin for length, begin in zip(kernel, begins, strict=True)]
    plain: Bindings = {"strides": None, "dilations": None, "auto_pad": None}
    if any(length > 1 for length in kernel):
        yield "as_long_as_before", {**plain, "pads": [*begins, *ends]}
    if len(kernel) > 1 and kernel[0] > 1:
        others = [0] * (len(kernel) - 1)
        yield "as_long_along_one_axis", {**plain, "pads": [begins[0], *others, ends[0], *others]}


def everything_sliced(shape: Sequence[int], with_steps: bool) -> Iterator[tuple[str, Bindings]]:
    """Slices that leave nothing out: of every axis, backwards, of the first axis alone; one of nothing."""
    rank = len(shape)
    if not rank:
        return
    axes, ones = list(range(rank)), [1] * rank
    forwards: Bindings = {"starts": [0] * rank, "ends": [FAR] * rank, "axes": axes}
    steps: Bindings = {"steps": ones} if with_steps else {}
    yield "everything", {**forwards, **steps}
    if rank > 1 and all(extent > 1 for extent in shape):
        yield "everything_along_one_axis", {**forwards, **steps, "starts": [0, *ones[1:]]}
    yield "nothing", {**forwards, **steps, "ends": [0] * rank}
    if with_steps:
        backwards = {"starts": [-1] * rank, "ends": [-FAR - 1] * rank, "axes": axes, "steps": [-1] * rank}
        yield "everything_backwards", backwards


_KERNELS: Mapping[Level, tuple[int, ...]] = {"small": (2, 3), "one": (1,), "mixed": (1, 2, 3)}
_SMALL = 8


@dataclass(frozen=True)
class Placement:
    """A window along one axis: its kernel, dilation and stride, and the padding before and behind."""

    kernel: int
    dilation: int
    stride: int
    begin: int
    end: int


def are_never_together(levels: Mapping[str, Level]) -> bool:
    """Whether levels contradict each other whatever the extents are; asks for few, so that few are blamed."""
    if levels.get("auto_pad", OMITTED) not in (OMITTED, "NOTSET") and levels.get("pads", OMITTED) != OMITTED:
        return True
    if levels["kernel"] == "one" and levels.get("pads", OMITTED) not in (OMITTED, "zero"):
        return True
    return levels["remainder"] == "some" and levels.get("strides", OMITTED) in (OMITTED, "one")


def placements(
    extent: int, levels: Mapping[str, Level], automatic: str, *, strict: bool
) -> Iterator[Placement]:
    """Every window that an axis may have at these levels; a strict one shows each of them."""
    same = automatic.startswith("SAME")
    pads, remainder = levels.get("pads", OMITTED), levels["remainder"]
    for kernel in _KERNELS.get(levels["kernel"], (extent,)):
        for dilation in _dilations(levels, strict):
            reach = (kernel - 1) * dilation + 1
            for stride in _strides(levels, reach, strict):
                for begin in _amounts(kernel) if pads in ("begin", "both", "mixed") else (0,):
                    for end in _amounts(kernel) if pads in ("end", "both", "mixed") else (0,):
                        if strict and not _shows(pads, begin, end):
                            continue
                        room = extent + begin + end - reach
                        if kernel < 1 or (room < 0 and not same):
                            continue
                        left = (extent if same else room) % stride > 0
                        if left if remainder == "none" else strict and not left:
                            continue
                        yield Placement(kernel, dilation, stride, begin, end)


def _amounts(kernel: int) -> Sequence[int]:
    """How much may be added at one end: every amount of a small kernel, few of one as long as a vector."""
    return range(kernel) if kernel <= _SMALL else (0, 1, kernel // 2, kernel - 1)


def _dilations(levels: Mapping[str, Level], strict: bool) -> tuple[int, ...]:
    if levels.get("dilations", OMITTED) in (OMITTED, "one"):
        return (1,)
    return (2,) if strict else (1, 2)


def _strides(levels: Mapping[str, Level], reach: int, strict: bool) -> tuple[int, ...]:
    level = levels.get("strides", OMITTED)
    if level in (OMITTED, "one"):
        return (1,)
    if level == "beyond":
        return (reach + 1, reach + 2)
    return (2, 3) if strict else (1, 2, 3)


def _shows(pads: Level, begin: int, end: int) -> bool:
    """Whether the padding of one axis shows the level: some before, some behind, or of two lengths."""
    if pads == "mixed":
        return begin != end
    return (begin > 0 or pads not in ("begin", "both")) and (end > 0 or pads not in ("end", "both"))


def mix(row: list[Placement], lead: int, loose: Sequence[Sequence[Placement]], draw: Draw) -> bool:
    """Make the kernel have two lengths; False where it cannot."""
    other = [
        (axis, placement)
        for axis in range(len(row))
        if axis != lead
        for placement in loose[axis]
        if placement.kernel != row[lead].kernel
    ]
    if not other:
        return False
    axis, chosen = draw.choice(other)
    row[axis] = chosen
    return True


def unpooled_places(
    level: Level,
    shape: Sequence[int],
    room: Sequence[int],
    strides: Sequence[int],
    kernel: Sequence[int],
    draw: Draw,
) -> NDArray[np.int64] | None:
    """Places in the output, different from each other, of the same image and channel; None if too few."""
    per_plane, plane = prod(shape[2:]), prod(room[2:])
    if per_plane > plane:
        return None
    found = np.zeros((shape[0] * shape[1], per_plane), dtype=np.int64)
    for number in range(len(found)):
        if level == "in_windows":
            chosen = _in_windows(shape[2:], room[2:], strides, kernel, draw)
        else:
            chosen = sorted(draw.shuffled(range(plane))[:per_plane], reverse=level == "reversed")
        found[number] = [each + number * plane for each in chosen]
    return found.reshape(tuple(shape))


def _in_windows(
    places: Sequence[int], room: Sequence[int], strides: Sequence[int], kernel: Sequence[int], draw: Draw
) -> list[int]:
    """For each place one of its window's elements that no other has; any free one where there is none."""
    taken: dict[int, None] = {}
    for place in product(*map(range, places)):
        inside = [
            [at for at in range(p * s, p * s + k) if at < most] or [most - 1]
            for p, s, k, most in zip(place, strides, kernel, room, strict=True)
        ]
        wanted = [int(np.ravel_multi_index(each, tuple(room))) for each in product(*inside)]
        free = [each for each in draw.shuffled(wanted) if each not in taken]
        free = free or [each for each in range(prod(room)) if each not in taken]
        taken[free[0]] = None
    return list(taken)


def offsets_at(level: Level, shape: tuple[int, ...], draw: Draw) -> NDArray[np.float64]:
    """Few elements far, with quarters as a rule."""
    drawn = draw.integers(-6, 6, shape)
    steps = {"none": drawn * 0.0, "whole": (drawn % 3) - 1.0, "decimals": drawn / 10, "far": drawn * 1e3}
    return np.asarray(steps.get(str(level), drawn / 4), dtype=np.float64)


def locations_at(
    level: str, shape: tuple[int, ...], extents: tuple[int, ...], aligned: bool, draw: Draw
) -> NDArray[np.float64]:
    grid = np.zeros(shape)
    for index in np.ndindex(shape):
        # Of an axis that the image does not have, or that is empty, any number is a location.
        extent = max((1, *extents[index[-1] : index[-1] + 1])) if index else 1
        grid[index] = _location(level, extent, aligned, draw)
    return grid


def _location(level: str, extent: int, aligned: bool, draw: Draw) -> float:
    """One number of a location: as the level says where in elements, or which number itself."""
    if level == "decimals":
        return draw.integer(-10, 10) / 10
    if level == "far":
        return draw.choice((-1.0, 1.0)) * draw.choice((16.0, 1000.0, 8589934592.0))
    if level == "borders":
        ends = (-1.0, -0.75, -0.5, -0.25, extent - 0.75, extent - 0.5, extent - 0.25, extent + 0.0)
        place = draw.choice(ends)
        return draw.choice((-1.0, 1.0, _normalized(place, extent, aligned)))
    span = extent - 1 if aligned else extent
    if level == "halves":
        # Halves that a float holds, so that which index is the nearest one hangs on no rounding.
        exact = span & (span - 1) == 0
        place = draw.integer(-1, 2 * extent - 1) / 2
        return _normalized(place, extent, aligned) if exact else draw.choice((-1.0, 1.0, 0.0, -0.5, 0.5))
    beyond = 1 + draw.integer(0, 12 * extent) / 4 + 0.125
    inside = draw.integer(0, extent - 1) + draw.choice((0.0, 0.25, -0.25))
    place = (
        draw.choice((-beyond, extent - 1 + beyond))
        if level == "outside"
        else min(max(inside, 0.0), extent - 1.0)
    )
    return _normalized(place, extent, aligned)


def _normalized(place: float, extent: int, aligned: bool) -> float:
    """A place in elements as a number that is between -1 and 1 inside."""
    if not aligned:
        return (2 * place + 1) / extent - 1
    return 2 * place / (extent - 1) - 1 if extent > 1 else place / 2


def region_ends(level: str, extent: int, draw: Draw) -> tuple[float, float]:
    """Where a region begins and ends along one axis, in elements."""
    last = max(extent - 1, 1)
    if level == "whole":
        return 0.0, float(last)
    if level == "small":
        first = draw.integer(2, 4 * last - 4) / 4
        return first, first + draw.integer(1, 3) / 4
    if level == "beyond":
        return draw.integer(-8, 2 * last) / 4, last + draw.integer(1, 12) / 4
    if level == "far":
        return extent + 1.5, extent + 1.5 + draw.integer(1, 8) / 2
    parts = 10 if level == "decimals" else 4
    first = draw.integer(-(-parts // 2), parts * (last - 1)) / parts
    return first, draw.integer(round(parts * first) + parts, parts * last) / parts


Box = tuple[float, float, float, float]
"""The corners of a box, y before x, or its centre with width and height."""


def box_corners(level: Level, place: int, draw: Draw) -> Box:
    """The corners of a box, in quarters, so that areas are exact."""
    if level == "apart":
        return (4.0 * place, 0.0, 4.0 * place + 2.0, 2.0)
    if level == "nested":
        return (0.25 * place, 0.25 * place, 16.0 - 0.25 * place, 16.0 - 0.25 * place)
    if level == "equal":
        return (0.0, 0.0, 2.0, 1.0)
    if level == "touching":
        return (2.0 * place, 0.0, 2.0 * place + 2.0, 2.0)
    y, x = (draw.integer(0, 12) / 4 for _ in range(2))
    high, wide = (draw.integer(1, 12) / 4 for _ in range(2))
    if level == "degenerate":
        return (y, x, y + (high if place % 2 else 0.0), x)
    if level == "other_corners":
        return (y + high, x, y, x + wide) if place % 2 else (y + high, x + wide, y, x)
    return (y, x, y + high, x + wide)


def boxes_side_by_side(place: int) -> tuple[Box, Box]:
    """Two boxes far from those of other places, the second in one of four directions from the first.

    Their halves and thirds are exact.
    """
    y, x, high, wide = 16.0 * place, 8.0, 3.0, 1.5
    apart = (-0.125, 0.125)[place // 4 % 2]
    down, right = ((high + apart, 0.0), (0.0, wide + apart), (-high - apart, 0.0), (0.0, -wide - apart))[
        place % 4
    ]
    return (y, x, y + high, x + wide), (y + down, x + right, y + down + high, x + right + wide)


def as_centre(box: Box) -> Box:
    y, x, bottom, right = box
    return ((x + right) / 2, (y + bottom) / 2, right - x, bottom - y)
