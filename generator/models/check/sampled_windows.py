"""A part of a convolution or pooling: some channels, and a block of outputs with what its windows see."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from generator.asking.calls import Call
from generator.models.check.actual_calls import ActualCall
from generator.models.check.chance import Chance
from opcert.vocabulary.attributes import Attribute
from opcert.vocabulary.tensors import Tensor


@dataclass(frozen=True)
class _Axis:
    """A spatial axis: its window, step and spread, what is added before, and its lengths."""

    window: int
    step: int
    spread: int
    before: int
    length: int
    outputs: int

    def cut(self, start: int, count: int) -> tuple[slice, int, int]:
        """What `count` outputs from `start` on see, and how much of it lies before and behind the input."""
        first = start * self.step - self.before
        last = first + (count - 1) * self.step + (self.window - 1) * self.spread + 1
        return slice(max(first, 0), min(last, self.length)), max(-first, 0), max(last - self.length, 0)


def sample_windows(whole: ActualCall, elements: int, generator: Chance) -> ActualCall | None:
    """A call with about so many elements of the answer; None where windows reach beyond what is padded."""
    inputs = dict(whole.call.inputs)
    given, weights, bias = inputs["X"], inputs.get("W"), inputs.get("B")
    answer = whole.answers[0]
    if given is None or _value(whole, "ceil_mode", 0) or len(given.shape) < 3 or not given.array.size:
        return None
    axes = _axes(whole, given, weights, answer)
    if axes is None:
        return None
    groups = int(_value(whole, "group", 1)) if weights is not None else answer.shape[1]
    shared = answer.shape[1] // groups  # outputs of one group
    taken = 1 if weights is None else weights.shape[1]  # what a group takes
    image = int(generator.integers(given.shape[0]))
    channels, groups_kept = _channels(groups, shared, elements, generator)
    share = max(1, round((max(elements // len(channels), 1)) ** (1 / len(axes))))  # may differ: how many
    cuts, kept, pads = [], [], []
    for axis in axes:
        count = min(share, axis.outputs)
        start = int(generator.integers(axis.outputs - count + 1))
        piece, before, behind = axis.cut(start, count)
        if piece.start >= piece.stop:
            return None  # it sees nothing but what is padded
        cuts.append(piece)
        kept.append(slice(start, start + count))
        pads.append((before, behind))
    sources = np.concatenate([np.arange(each * taken, (each + 1) * taken) for each in groups_kept])
    place: tuple[Any, ...] = (slice(image, image + 1), sources, *cuts)
    part = given.array[place]
    changed: list[tuple[str, Tensor | None]] = [("X", Tensor(given.element_type, part))]
    if weights is not None:
        changed.append(("W", Tensor(weights.element_type, weights.array[channels])))
        changed.append(("B", None if bias is None else Tensor(bias.element_type, bias.array[channels])))
    attributes = dict(whole.call.attributes)
    attributes.pop("auto_pad", None)
    attributes["pads"] = Attribute("ints", (*(one for one, _ in pads), *(two for _, two in pads)))
    if weights is not None and "group" in attributes:
        attributes["group"] = Attribute("int", len(groups_kept))
    result = answer.array[(slice(image, image + 1), channels, *kept)]
    return replace(
        whole,
        call=Call(attributes, tuple(changed), outputs=whole.call.outputs),
        answers=(Tensor(answer.element_type, result),),
    )


def _channels(groups: int, shared: int, elements: int, generator: Chance) -> tuple[Any, list[int]]:
    """Channels of the output, and the groups that they are of: whole groups, or some of a single one."""
    most = max(1, round(elements ** (1 / 3)))  # may differ: how many are looked at
    if groups == 1:
        chosen = np.array(sorted(generator.choice(shared, min(shared, most), replace=False)), np.int64)
        return chosen, [0]
    count = min(groups, max(1, most // shared))
    kept = sorted(int(each) for each in generator.choice(groups, count, replace=False))
    return np.concatenate([np.arange(each * shared, (each + 1) * shared) for each in kept]), kept


def _axes(whole: ActualCall, given: Tensor, weights: Tensor | None, answer: Tensor) -> list[_Axis] | None:
    rank = len(given.shape) - 2
    window = tuple(weights.shape[2:]) if weights is not None else _value(whole, "kernel_shape", ())
    steps = _value(whole, "strides", (1,) * rank)
    spreads = _value(whole, "dilations", (1,) * rank)
    padding = _value(whole, "auto_pad", "NOTSET")
    pads = _value(whole, "pads", (0,) * (2 * rank))
    if len(window) != rank or len(steps) != rank or len(spreads) != rank or len(pads) != 2 * rank:
        return None
    found = []
    for axis in range(rank):
        length, outputs = given.shape[axis + 2], answer.shape[axis + 2]
        before = pads[axis]
        if padding in ("SAME_UPPER", "SAME_LOWER"):
            covered = (outputs - 1) * steps[axis] + (window[axis] - 1) * spreads[axis] + 1
            added = max(covered - length, 0)
            before = added // 2 if padding == "SAME_UPPER" else added - added // 2
        elif padding == "VALID":
            before = 0
        if before < 0:
            return None
        found.append(_Axis(window[axis], steps[axis], spreads[axis], before, length, outputs))
    return found


def _value(whole: ActualCall, name: str, default: Any) -> Any:
    found = whole.call.attributes.get(name)
    return default if found is None else found.value
