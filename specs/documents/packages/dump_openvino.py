"""Write the operators of an installed OpenVINO as JSON Lines; run in that package's environment.

The library itself gives names, versions, and attributes with the types of their values; the Python functions
that make the operators give inputs, defaults and descriptions.

Usage: python dump_openvino.py openvino FILE
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

Row = dict[str, Any]
_NODE = re.compile(r"\b(?:NodeInput|Node)\b")
_PARAMETER = re.compile(r"^ *:param +(\w+): *", re.MULTILINE)


def rows() -> Iterator[Row]:
    """The lines of the whole package."""
    yield {"format": "opcert-package/1", "package": "openvino", "version": version("openvino")}
    folder = Path(import_module("openvino").__file__ or "").parent
    for (name, since), (place, function, node) in sorted(operators(folder).items()):
        yield {"is": "operator", "name": name, "since_version": since, "source": place}
        texts = descriptions(function)
        for line in texts.get("", "").split("\n"):
            yield {"is": "text", "text": line}
        yield from input_rows(function, texts)
        yield from attribute_rows(function, attributes(function, node), texts)


def operators(folder: Path) -> dict[tuple[str, int], tuple[str, ast.FunctionDef, Any]]:
    """Of each operator version the place and function that make it, and an empty node of it."""
    # Older releases keep their Python functions in a folder of their own.
    old = not (folder / "opset1" / "ops.py").is_file()
    module = "openvino.runtime.utils.node_factory" if old else "openvino.utils.node_factory"
    factory = import_module(module).NodeFactory
    found: dict[tuple[str, int], tuple[str, ast.FunctionDef, Any]] = {}
    parent = folder / "runtime" if old else folder
    paths = sorted(parent.glob("opset*/ops.py"), key=lambda path: int(path.parent.name[len("opset") :]))
    for path in paths:
        opset = path.parent.name
        nodes = factory(opset).factory
        body = ast.parse(path.read_text("utf-8")).body
        for function in (function_def for function_def in body if isinstance(function_def, ast.FunctionDef)):
            for name in created(function):
                node = nodes.create(name)
                since = int(node.get_type_info().version_id[len("opset") :])
                line = f"{path.relative_to(folder.parent).as_posix()} line {function.lineno}"
                # The function of the operator's own opset, else the first that makes it.
                if (name, since) not in found or opset == f"opset{since}":
                    found[name, since] = (line, function, node)
    return found


def created(function: ast.FunctionDef) -> list[str]:
    """The operators that a function makes."""
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call) and node.args]
    names = [
        str(call.args[0].value)
        for call in calls
        if isinstance(call.func, ast.Attribute)
        and call.func.attr == "create"
        and isinstance(call.args[0], ast.Constant)
    ]
    return list(dict.fromkeys(names))


def descriptions(function: ast.FunctionDef) -> dict[str, str]:
    """What the docstring says of each parameter, and under the name "" what stands above them."""
    text = inspect.cleandoc(ast.get_docstring(function) or "")
    text = re.split(r"^ *:returns?:", text, maxsplit=1, flags=re.MULTILINE)[0]
    parts = _PARAMETER.split(text)
    found = {"": parts[0].rstrip()}
    found.update((name, said.strip()) for name, said in zip(parts[1::2], parts[2::2], strict=False))
    return found


def input_rows(function: ast.FunctionDef, texts: dict[str, str]) -> Iterator[Row]:
    """The parameters that are tensors, in order."""
    for parameter, _ in parameters(function):
        words = annotation(parameter)
        if _NODE.search(words):
            yield {
                "is": "input",
                "name": parameter.arg,
                "option": "optional" if words.startswith("Optional") else "single",
                "variadic": words.startswith("list"),
                "text": texts.get(parameter.arg, ""),
            }


def attributes(function: ast.FunctionDef, node: Any) -> dict[str, Any]:
    """The attributes of an empty node with their values; None where the library cannot show them."""
    try:
        found: dict[str, Any] = node.get_attributes()
    except RuntimeError:
        # An older release refuses a value of its own; the function's parameters are what is left.
        given = {name: value for value, name in passed_on(function).items()}
        own = [
            parameter.arg for parameter, _ in parameters(function) if not _NODE.search(annotation(parameter))
        ]
        found = {given.get(name, name): None for name in own}
    return found


def attribute_rows(function: ast.FunctionDef, found: dict[str, Any], texts: dict[str, str]) -> Iterator[Row]:
    """The attributes that the library knows, each with the parameter that sets it where there is one."""
    own = {parameter.arg: (parameter, default) for parameter, default in parameters(function)}
    names = passed_on(function)
    for name, empty in found.items():
        parameter, default = own.get(names.get(name, name), (None, None))
        words = annotation(parameter) if parameter is not None else ""
        row: Row = {"is": "attribute", "name": name, "type": value_type(empty, words)}
        if parameter is not None:
            row["required"] = default is None
            row.update(literal(default, empty))
            row["parameter"] = parameter.arg
            allowed = re.search(r"Literal\[(.*?)\]", words)
            if allowed:
                row["allowed"] = re.findall(r"'([^']*)'", allowed[1])
        yield dict(row, text=texts.get(parameter.arg, "") if parameter is not None else "")


def parameters(function: ast.FunctionDef) -> list[tuple[ast.arg, Any]]:
    """The parameters of a function, each with the expression of its default (None without one)."""
    arguments, defaults = function.args.args, function.args.defaults
    filled = [None] * (len(arguments) - len(defaults)) + list(defaults)
    return [
        (argument, default)
        for argument, default in zip(arguments, filled, strict=False)
        if argument.arg != "name"
    ]


def annotation(parameter: ast.arg) -> str:
    """The text of a parameter's annotation."""
    return "" if parameter.annotation is None else ast.unparse(parameter.annotation)


def passed_on(function: ast.FunctionDef) -> dict[str, str]:
    """Attributes that the function fills from a parameter of another name: `{"min": min_value}`."""
    names = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=False):
                if isinstance(key, ast.Constant) and isinstance(value, ast.Name):
                    names[str(key.value)] = value.id
    return names


def literal(default: Any, empty: Any) -> Row:
    """A default that is a literal other than None, as a part of a row; words as the library spells them."""
    try:
        value = ast.literal_eval(default) if default is not None else None
    except ValueError:
        return {}
    if isinstance(value, str) and isinstance(empty, str) and empty.islower():
        value = value.lower()
    return {} if value is None else {"default": value}


_ITEMS = {"int": "int", "float": "float", "str": "string"}


def value_type(empty: Any, words: str) -> str:
    """The type of an attribute's value; that of an empty list's elements from the parameter's annotation."""
    if isinstance(empty, bool):
        return "boolean"
    if isinstance(empty, (list, tuple)) or type(empty).__name__ in ("ndarray", "AxisVector"):
        items = [type(each).__name__ for each in empty]
        named = re.search(r"[Ll]ist\[(int|float|str)\]", words)
        item = items[0] if items else named[1] if named else "int" if "Shape" in words else ""
        return f"{_ITEMS[item]}[]" if item in _ITEMS else "list"
    if empty is None:
        named = re.search(r"\b(bool|int|float|str)\b", words)
        item = {"bool": "boolean", **_ITEMS}.get(named[1], "other") if named else "other"
        return f"{item}[]" if "ist[" in words and item in _ITEMS.values() else item
    return _ITEMS.get(type(empty).__name__, "other")


def main() -> None:
    """Write every line, and last how many there are."""
    with Path(sys.argv[2]).open("w", encoding="ascii") as file:
        count = 1
        for row in rows():
            file.write(json.dumps(row) + "\n")
            count += 1
        file.write(json.dumps({"is": "end", "lines": count}) + "\n")


if __name__ == "__main__":
    main()
