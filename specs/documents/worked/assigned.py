"""What statements of example code make of their values, and what those may change that are not read."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

import numpy as np

from specs.documents.worked.example_values import UNREAD, Built, SliceOfUnknown, UnknownValue, is_read
from specs.documents.worked.literals import LiteralReader
from specs.model.relations import Assignment


def with_slice(old: Any, index: ast.expr, value: ast.expr, part: Any, reader: LiteralReader) -> Any:
    """What an array is after an assignment to a part of it."""
    if isinstance(value, ast.Name) and isinstance(part, UnknownValue):
        part = SliceOfUnknown(value.id, (), part.shape, part.dtype)
    try:
        if isinstance(part, SliceOfUnknown) and (
            isinstance(old, Built) or (isinstance(old, np.ndarray) and not old.any())
        ):
            built = old if isinstance(old, Built) else Built(old.shape, old.dtype)
            step = Assignment(reader.index(index), part.name, part.index)
            return Built(built.shape, built.dtype, (*built.steps, step))
        if isinstance(old, np.ndarray) and is_read(part):
            changed = old.copy()
            changed[reader.position(index)] = part
            return changed
    except (TypeError, ValueError, IndexError):
        return UNREAD
    return UNREAD


def variable_keywords(value: ast.expr | None) -> dict[str, str]:
    """Keyword arguments of the computing calls that are plain variables: keyword to variable."""
    return {
        str(keyword.arg): keyword.value.id
        for node in (() if value is None else ast.walk(value))
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if isinstance(keyword.value, ast.Name)
    }


def cast_type(value: ast.Call, reader: LiteralReader, found: UnknownValue) -> UnknownValue:
    """What is known of a computed value: the type that it is cast to."""
    if isinstance(value.func, ast.Attribute) and value.func.attr == "astype" and value.args:
        dtype = reader.read(value.args[0])
        return UnknownValue(None, dtype) if not isinstance(dtype, UnknownValue) else found
    return found


@dataclass(frozen=True)
class Effects:
    """What a statement may do: names that it assigns, or whose values it changes, and calls of `expect`."""

    assigned: tuple[str, ...]
    changed: tuple[str, ...]
    calls: tuple[ast.Call, ...]


def find_effects(node: ast.AST) -> Effects:
    """The effects of everything in a statement, whether it would run or not."""
    assigned: list[str] = []
    changed: list[str] = []
    calls: list[ast.Call] = []
    for each in ast.walk(node):
        match each:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                assigned.append(name)
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()):
                changed.append(name)
            case ast.Attribute(value=ast.Name(id=name), ctx=ast.Store()):
                changed.append(name)
            case ast.Call(func=ast.Name(id="expect")):
                calls.append(each)
    return Effects(tuple(dict.fromkeys(assigned)), tuple(dict.fromkeys(changed)), tuple(calls))
