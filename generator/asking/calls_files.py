"""Calls as files: attributes and inputs of one call as JSON, without what must come out.

The format is described in docs/reference.md. Every element of every type keeps each of its bits.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from google.protobuf.message import DecodeError  # type: ignore[import-untyped] # protobuf ships no types
from numpy.typing import NDArray
from onnx import GraphProto

from conformance.suite.canonical import NAMES_OF_NUMBERS, plain
from conformance.suite.cases import describe_slots
from conformance.suite.protos import read_graph
from conformance.suite.values import element_to_json
from generator.asking.calls import Call
from opcert.vocabulary.attributes import Attribute, Graph, attribute
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.errors import Place, UserError, unreadable
from opcert.vocabulary.harmless import for_json
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.regular_files import read_regular
from opcert.vocabulary.slots import Given, Slot, Slots, check_slots, slots_of
from opcert.vocabulary.strict_json import parse_json
from opcert.vocabulary.tensors import Tensor
from opcert.vocabulary.value_types import parse_value_type
from opcert.vocabulary.whole_files import write_bytes
from reference.numbers.numbers import encode

Found = TypeVar("Found")

FORMAT = "opcert-call/1"
MOST_BYTES = 64 << 20
_WORD = re.compile(r"\w{1,120}", re.ASCII)
_GREATEST_PLAIN = 1 << 53
"""Integers from here on are written as strings: many readers of JSON hold numbers in doubles."""
_MOST_DIMENSIONS = 32
_LONGEST_SHOWN = 80
_REMEDY = "docs/reference.md describes the format."


def _describe_form(call: Call) -> dict[str, Any]:
    """The keys `slots` and `outputs` of a call, where it needs them: a name may be there twice."""
    names = [name for name, _ in call.inputs]
    said: dict[str, Any] = {}
    if call.slots or len(set(names)) < len(names):
        said["slots"] = describe_slots(slots_of(call.inputs, call.slots))
    if call.outputs is not None:
        said["outputs"] = list(call.outputs)
    return said


def _read_slots(said: Any, inputs: Given) -> Slots:
    """The slots of a file; none where each input is one tensor. Raises UserError where they are none."""
    try:
        found = tuple(_slot(*each) for each in said)
    except (TypeError, ValueError) as error:
        expected = "[name, parts, type, empty] for each input of the node"
        raise UserError("not the slots of a call", got=ascii(said)[:200], expected=expected) from error
    check_slots(inputs, found)
    return () if found == slots_of(inputs, ()) else found


def _slot(name: Any, parts: Any, kind: Any, empty: Any) -> Slot:
    if not isinstance(name, str) or not isinstance(parts, list) or type(empty) is not bool:
        raise TypeError("a slot")
    if not all(type(part) is int for part in parts):
        raise TypeError("a part of a slot")
    return Slot(name, tuple(parts), None if kind is None else parse_value_type(kind), empty)


def _read_outputs_asked(said: Any) -> tuple[str, ...]:
    """The names of outputs, empty where one is not wanted; UserError where they are none."""
    names = said if isinstance(said, list) and all(isinstance(each, str) for each in said) else []
    given = [name for name in names if name]
    if not given or len(set(given)) < len(given):
        raise UserError("not the outputs that a call asks for", got=ascii(said)[:200], expected="names")
    return tuple(names)


def _read_graph(said: Any) -> Graph:
    proto = GraphProto()
    try:
        proto.ParseFromString(base64.b64decode(said["graph"], validate=True))
    except (KeyError, TypeError, ValueError, binascii.Error, DecodeError) as error:
        raise UserError("not a graph", got=ascii(said)[:80], expected="base64 of a GraphProto") from error
    return read_graph(proto)


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
        slots = self._told(content, key, "slots", lambda said: _read_slots(said, inputs))
        outputs = self._told(content, key, "outputs", _read_outputs_asked)
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
            type(extent) is int and 0 <= extent < 1 << 63 for extent in shape
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
        """An item of an attribute: a tensor, a graph, a number of that name, what else there is as it is."""
        if kind.startswith("tensor"):
            return self.tensor(self.mapping(said, place), f"{place}.value")
        if kind.startswith("graph"):
            return _read_graph(said)
        if isinstance(said, str) and kind.startswith("float"):
            return NAMES_OF_NUMBERS[said]
        return int(said) if isinstance(said, str) and kind.startswith("int") else said

    def _wrong(self, problem: str, got: Any, expected: str, key: str) -> UserError:
        said = ascii(got)
        shown = said if len(said) <= _LONGEST_SHOWN else f"{said[:_LONGEST_SHOWN]} ..."
        return UserError(
            problem, got=shown, expected=expected, where=Place(self._file, key=key), remedy=_REMEDY
        )


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


@dataclass(frozen=True, eq=False)
class KeptCall:
    """A call as a file holds it.

    `made_from` is the valid call that one which breaks a rule was made from. `word` becomes the word of the
    case id. `found` tells people how the call was found: plain JSON, which nothing depends on.
    """

    operator: OperatorName
    call: Call
    made_from: Call | None = None
    word: str | None = None
    found: Mapping[str, Any] = field(default_factory=dict)
    path: Path | None = None


def call_text(kept: KeptCall) -> str:
    """The text of a call's file."""
    content: dict[str, Any] = {"format": FORMAT, "operator": str(kept.operator), **_call_to_json(kept.call)}
    if kept.made_from is not None:
        content["made_from"] = _call_to_json(kept.made_from)
    if kept.word is not None:
        content["word"] = kept.word
    if kept.found:
        content["found"] = plain(kept.found)
    lines = (f" {json.dumps(key)}: {for_json(each)}" for key, each in content.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def write_call(kept: KeptCall, path: Path) -> None:
    """Write a call into a file; raises UserError where it cannot be written."""
    write_bytes(path, call_text(kept).encode(), "a call")


def read_call(path: Path) -> KeptCall:
    """The call of a file; raises UserError, with the file and the key, where there is none."""
    try:
        raw = read_regular(path, MOST_BYTES)
    except OSError as error:
        raise unreadable("the call", path, error) from error
    return parse_call(raw, path)


def parse_call(raw: str | bytes, path: Path) -> KeptCall:
    """The call of a text that stands at a path; raises UserError as `read_call` does."""
    try:
        content = parse_json(raw)
    except ValueError as error:
        raise UserError("no call can be read here", got=str(error), where=Place(str(path))) from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        found = content.get("format") if isinstance(content, dict) else type(content).__name__
        raise UserError("not a call", got=ascii(found)[:80], expected=FORMAT, where=Place(str(path)))
    reader = CallReader(str(path))
    try:
        operator = OperatorName.parse(reader.text(content.get("operator"), "operator"))
    except UserError as error:
        raise UserError(error.problem, got=error.got, expected=error.expected,
                        where=Place(str(path), key="operator")) from error  # fmt: skip
    call = reader.call(content)
    made_from = content.get("made_from")
    word, found = content.get("word"), content.get("found")
    if word is not None and _WORD.fullmatch(reader.text(word, "word")) is None:
        raise UserError("not the word of a case id", got=ascii(word)[:80], expected="letters, digits and _",
                        where=Place(str(path), key="word"))  # fmt: skip
    return KeptCall(
        operator,
        call,
        None if made_from is None else reader.call(reader.mapping(made_from, "made_from"), "made_from."),
        word,
        {} if found is None else reader.mapping(found, "found"),
        path,
    )


def read_calls(folder: Path) -> list[KeptCall]:
    """Every call of a folder, by the files' names; none where there is no such folder."""
    return [read_call(path) for path in sorted(folder.glob("*.json"))]


def _call_to_json(call: Call) -> dict[str, Any]:
    return {
        "attributes": {
            name: {"kind": each.kind, "value": _value_to_json(each.value)}
            for name, each in sorted(call.attributes.items())
        },
        "inputs": [
            {"name": name} if each is None else {"name": name, **tensor_to_json(each)}
            for name, each in call.trimmed().inputs
        ],
        **_describe_form(call.trimmed()),
    }


def _value_to_json(value: Any) -> Any:
    """An attribute's value as a file holds it."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_value_to_json(item) for item in value]
    if isinstance(value, Tensor):
        return tensor_to_json(value)
    if isinstance(value, Graph):
        return {"graph": base64.b64encode(value.raw).decode("ascii")}
    if isinstance(value, int) and abs(value) >= _GREATEST_PLAIN:
        return str(value)
    return plain(value) if isinstance(value, int | float | str) else str(value)


def tensor_to_json(tensor: Tensor) -> dict[str, Any]:
    """Element type, shape and elements in row-major order; an element that no number names has its bits."""
    kind = tensor.element_type
    return {
        "element_type": kind.name,
        "shape": list(tensor.shape),
        "data": [_element_to_json(kind, each) for each in tensor.array.reshape(-1)],
    }


def _element_to_json(kind: ElementType, storage: Any) -> Any:
    if kind.kind == "complex":
        return [_element_to_json(kind.component, each) for each in (storage.real, storage.imag)]
    if kind.kind == "string":
        try:
            return bytes(storage).decode("utf-8")
        except UnicodeDecodeError:
            return {"bits": bytes(storage).hex()}
    said = element_to_json(kind, storage)
    raw = np.asarray(storage, dtype=kind.storage).tobytes()
    if element_of_json(kind, said).tobytes() == raw:
        return said
    return {"bits": _hex_of(kind, storage)}


def _hex_of(kind: ElementType, storage: Any) -> str:
    number = int(np.asarray(storage, dtype=kind.storage).reshape(1).view(unsigned_of(kind))[0])
    return f"{number:0{max(kind.bits, 8) // 4}x}"
