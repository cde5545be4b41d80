"""Some elements of a call that computes each by itself: as a call on them in a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.asking.calls import Call
from generator.models.check.actual_calls import ActualCall
from generator.models.check.chance import Chance
from opcert.vocabulary.attributes import Attribute
from opcert.vocabulary.tensors import Tensor

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
