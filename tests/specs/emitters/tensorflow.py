"""Writes docstrings and table cells as TensorFlow's generator does, from the definitions of operators.

A definition has rows as `specs/documents/packages/dump_tensorflow.py` writes them: inputs, outputs,
attributes.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from opcert.vocabulary.names import OperatorName
from specs.documents.packages.dumped_rows import DumpLine
from specs.documents.text.documents import KEY
from specs.importers.package_tensorflow import read_definition
from specs.model.spec import Document, Spec

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Definition:
    """An operator's definition; `texts` is what people wrote about arguments, by name (and "" in general)."""

    name: str
    inputs: Sequence[Values]
    outputs: Sequence[Values]
    attributes: Sequence[Values]
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def inferred(self) -> dict[str, str]:
        """The attributes that inputs fix, each with the first input that does."""
        by: dict[str, str] = {}
        for each in self.inputs:
            for key in ("type_attr", "type_list_attr", "number_attr"):
                if each.get(key):
                    by.setdefault(each[key], each["name"])
        return by

    @property
    def own_attributes(self) -> list[Values]:
        """The attributes that a caller gives: those that have a default last."""
        own = [each for each in self.attributes if each["name"] not in self.inferred]
        return sorted(own, key=lambda each: "default" in each)

    def attribute(self, name: str) -> Values:
        return next(each for each in self.attributes if each["name"] == name)

    def spec(self) -> Spec:
        """The facts of the definition, read from its rows."""
        plain = [
            *({"is": "input", **each} for each in self.inputs),
            *({"is": "output", **output} for output in self.outputs),
            *({"is": "attribute", **each} for each in self.attributes),
        ]
        rows = [
            DumpLine(each["is"], number, dict(each), "definition") for number, each in enumerate(plain, 1)
        ]
        operator = OperatorName("org.tensorflow", self.name, 1)
        return read_definition(rows, operator, Document(KEY, "definition", "tensorflow-package", ""))


def emit_docstring(definition: Definition) -> str:
    """A document of the dialect `tensorflow-docstring`."""
    attributes = definition.own_attributes
    names = [each["name"] for each in (*definition.inputs, *attributes)]
    defaults = [_signed(each) for each in attributes if "default" in each]
    function = re.sub(r"(?<!^)(?=[A-Z])", "_", definition.name).lower()
    lines = [
        f"# op: {definition.name}",
        "# source: tensorflow_cpu-0.0.0 gen_ops.py line 1",
        f"# signature: {function}({', '.join([*names, 'name'])}) defaults={[*defaults, 'None']}",
        "",
        definition.texts.get("", "Does something."),
        "",
        "Args:",
    ]
    for each in definition.inputs:
        lines += _item(each["name"], tensor_phrase(definition, each, False), definition)
    for each in attributes:
        lines += _item(each["name"], attribute_phrase(each), definition)
    lines += ["  name: A name for the operation (optional).", "", "Returns:"]
    outputs = definition.outputs
    if not outputs:
        lines.append("  The created Operation.")
    elif len(outputs) == 1:
        lines.append(f"  {tensor_phrase(definition, outputs[0], True)}")
    else:
        listed = ", ".join(output["name"] for output in outputs)
        lines += [f"  A tuple of `Tensor` objects ({listed}).", ""]
        for output in outputs:
            lines += _item(output["name"], tensor_phrase(definition, output, True), definition)
    return "\n".join(lines) + "\n"


def emit_cell(definition: Definition, argument: Values, phrase: str) -> str:
    """A document of the dialect `tensorflow-fragment`: a cell of a table, backquotes turned into blanks."""
    words = f"{phrase} {definition.texts.get(argument['name'], '')}"
    words = " ".join(words.replace("`", " ").split())
    return "\n".join([argument["name"], "|", *textwrap.wrap(words, 68, break_on_hyphens=False), "|"])


def _item(name: str, phrase: str, definition: Definition) -> list[str]:
    return [
        f"  {name}: {phrase}",
        *(f"    {line}" for line in definition.texts.get(name, "").split("\n") if line),
    ]


def tensor_phrase(definition: Definition, row: Values, is_output: bool) -> str:
    """The words about the type of an input or output."""
    inferred = definition.inferred
    number, kind, types = (row.get(key) for key in ("number_attr", "type_attr", "type_list_attr"))
    if number:
        first = inferred.get(number)
        least = definition.attribute(number).get("minimum", 0)
        if first is None:
            head = f"A list of `{number}`"
        elif first == row["name"]:
            head = f"A list of at least {least}" if least > 0 else "A list of"
        else:
            head = f"A list with the same length as `{first}` of"
        head += " `Tensor` objects"
        if not kind:
            return f"{head} with type {_fixed(row['type'])}."
        if inferred.get(kind) is None:
            return f"{head} with type `{kind}`."
        if inferred[kind] != row["name"]:
            return f"{head} with the same type as `{inferred[kind]}`."
        allowed = _ticked(definition.attribute(kind).get("allowed"))
        return f"{head} with the same type in: {allowed}." if allowed else f"{head} with the same type."
    attribute = kind or types
    if not attribute:
        return f"A `Tensor` of type {_fixed(row['type'])}."
    head = "A list of `Tensor` objects" if types else "A `Tensor`"
    if inferred.get(attribute) is None:
        return f"{head} of type `{attribute}`."
    if inferred[attribute] != row["name"]:
        return f"{head}. {'Has' if is_output else 'Must have'} the same type as `{inferred[attribute]}`."
    allowed = _ticked(definition.attribute(attribute).get("allowed"))
    if not allowed:
        return f"{head}."
    return (
        f"{head} with types from: {allowed}."
        if types
        else f"{head}. Must be one of the following types: {allowed}."
    )


def _fixed(name: str) -> str:
    """A type in backquotes; that of a reference, behind which a variable can change, is called mutable."""
    return f"mutable `{name.removesuffix('_ref')}`" if name.endswith("_ref") else f"`{name}`"


def _ticked(types: Sequence[str] | None) -> str:
    return ", ".join(f"`{each}`" for each in types or ())


_WORDS = {
    "int": "`int`", "float": "`float`", "string": "`string`", "bool": "`bool`", "type": "`tf.DType`",
    "shape": "`tf.TensorShape` or list of `ints`", "tensor": "`tf.TensorProto`",
    "func": "function decorated with @Defun",
    "list(int)": "list of `ints`", "list(float)": "list of `floats`", "list(string)": "list of `strings`",
    "list(bool)": "list of `bools`", "list(type)": "list of `tf.DTypes`",
    "list(shape)": "list of shapes (each a `tf.TensorShape` or list of `ints`)",
    "list(func)": "list of functions decorated with @Defun",
}  # fmt: skip


def attribute_phrase(row: Values) -> str:
    """The words about the type, bound, values and default of an attribute."""
    words = _WORDS[row["type"]]
    optional = "default" in row
    text = f"An optional {words}" if optional else f"{'An' if words.startswith('`i') else 'A'} {words}"
    is_list = row["type"].startswith("list")
    # No list is shorter than empty.
    if "minimum" in row and (row["minimum"] or not is_list):
        text += f" that has length `>= {row['minimum']}`" if is_list else f" that is `>= {row['minimum']}`"
    if "allowed" in row:
        text += f" from: `{', '.join(_printed(each, row['type']) for each in row['allowed'])}`"
    text += "."
    return f"{text} Defaults to `{_default(row, _printed)}`." if optional else text


def _default(row: Values, show: Callable[[Any, str], str]) -> str:
    value, kind = row["default"], row["type"]
    if not kind.startswith("list("):
        return show(value, kind)
    return f"[{', '.join(show(each, kind[5:-1]) for each in value)}]"


def _printed(value: Any, kind: str) -> str:
    """A value as docstrings print it."""
    if "type" in kind:
        return f"tf.{value}"
    if "string" in kind:
        return json.dumps(value)
    if kind in ("tensor", "func"):
        return str(value)
    if kind == "float" and value in (float("inf"), float("-inf")):
        return f"float('{value}')"
    return repr(value)


def _signed(row: Values) -> str:
    """A default as the signature has it."""
    return _default(row, lambda value, kind: f"_dtypes.{value}" if "type" in kind else repr(value))
