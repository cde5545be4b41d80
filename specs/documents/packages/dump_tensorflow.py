"""Write the operators of an installed TensorFlow as JSON Lines; run in that package's environment.

An operator's docstring is taken from the source of its generated function, its definition from the registry.

Usage: python dump_tensorflow.py tensorflow FILE
"""

from __future__ import annotations

import ast
import inspect
import json
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def rows() -> Iterator[Row]:
    """The lines of the whole package."""
    tensorflow: Any = import_module("tensorflow")
    version = tensorflow.__version__
    yield {"format": "opcert-package/1", "package": "tensorflow", "version": version}
    known = definitions()
    for name, (source, function, text) in sorted(docstrings(Path(tensorflow.__file__).parent).items()):
        yield {"is": "operator", "name": name, "source": source, "parameters": parameters(function)}
        for line in text.split("\n"):
            yield {"is": "text", "text": line}
        if name in known:
            yield from definition_rows(known[name])


def docstrings(folder: Path) -> dict[str, tuple[str, ast.FunctionDef, str]]:
    """Of each raw operator the place, the function and its docstring, from the generated modules."""
    found = {}
    for path in sorted(folder.rglob("gen_*.py")):
        body = ast.parse(path.read_text("utf-8")).body
        functions = {
            function_def.name: function_def
            for function_def in body
            if isinstance(function_def, ast.FunctionDef)
        }
        for node in body:
            names = raw_operator(node)
            function = functions.get(names[1]) if names else None
            text = ast.get_docstring(function, clean=False) if function is not None else None
            if names and function is not None and text is not None:
                place = f"{path.relative_to(folder.parent).as_posix()} line {function.lineno}"
                found[names[0]] = (place, function, inspect.cleandoc(text))
    return found


def raw_operator(node: ast.stmt) -> tuple[str, str] | None:
    """Operator and function of `Name = tf_export("raw_ops.Name")(_ops.to_raw_op(function))`."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call) or len(node.value.args) != 1:
        return None
    target, inner = node.targets[0], node.value.args[0]
    if not isinstance(target, ast.Name) or not isinstance(inner, ast.Call) or len(inner.args) != 1:
        return None
    is_raw = isinstance(inner.func, ast.Attribute) and inner.func.attr == "to_raw_op"
    argument = inner.args[0]
    return (target.id, argument.id) if is_raw and isinstance(argument, ast.Name) else None


def parameters(function: ast.FunctionDef) -> list[str]:
    """The names of a function's parameters."""
    return [argument.arg for argument in function.args.args]


def definitions() -> dict[str, Any]:
    """Every registered operator's definition, by name."""
    messages = import_module("tensorflow.core.framework.op_def_pb2")
    session = import_module("tensorflow.python.client.pywrap_tf_session")
    found = messages.OpList()
    found.ParseFromString(session.TF_GetBuffer(session.TF_GetAllOpList()))
    return {each.name: each for each in found.op}


def definition_rows(definition: Any) -> Iterator[Row]:
    """The parts of a definition: inputs, outputs, attributes."""
    for kind, arguments in (("input", definition.input_arg), ("output", definition.output_arg)):
        for argument in arguments:
            row = {"is": kind, "name": argument.name}
            if argument.type:
                row["type"] = type_name(argument.type)
            for field in ("type_attr", "number_attr", "type_list_attr"):
                if getattr(argument, field):
                    row[field] = getattr(argument, field)
            yield row
    for each in definition.attr:
        row = {"is": "attribute", "name": each.name, "type": each.type}
        if each.HasField("default_value"):
            row["default"] = value(each.default_value)
        if each.HasField("allowed_values"):
            row["allowed"] = value(each.allowed_values)
        if each.has_minimum:
            row["minimum"] = each.minimum
        yield row


def value(message: Any) -> Any:
    """An AttrValue as JSON has it: shapes as lists (null where the rank is unknown), types by name."""
    kind = message.WhichOneof("value")
    if kind == "list":
        filled = [each for each in ("s", "i", "f", "b", "type", "shape") if len(getattr(message.list, each))]
        return [plain(filled[0], each) for each in getattr(message.list, filled[0])] if filled else []
    if kind in ("s", "i", "f", "b", "type", "shape"):
        return plain(kind, getattr(message, kind))
    text_format = import_module("google.protobuf.text_format")
    return text_format.MessageToString(getattr(message, kind), as_one_line=True) if kind else None


def plain(kind: str, item: Any) -> Any:
    """One value of a kind of AttrValue."""
    if kind == "s":
        return item.decode("utf-8", "replace")
    if kind == "type":
        return type_name(item)
    if kind == "shape":
        return None if item.unknown_rank else [each.size for each in item.dim]
    if kind == "f":
        numpy = import_module("numpy")
        return float(str(numpy.float32(item)))
    return item


def type_name(number: int) -> str:
    """The name of a type: `float32`; those of references end in `_ref`."""
    name: str = import_module("tensorflow.python.framework.dtypes").as_dtype(number).name
    return name


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
