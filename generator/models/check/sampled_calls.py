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

_ELEMENTWISE = """
Abs Neg Add Sub Mul Div Pow Relu LeakyRelu PRelu Sigmoid Tanh Exp Log Sqrt Erf Clip Where Equal Less
Greater LessOrEqual GreaterOrEqual Min Max Sum Mean HardSigmoid HardSwish Elu Selu Celu Gelu
Softplus Softsign Mish Not And Or Xor Cast Floor Ceil Round Sign Reciprocal Mod Identity IsNaN IsInf
Sin Cos ThresholdedRelu Swish
"""
ELEMENTWISE = frozenset(_ELEMENTWISE.split())
_REDUCTIONS = "ReduceSum ReduceMean ReduceMax ReduceMin ReduceL2 ReduceSumSquare ReduceProd"
_OF_ROWS = """
SVMClassifier SVMRegressor LinearClassifier LinearRegressor TreeEnsemble TreeEnsembleClassifier
TreeEnsembleRegressor
"""
_MOST = 4096
Indices = NDArray[np.int64]
Inputs = list[tuple[str, Tensor | None]]
Way = Callable[[ActualCall, int, Chance], ActualCall | None]


def sample(whole: ActualCall, elements: int, seed: int) -> ActualCall | None:
    """A call with about so many elements of the answer, the rest left out; None where there is no way."""
    way = _WAYS.get(whole.spec.operator.name)
    if way is None or (len(whole.answers) != 1 and way is not _rows) or not whole.answers[0].array.size:
        return None
    try:
        return way(whole, min(elements, _MOST), chance_of(seed))
    except (IndexError, KeyError, ValueError, TypeError):
        return None  # a call of a shape that its document does not have


def _at(given: Tensor, index: Any, shape: tuple[int, ...] | None = None) -> Tensor:
    """The elements at some places of a tensor, or of what it is broadcast to."""
    array = given.array if shape is None else np.broadcast_to(given.array, shape)
    return Tensor(given.element_type, array[index])


def _part(
    whole: ActualCall, inputs: Inputs, index: Any, attributes: Mapping[str, Attribute] | None = None
) -> ActualCall:
    """A call with these inputs, whose answer is what stands at some places of the whole one."""
    given = whole.call.attributes if attributes is None else attributes
    call = Call(given, tuple(inputs), outputs=whole.call.outputs)
    return replace(whole, call=call, answers=(_at(whole.answers[0], index),))


def _stated(whole: ActualCall, name: str, default: Any = None) -> Any:
    found = whole.call.attributes.get(name)
    return default if found is None else found.value


def _elements(whole: ActualCall, elements: int, generator: Chance) -> ActualCall | None:
    """Single elements, with those that they are made of."""
    if {"axis", "broadcast"} & whole.call.attributes.keys():
        return None
    shape = whole.answers[0].shape
    places = np.unravel_index(_telling(whole.answers[0], elements, generator), shape)
    inputs = [
        (name, given if given is None or not given.shape else _at(given, places, shape))
        for name, given in whole.call.inputs
    ]
    if all(given is None or not given.shape for _, given in inputs):
        return None
    return _part(whole, inputs, places)


def _quantized(whole: ActualCall, elements: int, generator: Chance) -> ActualCall | None:
    """Each with its own scale and zero point: those of its place along the axis."""
    (name, given), *others = whole.call.inputs
    if given is None:
        return None
    answer = whole.answers[0]
    places = np.unravel_index(_telling(answer, elements, generator), answer.shape)
    inputs: Inputs = [(name, _at(given, places))]
    axis = int(_stated(whole, "axis", 1))
    attributes = dict(whole.call.attributes)
    for other, scaling in others:
        if scaling is None or not scaling.shape:
            inputs.append((other, scaling))
            continue
        if scaling.shape != (given.shape[axis],) or whole.spec.operator.since_version < 13:
            return None
        inputs.append((other, _at(scaling, places[axis])))
        attributes["axis"] = Attribute("int", 0)
    return _part(whole, inputs, places, attributes)


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


def _matrices(whole: ActualCall, elements: int, generator: Chance) -> ActualCall | None:
    """Rows of the first by columns of the second, in one matrix of a batch."""
    given = dict(whole.call.inputs)
    first, second, shape = given["A"], given["B"], whole.answers[0].shape
    if first is None or second is None or min(len(first.shape), len(second.shape)) < 2:
        return None
    batch = tuple(int(generator.integers(extent)) for extent in shape[:-2])
    rows, columns = _few(shape[-2:], elements, generator)
    one = _at(first, batch, (*shape[:-2], *first.shape[-2:]))
    other = _at(second, batch, (*shape[:-2], *second.shape[-2:]))
    inputs: Inputs = [("A", _at(one, rows)), ("B", _at(other, (slice(None), columns)))]
    return _part(whole, inputs, (*batch, *np.ix_(rows, columns)))


def _gemm(whole: ActualCall, elements: int, generator: Chance) -> ActualCall | None:
    given = dict(whole.call.inputs)
    first, second, third, shape = given["A"], given["B"], given.get("C"), whole.answers[0].shape
    if first is None or second is None:
        return None
    rows, columns = _few(shape, elements, generator)
    every, place = slice(None), np.ix_(rows, columns)
    inputs: Inputs = [
        ("A", _at(first, (every, rows) if _stated(whole, "transA") else rows)),
        ("B", _at(second, columns if _stated(whole, "transB") else (every, columns))),
    ]
    if third is not None:
        inputs.append(("C", _at(third, place, shape)))
    return _part(whole, inputs, place)


@dataclass(frozen=True)
class _Lanes:
    """Of an operator that treats each lane along some axes by itself: which axes, of what rank."""

    first: Callable[[ActualCall, int], frozenset[int] | None]
    by_channel: tuple[str, ...] = ()

    def __call__(self, whole: ActualCall, elements: int, generator: Chance) -> ActualCall | None:
        (name, given), *others = whole.call.inputs
        answer = whole.answers[0]
        if given is None:
            return None
        rank = len(given.shape)
        full = self.first(whole, rank)
        if full is None or not all(0 <= axis < rank for axis in full) or len(answer.shape) != rank:
            return None
        chosen = _few(given.shape, elements, generator, full)
        inputs: Inputs = [(name, _at(given, np.ix_(*chosen)))]
        for other, further in others:
            along = other in self.by_channel and further is not None
            inputs.append((other, _at(further, chosen[1]) if along and further is not None else further))
        kept = [np.arange(answer.shape[axis]) if axis in full else chosen[axis] for axis in range(rank)]
        return _part(whole, inputs, np.ix_(*kept))


def _reduced(whole: ActualCall, elements: int, generator: Chance) -> ActualCall | None:
    """Some lanes of a reduction, with all that each is made of."""
    (name, given), *others = whole.call.inputs
    axes = next((further for _, further in others if further is not None), None)
    stated = _stated(whole, "axes") if axes is None else tuple(axes.array.reshape(-1).tolist())
    if given is None or not stated or "axis" in whole.call.attributes:
        return None
    rank = len(given.shape)
    full = frozenset(int(axis) % rank for axis in stated)
    chosen = _few(given.shape, elements * prod(given.shape[axis] for axis in full), generator, full)
    kept = [np.arange(1) if axis in full else chosen[axis] for axis in range(rank)]
    if len(whole.answers[0].shape) != rank:
        kept = [indices for axis, indices in enumerate(kept) if axis not in full]
    if not kept:
        return None
    return _part(whole, [(name, _at(given, np.ix_(*chosen))), *others], np.ix_(*kept))


def _rows(whole: ActualCall, elements: int, generator: Chance) -> ActualCall | None:
    """Some rows of a batch, with what each output has of them."""
    (name, given), *others = whole.call.inputs
    if given is None or len(given.shape) != 2 or any(a.shape[:1] != given.shape[:1] for a in whole.answers):
        return None
    count = max(1, elements * given.shape[0] // whole.of_elements)
    (rows,) = _few(given.shape[:1], count, generator)
    call = Call(whole.call.attributes, ((name, _at(given, rows)), *others), outputs=whole.call.outputs)
    return replace(whole, call=call, answers=tuple(_at(answer, rows) for answer in whole.answers))


def _axis(default: int) -> Callable[[ActualCall, int], frozenset[int]]:
    def found(whole: ActualCall, rank: int) -> frozenset[int]:
        axis = int(_stated(whole, "axis", default))
        return frozenset({axis + rank if axis < 0 else axis})

    return found


def _from_axis(default: int) -> Callable[[ActualCall, int], frozenset[int]]:
    def found(whole: ActualCall, rank: int) -> frozenset[int]:
        (axis,) = _axis(default)(whole, rank)
        return frozenset(range(axis, rank))

    return found


def _softmax(whole: ActualCall, rank: int) -> frozenset[int]:
    newer = whole.spec.operator.since_version >= 13
    return _axis(-1)(whole, rank) if newer else _from_axis(1)(whole, rank)


def _spatial(_: ActualCall, rank: int) -> frozenset[int]:
    return frozenset(range(2, rank))


def _normalized(whole: ActualCall, rank: int) -> frozenset[int] | None:
    return None if _stated(whole, "training_mode") or rank < 2 else frozenset()


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


def _windows(whole: ActualCall, elements: int, generator: Chance) -> ActualCall | None:
    """Some channels, and a block of outputs; None where windows reach beyond what is padded."""
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
    cuts, kept, before, behind = [], [], [], []
    for axis in axes:
        count = min(share, axis.outputs)
        start = int(generator.integers(axis.outputs - count + 1))
        piece, *padded = axis.cut(start, count)
        if piece.start >= piece.stop:
            return None  # it sees nothing but what is padded
        cuts.append(piece)
        kept.append(slice(start, start + count))
        before.append(padded[0])
        behind.append(padded[1])
    images = slice(image, image + 1)
    sources = np.concatenate([np.arange(group * taken, (group + 1) * taken) for group in groups_kept])
    changed: Inputs = [("X", _at(given, (images, sources, *cuts)))]
    attributes = {name: attribute for name, attribute in whole.call.attributes.items() if name != "auto_pad"}
    attributes["pads"] = Attribute("ints", (*before, *behind))
    if weights is not None:
        changed.append(("W", _at(weights, channels)))
        changed.append(("B", None if bias is None else _at(bias, channels)))
        if "group" in attributes:
            attributes["group"] = Attribute("int", len(groups_kept))
    return _part(whole, changed, (images, channels, *kept), attributes)


def _channels(groups: int, shared: int, elements: int, generator: Chance) -> tuple[Any, list[int]]:
    """Channels of the output, and the groups that they are of: whole groups, or some of a single one."""
    most = max(1, round(elements ** (1 / 3)))  # may differ: how many are looked at
    if groups == 1:
        chosen = np.array(sorted(generator.choice(shared, min(shared, most), replace=False)), np.int64)
        return chosen, [0]
    count = min(groups, max(1, most // shared))
    kept = sorted(int(group) for group in generator.choice(groups, count, replace=False))
    return np.concatenate([np.arange(group * shared, (group + 1) * shared) for group in kept]), kept


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
        before = 0 if padding == "VALID" else pads[axis]
        if padding in ("SAME_UPPER", "SAME_LOWER"):
            covered = (outputs - 1) * steps[axis] + (window[axis] - 1) * spreads[axis] + 1
            added = max(covered - length, 0)
            before = added // 2 if padding == "SAME_UPPER" else added - added // 2
        if before < 0:
            return None
        found.append(_Axis(window[axis], steps[axis], spreads[axis], before, length, outputs))
    return found


_WAYS: dict[str, Way] = {
    **dict.fromkeys(sorted(ELEMENTWISE), _elements),
    **dict.fromkeys(_REDUCTIONS.split(), _reduced),
    **dict.fromkeys(("Conv", "MaxPool", "AveragePool"), _windows),
    **dict.fromkeys(("QuantizeLinear", "DequantizeLinear"), _quantized),
    **dict.fromkeys(("Softmax", "LogSoftmax"), _Lanes(_softmax)),
    **dict.fromkeys(("GlobalAveragePool", "GlobalMaxPool"), _Lanes(_spatial)),
    **dict.fromkeys(_OF_ROWS.split(), _rows),
    "MatMul": _matrices,
    "Gemm": _gemm,
    "LayerNormalization": _Lanes(_from_axis(-1)),
    "InstanceNormalization": _Lanes(_spatial, ("scale", "B")),
    "BatchNormalization": _Lanes(_normalized, ("scale", "B", "mean", "var", "input_mean", "input_var")),
}
