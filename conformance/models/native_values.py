"""Sequences, optionals and maps that a worker itself has to make of tensors, or to return."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.models.input_names import input_names, slot_names
from conformance.models.packed_models import is_carried
from conformance.suite.cases import Case
from opcert.vocabulary.slots import Slot
from opcert.vocabulary.value_types import MapType, SequenceType, TensorType, ValueType


def describe_values(case: Case, how: str) -> list[dict[str, Any]]:
    """The `values` of a `run` request: each with its name at the node, and its parts by their names."""
    slots = native_slots(case, how)
    names = input_names(case.inputs) if slots else ()
    return [
        {
            "name": value,
            "type": str(slot.type),
            "parts": [names[each] for each in slot.parts],
            **({"empty": True} if slot.empty else {}),
        }
        for slot, value in slots
    ]


def native_slots(case: Case, how: str) -> list[tuple[Slot, str]]:
    """The inputs that the worker itself has to make of tensors, each with its name at the node."""
    names = slot_names(case.inputs, case.slots) if case.slots else ()
    return [
        (slot, name)
        for slot, name in zip(case.slots, names, strict=False)
        if slot.type is not None and not (how == "onnx" and is_carried(case.operator, slot.type))
    ]


def needed_values(case: Case, how: str) -> set[str]:
    """The words of `values` in a worker's handshake that it must have said to be given a case."""
    types = [slot.type for slot, _ in native_slots(case, how)]
    types += [
        each for each in case.output_types.values() if not (how == "onnx" and is_carried(case.operator, each))
    ]
    return {word for each in types if each is not None for word in _words_of(each)}


def _words_of(kind: ValueType) -> Iterator[str]:
    """`sequence`, `optional` and `map`, as a type has them."""
    if isinstance(kind, MapType):
        yield "map"
    elif not isinstance(kind, TensorType):
        yield "sequence" if isinstance(kind, SequenceType) else "optional"
        yield from _words_of(kind.of)
