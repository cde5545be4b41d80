"""What tests by plain loops have in common: calls of references, and tensors of elements found one by one."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

import numpy as np

from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import Answer
from reference.registry import find_operator

Index = tuple[int, ...]


def answers(name: str, version: int, inputs: dict[str, Any], **attributes: Any) -> tuple[Answer, ...]:
    """What the reference answers; inputs that are lists of integers become int64 tensors."""
    outputs = attributes.pop("outputs", None)
    given = {
        key: tensor(np.array(each, dtype=np.int64), "int64") if isinstance(each, int | list) else each
        for key, each in inputs.items()
        if each is not None
    }
    attributes = {key: attribute for key, attribute in attributes.items() if attribute is not None}
    reference = find_operator(OperatorName("ai.onnx", name, version))
    return reference.evaluate(attributes, given, outputs=outputs)


def answer(name: str, version: int, inputs: dict[str, Any], **attributes: Any) -> Tensor:
    """The first output."""
    return answers(name, version, inputs, **attributes)[0].expected


def indices(shape: Sequence[int]) -> Iterator[Index]:
    return itertools.product(*map(range, shape))


def built(element_type: str, shape: Sequence[int], element: Callable[[Index], Any]) -> Tensor:
    """A tensor whose elements are found by their index, one by one."""
    kind = ELEMENT_TYPES[element_type]
    array = np.empty(tuple(shape), dtype=kind.storage)
    for index in indices(shape):
        array[index] = element(index)
    return Tensor(kind, array)


def distinct(random: Random, shape: Sequence[int]) -> Tensor:
    """A tensor that has no element twice: numbers, or texts now and then."""
    count = int(np.prod(shape, dtype=np.int64))
    listed = random.sample(range(-2 * count - 5, 2 * count + 5), count)
    if random.random() < 0.2:
        array = np.empty(count, dtype=object)
        array[:] = [str(each).encode() for each in listed]
        return Tensor(ELEMENT_TYPES["string"], array.reshape(tuple(shape)))
    name = random.choice(["float", "int64", "int16", "double"])
    return tensor(np.array(listed).reshape(tuple(shape)), name)


def some_shape(random: Random, least: int = 0, most: int = 4, extents: Sequence[int] = (0, 1, 2, 3)) -> Index:
    return tuple(random.choice(extents) for _ in range(random.randint(least, most)))
