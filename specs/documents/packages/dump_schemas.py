"""Write the schemas of an installed onnx or onnxruntime as JSON Lines; run in that package's environment.

Usage: python dump_schemas.py onnx|onnxruntime FILE
"""

from __future__ import annotations

import ast
import json
import struct
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

Row = dict[str, Any]
_UNLIMITED = 2147483647
_BESIDE_ONNX = "SimplifiedLayerNormalization"
"""What ONNX Runtime's optimiser writes into models under ONNX's domain, which ONNX does not have."""


def schemas(package: str) -> list[Any]:
    """Every schema that the package itself defines, in a stable order."""
    if package == "onnx":
        found = import_module("onnx.defs").get_all_schemas_with_history()
        beside = []
    else:
        state = import_module("onnxruntime.capi.onnxruntime_pybind11_state")
        known = state.get_all_operator_schema()
        found = [each for each in known if each.domain.startswith("com.microsoft")]
        beside = [each for each in known if not each.domain and each.name == _BESIDE_ONNX]
    return [*sorted(found, key=lambda each: (each.domain, each.name, each.since_version)), *beside]


def rows(package: str) -> Iterator[Row]:
    """The lines of the whole package."""
    yield {"format": "opcert-package/1", "package": package, "version": version(package)}
    found = schemas(package)
    newest = {(each.domain, each.name): each.since_version for each in found}
    examples = snippets() if package == "onnx" else {}
    for schema in found:
        yield from schema_rows(schema)
        if newest[schema.domain, schema.name] == schema.since_version:
            for title, code in examples.get(schema.name, ()):
                yield {"is": "example", "title": title}
                for line in code:
                    yield {"is": "code", "text": line}


def schema_rows(schema: Any) -> Iterator[Row]:
    """One operator version: itself, and each of its parts."""
    yield {
        "is": "operator",
        "domain": schema.domain or "ai.onnx",
        "name": schema.name,
        "since_version": schema.since_version,
        "deprecated": schema.deprecated,
        "inputs": limits(schema.min_input, schema.max_input),
        "outputs": limits(schema.min_output, schema.max_output),
    }
    for line in (schema.doc or "").split("\n"):
        yield {"is": "text", "text": line}
    for name, attribute in sorted(schema.attributes.items()):
        row = {"is": "attribute", "name": name, "type": word(attribute.type), "required": attribute.required}
        default = decode_attribute(bytes(attribute._default_value))
        if default is not None:
            row["default"] = default
        yield dict(row, text=attribute.description)
    for kind, parameters in (("input", schema.inputs), ("output", schema.outputs)):
        for parameter in parameters:
            yield parameter_row(kind, parameter)
    for type_constraint in schema.type_constraints:
        types = list(type_constraint.allowed_type_strs)
        yield {
            "is": "types",
            "name": type_constraint.type_param_str,
            "types": types,
            "text": type_constraint.description,
        }


def parameter_row(kind: str, parameter: Any) -> Row:
    """An input or output; onnx and onnxruntime name its fields differently."""
    old = hasattr(parameter, "typeStr")
    row = {
        "is": kind,
        "name": parameter.name,
        "type": parameter.typeStr if old else parameter.type_str,
        "option": word(parameter.option).lower(),
        "homogeneous": parameter.isHomogeneous if old else parameter.is_homogeneous,
    }
    if hasattr(parameter, "differentiation_category"):
        row["differentiable"] = word(parameter.differentiation_category)
    return dict(row, text=parameter.description)


def limits(least: int, most: int) -> list[Any]:
    """A pair of bounds, the second null where there is none."""
    return [least, None if most == _UNLIMITED else most]


def word(value: Any) -> str:
    """The last word of an enumeration's value: `AttrType.FLOAT` is `FLOAT`."""
    return str(value).rsplit(".", 1)[-1]


# Fields of AttributeProto: name, wire form, whether it is a list.
_FIELDS = {2: ("f", False), 3: ("i", False), 4: ("s", False), 7: ("f", True), 8: ("i", True), 9: ("s", True)}
_LISTS = {6: "f", 7: "i", 8: "s"}


def decode_attribute(raw: bytes) -> Any:
    """The value in a serialized AttributeProto: number, text, or a list of either; None for anything else."""
    kind, values = None, []
    for number, value in fields(raw):
        if number == 20:
            kind = value
        elif number in _FIELDS:
            form, repeated = _FIELDS[number]
            packed = repeated and form != "s" and isinstance(value, bytes)
            values += [plain(form, each) for each in (unpack(form, value) if packed else [value])]
    if kind in _LISTS:
        return values
    return values[0] if values and kind in (1, 2, 3) else None


def unpack(form: str, raw: bytes) -> Iterator[Any]:
    """The numbers of a packed list."""
    if form == "f":
        for start in range(0, len(raw), 4):
            yield raw[start : start + 4]
        return
    position = 0
    while position < len(raw):
        value, position = varint(raw, position)
        yield value


def plain(form: str, value: Any) -> Any:
    """A field's value as JSON has it; a float32 as the shortest decimal that means it."""
    if form == "s":
        return value.decode("utf-8", "replace")
    if form == "i":
        return value - (1 << 64) if value >= 1 << 63 else value
    number = struct.unpack("<f", value)[0]
    if number != number or number in (float("inf"), float("-inf")):
        return repr(number)
    shortest = (float(f"{number:.{digits}g}") for digits in range(1, 10))
    return next((each for each in shortest if single(each) == value), number)


def single(value: float) -> bytes:
    """A number as float32; empty where rounding the decimal took it beyond the type."""
    try:
        return struct.pack("<f", value)
    except OverflowError:
        return b""


def fields(raw: bytes) -> Iterator[tuple[int, Any]]:
    """The fields of a protobuf message: number, and value (an int, or bytes)."""
    position = 0
    while position < len(raw):
        key, position = varint(raw, position)
        form = key & 7
        if form == 0:
            value, position = varint(raw, position)
            yield key >> 3, value
            continue
        if form == 2:
            length, position = varint(raw, position)
        else:
            length = 8 if form == 1 else 4
        yield key >> 3, raw[position : position + length]
        position += length


def varint(raw: bytes, position: int) -> tuple[int, int]:
    """A number of variable length, and where the next thing begins."""
    value = shift = 0
    while True:
        byte = raw[position]
        position += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, position


def snippets() -> dict[str, list[tuple[str, list[str]]]]:
    """The example code of each operator, by title, out of the source of onnx's node tests; nothing is run."""
    package = Path(import_module("onnx").__file__ or "").parent
    found: dict[str, list[tuple[str, list[str]]]] = {}
    for path in sorted((package / "backend" / "test" / "case" / "node").rglob("*.py")):
        for operator, title, code in classes(path.read_text("utf-8")):
            found.setdefault(operator, []).append((title, code))
    return {name: sorted(each) for name, each in found.items()}


def classes(source: str) -> Iterator[tuple[str, str, list[str]]]:
    """Operator, title and code of each exported example in a module's source."""
    lines = source.split("\n")
    for node in ast.parse(source).body:
        if not isinstance(node, ast.ClassDef):
            continue
        for stmt in node.body:
            if isinstance(stmt, ast.FunctionDef) and stmt.name.startswith("export"):
                title = stmt.name[len("export_") :] or node.name.lower()
                # Comments before the first statement belong to the code.
                whole = lines[stmt.lineno - 1].endswith(":")
                code = lines[stmt.lineno if whole else stmt.body[0].lineno - 1 : stmt.end_lineno]
                yield node.name, title, [line[8:] if not line[:8].strip() else line for line in code]


def main() -> None:
    """Write every line, and last how many there are."""
    with Path(sys.argv[2]).open("w", encoding="ascii") as file:
        count = 1
        for row in rows(sys.argv[1]):
            file.write(json.dumps(row) + "\n")
            count += 1
        file.write(json.dumps({"is": "end", "lines": count}) + "\n")


if __name__ == "__main__":
    main()
