"""Calls as files: attributes and inputs of one call as JSON, without what must come out.

The format is described in docs/fuzzing.md. Every element of every type keeps each of its bits.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from conformance.canonical import NAMES_OF_NUMBERS, plain
from conformance.values import element_to_json
from generator.calls import Call
from opcert.attributes import Attribute, attribute
from opcert.element_types import ELEMENT_TYPES, ElementType
from opcert.errors import Place, UserError, unwritable
from opcert.harmless import for_json
from opcert.names import OperatorName
from opcert.tensors import Tensor
from reference.numbers import encode

FORMAT = "opcert-call/1"
MOST_BYTES = 64 << 20
_GREATEST_PLAIN = 1 << 53
"""Integers from here on are written as strings: many readers of JSON hold numbers in doubles."""


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


def write_call(kept: KeptCall, path: Path) -> None:
    """Write a call into a file; raises UserError where it cannot be written."""
    content: dict[str, Any] = {"format": FORMAT, "operator": str(kept.operator), **_call_to_json(kept.call)}
    if kept.made_from is not None:
        content["made_from"] = _call_to_json(kept.made_from)
    if kept.word is not None:
        content["word"] = kept.word
    if kept.found:
        content["found"] = plain(kept.found)
    text = (
        "{\n" + ",\n".join(f" {json.dumps(key)}: {for_json(each)}" for key, each in content.items()) + "\n}\n"
    )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise unwritable("a call", path, error) from error


def read_call(path: Path) -> KeptCall:
    """The call of a file; raises UserError, with the file and the key, where there is none."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UserError(
                "a call of too many bytes", expected=f"at most {MOST_BYTES}", where=Place(str(path))
            )
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError("no call can be read here", got=str(error), where=Place(str(path))) from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        found = content.get("format") if isinstance(content, dict) else type(content).__name__
        raise UserError("not a call", got=repr(found), expected=FORMAT, where=Place(str(path)))
    key = "operator"
    try:
        operator = OperatorName.parse(str(content.get("operator")))
        key = "call"
        call = _call_of_json(content)
        key = "made_from"
        made_from = None if content.get(key) is None else _call_of_json(content[key])
    except (UserError, KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise UserError(
            "a call that cannot be read",
            got=f"{type(error).__name__}: {error}",
            where=Place(str(path), key=key),
            remedy="docs/fuzzing.md describes the format.",
        ) from error
    word, found = content.get("word"), content.get("found")
    return KeptCall(
        operator,
        call,
        made_from,
        None if word is None else str(word),
        found if isinstance(found, dict) else {},
        path,
    )


def read_calls(folder: Path) -> list[KeptCall]:
    """Every call of a folder, by the files' names; none where there is no such folder."""
    return [read_call(each) for each in sorted(folder.glob("*.json"))]


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
    }


def _value_to_json(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_value_to_json(each) for each in value]
    if isinstance(value, int) and abs(value) >= _GREATEST_PLAIN:
        return str(value)
    return plain(value)


def _call_of_json(content: Mapping[str, Any]) -> Call:
    attributes = {
        str(name): _attribute_of_json(each["kind"], each["value"])
        for name, each in content["attributes"].items()
    }
    inputs = tuple(
        (str(each["name"]), tensor_of_json(each) if "element_type" in each else None)
        for each in content["inputs"]
    )
    if len(dict(inputs)) != len(inputs):
        raise UserError("two inputs of one name", got=", ".join(name for name, _ in inputs))
    return Call(attributes, inputs).trimmed()


def _attribute_of_json(kind: str, value: Any) -> Attribute:
    def item(each: Any) -> Any:
        if isinstance(each, str) and kind.startswith("float"):
            return NAMES_OF_NUMBERS[each]
        return int(each) if isinstance(each, str) and kind.startswith("int") else each

    return attribute(kind, [item(each) for each in value] if isinstance(value, list) else item(value))


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
    if _element_of_json(kind, said).tobytes() == raw:
        return said
    return {"bits": _bits(kind, storage)}


def _bits(kind: ElementType, storage: Any) -> str:
    number = int(np.asarray(storage, dtype=kind.storage).reshape(1).view(_unsigned(kind))[0])
    return f"{number:0{max(kind.bits, 8) // 4}x}"


def _unsigned(kind: ElementType) -> str:
    return f"u{np.dtype(kind.storage).itemsize}"


def tensor_of_json(entry: Mapping[str, Any]) -> Tensor:
    """The inverse of `tensor_to_json`; UserError, KeyError, TypeError or ValueError for anything else."""
    kind = ELEMENT_TYPES[entry["element_type"]]
    shape, data = entry["shape"], entry["data"]
    if not all(type(extent) is int and extent >= 0 for extent in shape) or prod(shape) != len(data):
        raise UserError("elements that do not fill their shape", got=f"{len(data)} for {shape}")
    if kind.kind == "string":
        texts = np.empty(len(data), dtype=np.object_)
        texts[:] = [bytes.fromhex(each["bits"]) if isinstance(each, dict) else each.encode() for each in data]
        return Tensor(kind, texts.reshape(shape))
    if kind.kind == "complex":
        parts = [_element_of_json(kind.component, part) for each in data for part in _pair(each)]
        flat = np.concatenate(parts) if parts else np.empty(0, kind.component.storage)
        return Tensor(kind, flat.view(kind.storage).reshape(shape))
    elements = [_element_of_json(kind, each) for each in data]
    found = np.concatenate(elements) if elements else np.empty(0, kind.storage)
    return Tensor(kind, found.reshape(shape))


def _pair(value: Any) -> tuple[Any, Any]:
    real, imaginary = value
    return real, imaginary


def _element_of_json(kind: ElementType, said: Any) -> np.ndarray[Any, np.dtype[Any]]:
    """One element, as an array of one in the type's storage."""
    if isinstance(said, dict):
        return np.array([int(said["bits"], 16)], dtype=_unsigned(kind)).view(kind.storage)
    if kind.kind == "bool":
        if not isinstance(said, bool):
            raise UserError("not a boolean", got=repr(said), expected="true or false")
        return np.array([said])
    if isinstance(said, bool):
        raise UserError(f"a boolean among elements of {kind}", got=repr(said))
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
