"""Slots: what the tensors of a call make of themselves, where an input is more or less than one tensor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from opcert.vocabulary.errors import UserError
from opcert.vocabulary.tensors import Tensor
from opcert.vocabulary.value_types import (
    ONE_ELEMENT_TYPE,
    ONE_KEY_TYPE,
    MapType,
    OptionalType,
    SequenceType,
    TensorType,
    ValueType,
)

Given = Sequence[tuple[str, Tensor | None]]


@dataclass(frozen=True)
class Slot:
    """One input of a node, made of the tensors at the positions `parts` of the call's inputs.

    Without a type it is the one tensor, or omitted where it has no part. A sequence has a part for each
    tensor, a map its keys and its values, a sequence of maps these for each. An optional has the parts of
    what it holds; with `empty` it holds nothing. Two slots with one part are the same tensor given twice.
    """

    name: str
    parts: tuple[int, ...] = ()
    type: ValueType | None = None
    empty: bool = False


Slots = tuple[Slot, ...]
"""Of all inputs of a node in order; empty where each input of the call is one tensor or omitted."""


def slots_of(inputs: Given, slots: Slots) -> Slots:
    """The slots of a call, also where it does not state them."""
    if slots:
        return slots
    return tuple(
        Slot(name, () if tensor is None else (position,)) for position, (name, tensor) in enumerate(inputs)
    )


def check_slots(inputs: Given, slots: Slots) -> None:
    """Raise UserError where slots do not fit the inputs: each part a tensor, each used, as the types say."""
    if not slots:
        return
    used: set[int] = set()
    for slot in slots:
        tensors = []
        for part in slot.parts:
            if not 0 <= part < len(inputs) or (tensor := inputs[part][1]) is None:
                raise _wrong(slot, f"part {part}", f"a tensor among the {len(inputs)} inputs")
            tensors.append(tensor)
        used.update(slot.parts)
        _check_slot(slot, tensors)
    left = [name for place, (name, each) in enumerate(inputs) if each is not None and place not in used]
    if left:
        raise UserError("an input that no slot has", got=left[0][:80])


def _check_slot(slot: Slot, tensors: Sequence[Tensor]) -> None:
    kind = slot.type
    if kind is None:
        if len(tensors) > 1 or slot.empty:
            raise _wrong(slot, f"{len(tensors)} tensors without a type", "one tensor, or none")
        return
    if slot.empty:
        if not isinstance(kind, OptionalType) or tensors:
            raise _wrong(slot, f"an empty {kind}", "an optional without tensors")
        return
    if isinstance(kind, OptionalType):
        kind = kind.of
    step = 1
    single = not isinstance(kind, SequenceType)
    if isinstance(kind, SequenceType):
        kind = kind.of
    if isinstance(kind, MapType):
        step = 2
    elif not isinstance(kind, TensorType):
        raise _wrong(slot, str(slot.type), "tensors, maps, and sequences and optionals of these")
    if len(tensors) % step or (single and len(tensors) != step):
        raise _wrong(slot, f"{len(tensors)} tensors", f"those of {slot.type}")
    for each in range(0, len(tensors), step):
        _check_element(slot, kind, tensors[each : each + step])


def _check_element(slot: Slot, kind: TensorType | MapType, tensors: Sequence[Tensor]) -> None:
    wanted = (kind.element_type,) if isinstance(kind, TensorType) else (kind.key, kind.of.element_type)
    found = tuple(tensor.element_type for tensor in tensors)
    if found != wanted:
        rule = ONE_ELEMENT_TYPE if isinstance(kind, TensorType) else ONE_KEY_TYPE
        told = f"{' and '.join(map(str, wanted))} ({rule})"
        raise _wrong(slot, " and ".join(map(str, found)), told)
    if isinstance(kind, MapType):
        keys, values = tensors
        if len(keys.shape) != 1 or keys.shape != values.shape:
            raise _wrong(slot, f"keys {list(keys.shape)}, values {list(values.shape)}", "one list of each")
        if len(set(keys.array.tolist())) != len(keys.array):
            raise _wrong(slot, "a key that is there twice", "different keys")


def _wrong(slot: Slot, got: str, expected: str) -> UserError:
    return UserError(f"the input {slot.name[:80]!r} is not made as it says", got=got, expected=expected)


def gather(slot: Slot, inputs: Given) -> Iterator[Tensor]:
    """The tensors of a slot, in order."""
    for part in slot.parts:
        tensor = inputs[part][1]
        assert tensor is not None
        yield tensor
