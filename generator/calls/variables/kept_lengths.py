"""Values that leave every length as it is though something is asked for: there runtimes take shortcuts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from generator.calls.solver.partial import Bindings

FAR = 2**31 - 1


def padded_as_much_as_lost(kernel: Sequence[int]) -> Iterator[tuple[str, Bindings]]:
    """Pads that give back what a window with stride 1 takes, along every axis and along the first alone."""
    begins = [(each - 1) // 2 for each in kernel]
    ends = [each - 1 - begin for each, begin in zip(kernel, begins, strict=True)]
    plain: Bindings = {"strides": None, "dilations": None, "auto_pad": None}
    if any(each > 1 for each in kernel):
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
