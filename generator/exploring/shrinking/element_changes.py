"""Tensors with other elements or of another type, and calls with such: the nearest that a type has."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conformance.suite.values import decode_floats
from generator.asking.calls import Call
from generator.exploring.shrinking.known_space import CallValidity
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.tensors import Tensor
from reference.numbers.numbers import encode

_TYPES = ("float", "int64", "int32", "double", "uint8", "int8", "float16")
"""Element types from the most common one on; those not named come behind."""


def type_rank(kind: ElementType) -> int:
    return _TYPES.index(kind.name) if kind.name in _TYPES else len(_TYPES) + kind.code


def has_numbers(given: Tensor) -> bool:
    """Whether the elements are numbers, complex ones among them."""
    kind = given.element_type
    return kind.is_float or kind.is_integer or kind.kind == "complex"


def numbers_of(given: Tensor) -> NDArray[np.float64]:
    """The elements as numbers, one behind the other: real parts of complex ones, places of strings."""
    kind, flat = given.element_type, given.array.reshape(-1)
    if kind.kind == "string":
        return np.arange(flat.size, dtype=np.float64)
    if kind.kind == "complex":
        return np.asarray(flat.real, dtype=np.float64)
    return decode_floats(kind, flat) if kind.is_float else flat.astype(np.float64)


def elements_of(given: Tensor) -> Sequence[Any]:
    """The elements of integers and floats as Python has them, one behind the other."""
    kind, flat = given.element_type, given.array.reshape(-1)
    found: list[Any] = (flat if kind.is_integer else decode_floats(kind, flat)).tolist()
    return found


def converted(given: Tensor, kind: ElementType) -> Tensor:
    """The nearest elements of another type: of strings and truth values their number."""
    if kind.kind == "string":
        texts = np.empty(given.array.size, dtype=np.object_)
        texts[:] = [str(place).encode() for place in range(given.array.size)]
        return Tensor(kind, texts.reshape(given.shape))
    if kind.kind == "complex" and given.element_type.kind == "complex":
        return Tensor(kind, given.array.astype(kind.storage))
    return _encoded(numbers_of(given), kind, given.shape)


def with_numbers(given: Tensor, numbers: ArrayLike) -> Tensor:
    """A tensor of the same type and shape with these numbers for elements, the nearest that it has."""
    if given.element_type.kind == "string":
        return converted(given, given.element_type)
    return _encoded(np.asarray(numbers, dtype=np.float64).reshape(-1), given.element_type, given.shape)


def counted(given: Tensor, start: int = 0) -> Tensor:
    """The tensor with the elements 0, 1, 2, ..., which every type holds."""
    return with_numbers(given, np.arange(start, start + given.array.size) % 100)


def _encoded(numbers: NDArray[np.float64], kind: ElementType, shape: tuple[int, ...]) -> Tensor:
    if kind.kind == "complex":
        return Tensor(kind, numbers.astype(kind.storage).reshape(shape))
    if kind.kind == "bool":
        return Tensor(kind, (numbers != 0).reshape(shape))
    if kind.is_integer:
        low, high = kind.integer_range
        whole = [min(max(int(each) if math.isfinite(each) else 0, low), high) for each in numbers.tolist()]
        return Tensor(kind, np.array(whole, dtype=kind.storage).reshape(shape))
    if kind.layout is not None and kind.layout.nan == "none":
        numbers = np.nan_to_num(numbers, nan=0.0)
    return Tensor(kind, encode(kind, numbers.tolist()).reshape(shape))


def with_type(call: Call, names: Sequence[str], kind: str) -> Call:
    """The call with some of its inputs in another element type."""
    for name in names:
        given = dict(call.inputs).get(name)
        if given is not None:
            call = call.with_input(name, converted(given, ELEMENT_TYPES[kind]))
    return call


def type_groups(space: CallValidity, call: Call) -> Iterator[tuple[str, list[str], list[str]]]:
    """Each group of inputs of one type: its first input, all of them, and the types, the plainest first."""
    given, seen = dict(call.inputs), set[str]()
    for parameter in space.spec.inputs:
        if given.get(parameter.name) is None or parameter.name in seen:
            continue
        group = space.same_type(parameter)
        seen.update(group)
        types = sorted(space.spec.types_of(parameter), key=lambda name: type_rank(ELEMENT_TYPES[name]))
        yield parameter.name, group, types
