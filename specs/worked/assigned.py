"""What an assignment of example code makes of its value."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from specs.relations import Step
from specs.worked.literals import LiteralReader
from specs.worked.values import UNREAD, Built, Part, Unknown, is_read


def with_slice(old: Any, index: ast.expr, value: ast.expr, part: Any, reader: LiteralReader) -> Any:
    """What an array is after an assignment to a part of it."""
    if isinstance(value, ast.Name) and isinstance(part, Unknown):
        part = Part(value.id, (), part.shape, part.dtype)
    try:
        if isinstance(part, Part) and (
            isinstance(old, Built) or (isinstance(old, np.ndarray) and not old.any())
        ):
            built = old if isinstance(old, Built) else Built(old.shape, old.dtype)
            step = Step(reader.index(index), part.name, part.index)
            return Built(built.shape, built.dtype, (*built.steps, step))
        if isinstance(old, np.ndarray) and is_read(part):
            changed = old.copy()
            changed[reader.position(index)] = part
            return changed
    except (TypeError, ValueError, IndexError):
        return UNREAD
    return UNREAD


def variable_keywords(value: ast.expr) -> dict[str, str]:
    """Keyword arguments of the computing calls that are plain variables: keyword to variable."""
    return {
        str(keyword.arg): keyword.value.id
        for node in ast.walk(value)
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if isinstance(keyword.value, ast.Name)
    }


def cast_type(value: ast.Call, reader: LiteralReader, found: Unknown) -> Unknown:
    """What is known of a computed value: the type that it is cast to."""
    if isinstance(value.func, ast.Attribute) and value.func.attr == "astype" and value.args:
        dtype = reader.read(value.args[0])
        return Unknown(None, dtype) if not isinstance(dtype, Unknown) else found
    return found
