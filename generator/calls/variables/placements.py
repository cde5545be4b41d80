"""Where a window along one axis may be placed at the levels that its attributes have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

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
