"""Sequences, optionals and maps as the tensors that a case and a record hold of them, in one order.

A sequence is its length (int64, without axes) and its elements; an optional whether it holds something (bool)
and what it holds; a map its keys in ascending order and its values in theirs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from opcert.vocabulary.errors import UserError
from opcert.vocabulary.tensors import Tensor, tensor
from opcert.vocabulary.value_types import (
    ONE_ELEMENT_TYPE,
    ONE_KEY_TYPE,
    MapType,
    OptionalType,
    SequenceType,
    TensorType,
    ValueType,
)


@dataclass(frozen=True, eq=False)
class MapValue:
    """A map: one list of keys, and one of the values in their order."""

    keys: Tensor
    values: Tensor


Value = Tensor | tuple["Value", ...] | MapValue | None
"""A tensor, the elements of a sequence, a map, or None: an optional that holds nothing."""

MOST_ELEMENTS = 1_000


def flatten(kind: ValueType, value: Value) -> list[Tensor]:
    """The tensors of a value; raises UserError where the value is none of the type."""
    match kind, value:
        case OptionalType(), None:
            return [tensor(np.array(False))]
        case OptionalType(), _:
            return [tensor(np.array(True)), *flatten(kind.of, value)]
        case SequenceType(), tuple():
            parts = [part for each in value for part in flatten(kind.of, each)]
            return [tensor(np.array(len(value), np.int64)), *parts]
        case MapType(), MapValue():
            return flatten_map(value)
        case TensorType(), Tensor():
            return [value]
    raise UserError("a value of another type than is said", got=type(value).__name__, expected=str(kind))


def flatten_map(value: MapValue) -> list[Tensor]:
    """The keys of a map in ascending order, and its values."""
    order = np.argsort(value.keys.array, kind="stable")
    return [Tensor(each.element_type, each.array[order]) for each in (value.keys, value.values)]


def value_of_parts(kind: ValueType, parts: Sequence[Tensor], *, empty: bool = False) -> Value:
    """The value that a slot's tensors make (`opcert.vocabulary.slots`)."""
    match kind:
        case OptionalType():
            return None if empty else value_of_parts(kind.of, parts)
        case SequenceType():
            step = 2 if isinstance(kind.of, MapType) else 1
            places = range(0, len(parts), step)
            return tuple(value_of_parts(kind.of, parts[place : place + step]) for place in places)
        case MapType():
            keys, values = parts
            return MapValue(keys, values)
    (tensor,) = parts
    return tensor


def take_value(kind: ValueType, tensors: Sequence[Tensor], place: int = 0) -> tuple[Value, int]:
    """The value that begins at a place among tensors, and the place behind it; UserError for what is none."""
    if place >= len(tensors):
        raise UserError("fewer tensors than a value has", got=str(len(tensors)), expected=str(kind))
    first = tensors[place]
    match kind:
        case TensorType():
            return first, place + 1
        case OptionalType():
            if first.element_type.kind != "bool" or first.shape != ():
                raise UserError(
                    "an optional that does not say whether it holds something", got=repr(first)[:80]
                )
            return take_value(kind.of, tensors, place + 1) if first.array else (None, place + 1)
        case MapType():
            if place + 1 >= len(tensors):
                raise UserError("a map without its values")
            return MapValue(first, tensors[place + 1]), place + 2
        case SequenceType():
            if first.element_type.name != "int64" or first.shape != ():
                raise UserError("a sequence without its length", got=repr(first)[:80])
            length = int(first.array)
            if not 0 <= length <= MOST_ELEMENTS:
                raise UserError(
                    "a sequence of no possible length", got=str(length), expected=f"0 to {MOST_ELEMENTS}"
                )
            found: list[Value] = []
            place += 1
            for _ in range(length):
                each, place = take_value(kind.of, tensors, place)
                found.append(each)
            return tuple(found), place


@dataclass(frozen=True)
class Leaf:
    """A tensor of an output: the output's name and type (None: it is that tensor), and its place in it."""

    output: str
    type: ValueType | None
    place: int


def leaves_of(
    wanted: Sequence[str], types: Mapping[str, ValueType], tensors: Sequence[Tensor]
) -> tuple[Leaf, ...]:
    """What each of the tensors is of, which hold the wanted outputs one behind the other.

    Raises UserError where they do not: where one is missing or left, or a value breaks a rule of its type.
    """
    found: list[Leaf] = []
    at = 0
    for name in wanted:
        kind = types.get(name)
        behind = at + 1
        if kind is not None:
            value, behind = take_value(kind, tensors, at)
            check_value(kind, value)
        found += (Leaf(name, kind, place) for place in range(behind - at))
        at = behind
    if at != len(tensors):
        raise UserError("outputs of another number of tensors", got=str(len(tensors)), expected=str(at))
    return tuple(found)


def check_value(kind: ValueType, value: Value) -> None:
    """Raise UserError, with the rule by its name, where tensors of a value are not what its type says."""
    match kind, value:
        case TensorType(), Tensor() if value.element_type is not kind.element_type:
            raise UserError(
                "a tensor of another type than its value says",
                got=value.element_type.name,
                expected=f"{kind.element_type} ({ONE_ELEMENT_TYPE})",
            )
        case SequenceType(), tuple():
            for element in value:
                check_value(kind.of, element)
        case OptionalType(), _ if value is not None:
            check_value(kind.of, value)
        case MapType(), MapValue():
            _check_map(kind, value)


def _check_map(kind: MapType, value: MapValue) -> None:
    if value.keys.element_type is not kind.key:
        raise UserError(
            "keys of another type than the map says",
            got=value.keys.element_type.name,
            expected=f"{kind.key} ({ONE_KEY_TYPE})",
        )
    check_value(kind.of, value.values)
    if len(value.keys.shape) != 1 or value.keys.shape != value.values.shape:
        raise UserError(
            "a map without one value for each key",
            got=f"keys {list(value.keys.shape)}, values {list(value.values.shape)}",
        )
    if len(set(value.keys.array.tolist())) < value.keys.array.size:
        raise UserError("a map with a key that is there twice")
