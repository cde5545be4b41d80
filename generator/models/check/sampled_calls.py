"""A part of a call that is too large to be judged whole: the same operator on what some outputs hang on.

Each way is sound where every element of the part is, by the operator's document, the same function of the
same elements as in the whole call. tests hold each against the reference of the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.asking.calls import Call
from generator.models.check.actual_calls import ActualCall
from generator.models.check.model_inputs import Chance, chance_of
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
    if given is None or _stated(whole, "ceil_mode", 0) or len(given.shape) < 3 or not given.array.size:
        return None
    axes = _axes(whole, given, weights, answer)
    if axes is None:
        return None
    groups = int(_stated(whole, "group", 1)) if weights is not None else answer.shape[1]
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
    window = tuple(weights.shape[2:]) if weights is not None else _stated(whole, "kernel_shape", ())
    steps = _stated(whole, "strides", (1,) * rank)
    spreads = _stated(whole, "dilations", (1,) * rank)
    padding = _stated(whole, "auto_pad", "NOTSET")
    pads = _stated(whole, "pads", (0,) * (2 * rank))
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


def _stated(whole: ActualCall, name: str, default: Any) -> Any:
    found = whole.call.attributes.get(name)
    return default if found is None else found.value


_ELEMENTWISE = """
Abs Neg Add Sub Mul Div Pow Relu LeakyRelu PRelu Sigmoid Tanh Exp Log Sqrt Erf Clip Where Equal Less
Greater LessOrEqual GreaterOrEqual Min Max Sum Mean HardSigmoid HardSwish Elu Selu Celu Gelu
Softplus Softsign Mish Not And Or Xor Cast Floor Ceil Round Sign Reciprocal Mod Identity IsNaN IsInf
Sin Cos ThresholdedRelu Swish
"""
ELEMENTWISE = frozenset(_ELEMENTWISE.split())
Indices = NDArray[np.int64]


def sample_elements(whole: ActualCall, elements: int, generator: Chance) -> ActualCall | None:
    if {"axis", "broadcast"} & whole.call.attributes.keys():
        return None
    answer = whole.answers[0]
    places = np.unravel_index(_telling(answer, elements, generator), answer.shape)
    inputs = tuple(
        (name, each if each is None or not each.shape else _at(each, places, answer.shape))
        for name, each in whole.call.inputs
    )
    if all(each is None or not each.shape for _, each in inputs):
        return None
    return part_of(whole, inputs, Tensor(answer.element_type, answer.array[places]))


def sample_quantized(whole: ActualCall, elements: int, generator: Chance) -> ActualCall | None:
    """Each with its own scale and zero point: those of its place along the axis."""
    (name, given), *others = whole.call.inputs
    answer = whole.answers[0]
    if given is None:
        return None
    places = np.unravel_index(_telling(answer, elements, generator), answer.shape)
    inputs: list[tuple[str, Tensor | None]] = [(name, Tensor(given.element_type, given.array[places]))]
    stated = whole.call.attributes.get("axis")
    axis = 1 if stated is None else int(stated.numbers[0])
    attributes = dict(whole.call.attributes)
    for other, each in others:
        if each is None or not each.shape:
            inputs.append((other, each))
            continue
        if each.shape != (given.shape[axis],) or whole.spec.operator.since_version < 13:
            return None
        inputs.append((other, Tensor(each.element_type, each.array[places[axis]])))
        attributes["axis"] = Attribute("int", 0)
    return part_of(whole, tuple(inputs), Tensor(answer.element_type, answer.array[places]), attributes)


def _at(given: Tensor, places: Sequence[Any], shape: tuple[int, ...]) -> Tensor:
    return Tensor(given.element_type, np.broadcast_to(given.array, shape)[tuple(places)])


def _telling(answer: Tensor, elements: int, generator: Chance) -> Indices:
    """Flat places: some at random, the least and the greatest, and some of those that are no numbers."""
    size = answer.array.size
    found = generator.choice(size, min(elements, size), replace=False)
    if answer.array.dtype.kind == "f":
        flat = answer.array.reshape(-1)
        strange = np.flatnonzero(~np.isfinite(flat))[:16]
        with np.errstate(all="ignore"):
            ends = [np.argmin(flat), np.argmax(flat)]
        found = np.concatenate([found, strange, ends])
    return np.array(sorted(set(found.tolist())), np.int64)


def part_of(
    whole: ActualCall,
    inputs: tuple[tuple[str, Tensor | None], ...],
    answer: Tensor,
    attributes: Mapping[str, Any] | None = None,
) -> ActualCall:
    given = whole.call.attributes if attributes is None else attributes
    return replace(whole, call=Call(given, inputs, outputs=whole.call.outputs), answers=(answer,))


_REDUCTIONS = (
    "ReduceSum",
    "ReduceMean",
    "ReduceMax",
    "ReduceMin",
    "ReduceL2",
    "ReduceSumSquare",
    "ReduceProd",
)
_MOST = 4096


def sample(whole: ActualCall, elements: int, seed: int) -> ActualCall | None:
    """A call with about so many elements of the answer, the rest left out; None where there is no way."""
    generator = chance_of(seed)
    name = whole.spec.operator.name
    way = _WAYS.get(name)
    if name in ELEMENTWISE:
        way = sample_elements
    if way is None or len(whole.answers) != 1 or not whole.answers[0].array.size:
        return None
    try:
        return way(whole, min(elements, _MOST), generator)
    except (IndexError, KeyError, ValueError, TypeError):
        return None  # a call of a shape that its document does not have


def _matrices(whole: ActualCall, elements: int, generator: Chance) -> ActualCall | None:
    """Rows of the first by columns of the second, in one matrix of a batch."""
    given = dict(whole.call.inputs)
    first, second, answer = given["A"], given["B"], whole.answers[0].array
    if first is None or second is None or min(len(first.shape), len(second.shape)) < 2:
        return None
    batch = tuple(int(generator.integers(each)) for each in answer.shape[:-2])
    rows, columns = _few(answer.shape[-2:], elements, generator)
    one = np.broadcast_to(first.array, (*answer.shape[:-2], *first.shape[-2:]))[batch]
    other = np.broadcast_to(second.array, (*answer.shape[:-2], *second.shape[-2:]))[batch]
    inputs = (
        ("A", Tensor(first.element_type, one[rows])),
        ("B", Tensor(second.element_type, other[:, columns])),
    )
    return part_of(whole, inputs, Tensor(whole.answers[0].element_type, answer[batch][np.ix_(rows, columns)]))


def _gemm(whole: ActualCall, elements: int, generator: Chance) -> ActualCall | None:
    given = dict(whole.call.inputs)
    first, second, third, answer = given["A"], given["B"], given.get("C"), whole.answers[0]
    if first is None or second is None:
        return None
    rows, columns = _few(answer.shape, elements, generator)
    turned = [bool(each) for each in (_value(whole, "transA"), _value(whole, "transB"))]
    one = first.array[:, rows] if turned[0] else first.array[rows]
    other = second.array[columns] if turned[1] else second.array[:, columns]
    inputs: list[tuple[str, Tensor | None]] = [
        ("A", Tensor(first.element_type, one)),
        ("B", Tensor(second.element_type, other)),
    ]
    if third is not None:
        added = np.broadcast_to(third.array, answer.shape)[np.ix_(rows, columns)]
        inputs.append(("C", Tensor(third.element_type, added)))
    part = Tensor(answer.element_type, answer.array[np.ix_(rows, columns)])
    return part_of(whole, tuple(inputs), part)


def _value(whole: ActualCall, name: str) -> Any:
    found = whole.call.attributes.get(name)
    return None if found is None else found.value


def _few(
    shape: Sequence[int], elements: int, generator: Chance, full: frozenset[int] = frozenset()
) -> list[Indices]:
    """Indices of each axis, so that they are about so many elements; all of the axes in `full`."""
    left = max(1, elements // prod(shape[axis] for axis in full))
    found: dict[int, Indices] = {axis: np.arange(shape[axis]) for axis in full}
    free = sorted(set(range(len(shape))) - full, key=lambda axis: shape[axis])
    for position, axis in enumerate(free):
        share = max(1, round(left ** (1 / (len(free) - position))))  # may differ: how many are looked at
        count = min(shape[axis], share)
        found[axis] = np.array(sorted(generator.choice(shape[axis], count, replace=False)), np.int64)
        left = max(1, left // count)
    return [found[axis] for axis in range(len(shape))]


@dataclass(frozen=True)
class _Lanes:
    """Of an operator that treats each lane along some axes by itself: which axes, of what rank."""

    first: Callable[[ActualCall, int], frozenset[int] | None]
    by_channel: tuple[str, ...] = ()

    def __call__(self, whole: ActualCall, elements: int, generator: Chance) -> ActualCall | None:
        name, given = whole.call.inputs[0]
        answer = whole.answers[0]
        if given is None:
            return None
        rank = len(given.shape)
        full = self.first(whole, rank)
        if full is None or not all(0 <= axis < rank for axis in full):
            return None
        if len(answer.shape) != rank:
            return None
        chosen = _few(given.shape, elements, generator, full)
        inputs: list[tuple[str, Tensor | None]] = [
            (name, Tensor(given.element_type, given.array[np.ix_(*chosen)]))
        ]
        for other, each in whole.call.inputs[1:]:
            if other in self.by_channel and each is not None:
                each = Tensor(each.element_type, each.array[chosen[1]])
            inputs.append((other, each))
        kept = [np.arange(answer.shape[axis]) if axis in full else chosen[axis] for axis in range(rank)]
        return part_of(whole, tuple(inputs), Tensor(answer.element_type, answer.array[np.ix_(*kept)]))


def _reduced(whole: ActualCall, elements: int, generator: Chance) -> ActualCall | None:
    """Some lanes of a reduction, with all that each is made of."""
    (name, given), *others = whole.call.inputs
    axes = next((each for _, each in others if each is not None), None)
    stated = _value(whole, "axes") if axes is None else tuple(axes.array.reshape(-1).tolist())
    if given is None or not stated or "axis" in whole.call.attributes:
        return None
    rank, answer = len(given.shape), whole.answers[0]
    full = frozenset(int(each) % rank for each in stated)
    chosen = _few(given.shape, elements * prod(given.shape[each] for each in full), generator, full)
    kept = [np.arange(1) if axis in full else chosen[axis] for axis in range(rank)]
    if len(answer.shape) != rank:
        kept = [each for axis, each in enumerate(kept) if axis not in full]
    if not kept:
        return None
    part = given.array[np.ix_(*chosen)]
    result = Tensor(answer.element_type, answer.array[np.ix_(*kept)])
    return part_of(whole, ((name, Tensor(given.element_type, part)), *others), result)


def _axis(default: int) -> Callable[[ActualCall, int], frozenset[int] | None]:
    def found(whole: ActualCall, rank: int) -> frozenset[int] | None:
        stated = _value(whole, "axis")
        axis = default if stated is None else int(stated)
        return frozenset({axis + rank if axis < 0 else axis})

    return found


def _from_axis(default: int) -> Callable[[ActualCall, int], frozenset[int] | None]:
    def found(whole: ActualCall, rank: int) -> frozenset[int] | None:
        (axis,) = _axis(default)(whole, rank) or (rank,)
        return frozenset(range(axis, rank))

    return found


def _softmax(whole: ActualCall, rank: int) -> frozenset[int] | None:
    newer = whole.spec.operator.since_version >= 13
    return _axis(-1)(whole, rank) if newer else _from_axis(1)(whole, rank)


def _spatial(_: ActualCall, rank: int) -> frozenset[int] | None:
    return frozenset(range(2, rank))


def _normalized(whole: ActualCall, rank: int) -> frozenset[int] | None:
    if _value(whole, "training_mode") or rank < 2:
        return None
    return frozenset()


_WAYS: dict[str, Callable[[ActualCall, int, Chance], ActualCall | None]] = {
    "MatMul": _matrices,
    "Gemm": _gemm,
    "QuantizeLinear": sample_quantized,
    "DequantizeLinear": sample_quantized,
    "Conv": sample_windows,
    "MaxPool": sample_windows,
    "AveragePool": sample_windows,
    **dict.fromkeys(_REDUCTIONS, _reduced),
    "Softmax": _Lanes(_softmax),
    "LogSoftmax": _Lanes(_softmax),
    "LayerNormalization": _Lanes(_from_axis(-1)),
    "InstanceNormalization": _Lanes(_spatial, ("scale", "B")),
    "GlobalAveragePool": _Lanes(_spatial),
    "GlobalMaxPool": _Lanes(_spatial),
    "BatchNormalization": _Lanes(_normalized, ("scale", "B", "mean", "var", "input_mean", "input_var")),
}
