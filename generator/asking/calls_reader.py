"""Calls out of JSON that anybody may have written: each mistake is told with its key."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from math import prod
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from conformance.suite.canonical import NAMES_OF_NUMBERS
from generator.asking.calls import Call
from generator.asking.structured_calls import read_item, read_outputs_asked, read_slots
from opcert.vocabulary.attributes import Attribute, attribute
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.tensors import Tensor
from reference.numbers.numbers import encode

Found = TypeVar("Found")

_MOST_DIMENSIONS = 32
_LONGEST_SHOWN = 80
_REMEDY = "docs/fuzzing.md describes the format."


class CallReader:
    """Reads the parts of one file; raises UserError with file, key, what was got and what was expected."""

    def __init__(self, file: str) -> None:
        self._file = file

    def call(self, content: Mapping[str, Any], key: str = "") -> Call:
        """The call of an object with `attributes` and `inputs`, `slots` and `outputs` where it has them."""
        named = self.mapping(self._take(content, "attributes", key), f"{key}attributes")
        attributes = {name: self._attribute(each, f"{key}attributes.{name}") for name, each in named.items()}
        inputs: list[tuple[str, Tensor | None]] = []
        for position, each in enumerate(self._list(self._take(content, "inputs", key), f"{key}inputs")):
            place = f"{key}inputs[{position}]"
            entry = self.mapping(each, place)
            name = self.text(self._take(entry, "name", f"{place}."), f"{place}.name")
            if "slots" not in content and name in dict(inputs):
                raise self._wrong("two inputs have one name", name, "each name once, or slots", place)
            inputs.append((name, self.tensor(entry, place) if "element_type" in entry else None))
        slots = self._told(content, key, "slots", lambda said: read_slots(said, inputs))
        outputs = self._told(content, key, "outputs", read_outputs_asked)
        return Call(attributes, tuple(inputs), slots or (), outputs).trimmed()

    def _told(
        self, content: Mapping[str, Any], key: str, name: str, read: Callable[[Any], Found]
    ) -> Found | None:
        """What a key that may be missing says."""
        if name not in content:
            return None
        try:
            return read(content[name])
        except UserError as error:
            expected = error.expected or "what the format has for them"
            raise self._wrong(error.problem, content[name], expected, f"{key}{name}") from error

    def tensor(self, entry: Mapping[str, Any], place: str) -> Tensor:
        """The tensor of an object with `element_type`, `shape` and `data`."""
        name = self.text(self._take(entry, "element_type", f"{place}."), f"{place}.element_type")
        if name not in ELEMENT_TYPES:
            raise self._wrong("no such element type", name, ", ".join(ELEMENT_TYPES), f"{place}.element_type")
        kind = ELEMENT_TYPES[name]
        shape = self._list(self._take(entry, "shape", f"{place}."), f"{place}.shape")
        data = self._list(self._take(entry, "data", f"{place}."), f"{place}.data")
        if len(shape) > _MOST_DIMENSIONS or not all(
            type(each) is int and 0 <= each < 1 << 63 for each in shape
        ):
            raise self._wrong("not a shape", shape, "a list of lengths", f"{place}.shape")
        if prod(shape) != len(data):
            raise self._wrong(
                "elements that do not fill their shape", len(data), str(prod(shape)), f"{place}.data"
            )
        flat = np.empty(len(data), dtype=kind.storage)
        for position, said in enumerate(data):
            try:
                flat[position : position + 1] = element_of_json(kind, said)
            except (UserError, TypeError, ValueError, KeyError, OverflowError) as error:
                raise self._wrong(
                    f"not an element of {kind}",
                    said,
                    "what the format has for one",
                    f"{place}.data[{position}]",
                ) from error
        return Tensor(kind, flat.reshape(shape))

    def mapping(self, value: Any, key: str) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise self._wrong("this is no object", value, "an object", key)
        return value

    def text(self, value: Any, key: str) -> str:
        if not isinstance(value, str):
            raise self._wrong("this is no text", value, "a text", key)
        return value

    def _list(self, value: Any, key: str) -> list[Any]:
        if not isinstance(value, list):
            raise self._wrong("this is no list", value, "a list", key)
        return value

    def _take(self, content: Mapping[str, Any], name: str, key: str) -> Any:
        if name not in content:
            raise UserError(
                "a key is missing",
                expected=name,
                where=Place(self._file, key=key.rstrip(".") or None),
                remedy=_REMEDY,
            )
        return content[name]

    def _attribute(self, value: Any, place: str) -> Attribute:
        entry = self.mapping(value, place)
        kind = self.text(self._take(entry, "kind", f"{place}."), f"{place}.kind")
        stated = self._take(entry, "value", f"{place}.")
        try:
            found = (
                [self._item(kind, each, place) for each in stated]
                if isinstance(stated, list)
                else self._item(kind, stated, place)
            )
            return attribute(kind, found)
        except (UserError, ValueError, KeyError, OverflowError) as error:
            expected = f"a value of the kind {kind[:_LONGEST_SHOWN]}"
            raise self._wrong("not a value of its kind", stated, expected, f"{place}.value") from error

    def _item(self, kind: str, said: Any, place: str) -> Any:
        def tensor(entry: Any) -> Tensor:
            return self.tensor(self.mapping(entry, place), f"{place}.value")

        return read_item(kind, _item(kind, said), tensor)

    def _wrong(self, problem: str, got: Any, expected: str, key: str) -> UserError:
        said = ascii(got)
        shown = said if len(said) <= _LONGEST_SHOWN else f"{said[:_LONGEST_SHOWN]} ..."
        return UserError(
            problem, got=shown, expected=expected, where=Place(self._file, key=key), remedy=_REMEDY
        )


def _item(kind: str, value: Any) -> Any:
    if isinstance(value, str) and kind.startswith("float"):
        return NAMES_OF_NUMBERS[value]
    return int(value) if isinstance(value, str) and kind.startswith("int") else value


def element_of_json(kind: ElementType, said: Any) -> NDArray[Any]:
    """One element, as an array of one in the type's storage.

    Raises UserError, KeyError, TypeError, ValueError or OverflowError for what is none.
    """
    if kind.kind == "complex":
        if not isinstance(said, list):
            raise UserError("not a pair of numbers", got=repr(said))
        real, imaginary = said
        parts = [element_of_json(kind.component, each) for each in (real, imaginary)]
        return np.concatenate(parts).view(kind.storage)
    if kind.kind == "string":
        text = np.empty(1, dtype=np.object_)
        text[0] = bytes.fromhex(_bits(said)) if isinstance(said, dict) else _encoded(said)
        return text
    if isinstance(said, dict):
        return np.array([int(_bits(said), 16)], dtype=unsigned_of(kind)).view(kind.storage)
    if kind.kind == "bool":
        if not isinstance(said, bool):
            raise UserError("not a boolean", got=repr(said), expected="true or false")
        return np.array([said])
    if isinstance(said, bool) or not isinstance(said, int | float | str):
        raise UserError(f"not a number of {kind}", got=repr(said))
    if kind.is_integer:
        number = int(said)
        low, high = kind.integer_range
        if isinstance(said, float) or not low <= number <= high:
            raise UserError(f"not a number of {kind}", got=repr(said), expected=f"{low} to {high}")
        return np.array([number], dtype=kind.storage)
    value = NAMES_OF_NUMBERS[said] if isinstance(said, str) else float(said)
    if math.isinf(value) and not isinstance(said, str):
        raise UserError("a number beyond every type", got=repr(said))
    return encode(kind, [value])


def unsigned_of(kind: ElementType) -> str:
    """The unsigned integers of as many bytes as an element takes in storage."""
    return f"u{np.dtype(kind.storage).itemsize}"


def _bits(said: Mapping[str, Any]) -> str:
    found = said["bits"]
    if not isinstance(found, str):
        raise UserError("bits that are no hexadecimal digits", got=repr(found))
    return found


def _encoded(said: Any) -> bytes:
    if not isinstance(said, str):
        raise UserError("not a text", got=repr(said))
    return said.encode()
