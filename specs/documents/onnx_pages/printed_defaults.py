"""Defaults as ONNX's Markdown prints them: numbers, words, and Python lists."""

from __future__ import annotations

import ast
import re
from typing import Any

from specs.documents.onnx_pages.page_parts import ListedItem
from specs.documents.prose.defaults import FoundDefault
from specs.model.spec import Origin

_SMALL = re.compile(r"(?:^|_)eps(?:ilon)?$")
"""What keeps divisors from being zero is never zero: it is printed so because five decimals are kept."""


def read_default(item: ListedItem) -> FoundDefault:
    """The printed default of an attribute by its type; `undecodable` where the text does not fit the type."""
    text = item.default or ""
    value = _decode(text, item.kind)
    if value is None or (value == 0 and _SMALL.search(item.name)):
        return FoundDefault(None, None, text)
    return FoundDefault(value, Origin("imported", (item.line.source(),), None, "printed-default", 1.0))


def _decode(text: str, kind: str | None) -> Any:
    if kind == "string":
        return text
    try:
        value = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    if kind == "int":
        return value if isinstance(value, int) and not isinstance(value, bool) else None
    if kind == "float":
        return float(value) if isinstance(value, int | float) else None
    if kind in ("ints", "floats", "strings") and isinstance(value, list):
        return _items(value, kind)
    return None


def _items(value: list[Any], kind: str) -> list[Any] | None:
    """The items of a list; numbers may stand in quotes."""
    if kind == "strings":
        return value if all(isinstance(each, str) for each in value) else None
    number = int if kind == "ints" else float
    try:
        return [number(each) for each in value]
    except (ValueError, TypeError):
        return None
