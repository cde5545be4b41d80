"""Calls as files: attributes and inputs of one call as JSON, without what must come out.

The format is described in docs/fuzzing.md. Every element of every type keeps each of its bits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from conformance.suite.canonical import plain
from conformance.suite.values import element_to_json
from generator.asking.calls import Call
from generator.asking.calls_reader import CallReader, element_of_json, unsigned_of
from generator.asking.structured_calls import describe_form, describe_items
from opcert.vocabulary.element_types import ElementType
from opcert.vocabulary.errors import Place, UserError, unreadable
from opcert.vocabulary.harmless import for_json
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.regular_files import read_regular
from opcert.vocabulary.strict_json import parse_json
from opcert.vocabulary.tensors import Tensor
from opcert.vocabulary.whole_files import write_bytes

FORMAT = "opcert-call/1"
MOST_BYTES = 64 << 20
_WORD = re.compile(r"\w{1,120}", re.ASCII)
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
    return [read_call(each) for each in sorted(folder.glob("*.json"))]


def _call_to_json(call: Call) -> dict[str, Any]:
    return {
        "attributes": {
            name: {"kind": each.kind, "value": describe_items(each.value, tensor_to_json, _value_to_json)}
            for name, each in sorted(call.attributes.items())
        },
        "inputs": [
            {"name": name} if each is None else {"name": name, **tensor_to_json(each)}
            for name, each in call.trimmed().inputs
        ],
        **describe_form(call.trimmed()),
    }


def _value_to_json(value: Any) -> Any:
    if isinstance(value, int) and abs(value) >= _GREATEST_PLAIN:
        return str(value)
    return plain(value)


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
    return {"bits": _bits(kind, storage)}


def _bits(kind: ElementType, storage: Any) -> str:
    number = int(np.asarray(storage, dtype=kind.storage).reshape(1).view(unsigned_of(kind))[0])
    return f"{number:0{max(kind.bits, 8) // 4}x}"
