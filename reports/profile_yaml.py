"""Plain YAML with the line of every key: YAML 1.2 scalars, no tags, no duplicate keys."""

from __future__ import annotations

import re
from typing import Any

import yaml

from opcert.errors import Place, UserError

Lines = dict[tuple[str | int, ...], int]
_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_DEEPEST = 20
_LONGEST = 1 << 20


def read_yaml(raw: bytes, file: str) -> tuple[Any, Lines]:
    """The value of a document and the line of each path in it; raises UserError with file and line."""
    if len(raw) > _LONGEST:
        raise UserError("the file is too large", got=f"{len(raw)} bytes", where=Place(file))
    try:
        text = raw.decode("utf-8")
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            if isinstance(event, yaml.AliasEvent):  # a few lines of them can stand for gigabytes
                raise UserError("aliases are not read here", got=f"*{event.anchor}", where=Place(file))
        node = yaml.compose(text, Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark is not None else None
        problem = getattr(error, "problem", None) or str(error)
        raise UserError("not YAML", got=problem, where=Place(file, line)) from error
    lines: Lines = {}
    return (None if node is None else _value(node, file, (), lines)), lines


def _value(node: yaml.Node, file: str, path: tuple[str | int, ...], lines: Lines) -> Any:
    line = node.start_mark.line + 1
    lines.setdefault(path, line)
    if len(path) > _DEEPEST:
        raise UserError("the document is nested too deeply", where=Place(file, line))
    if isinstance(node, yaml.MappingNode):
        found: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = str(key_node.value) if isinstance(key_node, yaml.ScalarNode) else None
            at = Place(file, key_node.start_mark.line + 1)
            if key is None or key in found:
                problem = "a key that is no word" if key is None else "the key stands twice"
                raise UserError(problem, got=key, where=at)
            lines[(*path, key)] = key_node.start_mark.line + 1
            found[key] = _value(value_node, file, (*path, key), lines)
        return found
    if isinstance(node, yaml.SequenceNode):
        return [_value(each, file, (*path, number), lines) for number, each in enumerate(node.value)]
    return _scalar(node)


def _scalar(node: yaml.Node) -> Any:
    text = str(node.value)
    if getattr(node, "style", None):  # quoted or a block: always text
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text
