"""Example code of ONNX pages: the calls that it makes, read from its syntax tree and its comments."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Sequence

from specs.documents.text.documents import Line
from specs.documents.worked.example_calls import Code
from specs.documents.worked.example_statements import StatementReader


def read_code(lines: Sequence[Line]) -> Code:
    """The calls of an example; code that does not parse is tried again with its indentation mended."""
    text = textwrap.dedent("\n".join(each.text for each in lines))
    try:
        return _read(text, lines)
    except IndentationError as error:
        line = lines[min(max((error.lineno or 1) - 1, 0), len(lines) - 1)]
        mended = _mend_indentation(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        number = getattr(error, "lineno", 1) or 1
        return Code([], error=(str(error), lines[min(number, len(lines)) - 1]))
    try:
        code = _read(mended, lines)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Code([], error=(str(error), line))
    code.indentation = line
    return code


def _read(text: str, lines: Sequence[Line]) -> Code:
    reader = StatementReader(text, lines)
    reader.read(ast.parse(text))
    return Code(reader.calls, reader.unread)


def _mend_indentation(text: str) -> str:
    """The code with the lines behind its imports moved to the margin."""
    lines = text.split("\n")
    first = next((position for position, each in enumerate(lines) if each[:1] in (" ", "\t")), len(lines))
    body = lines[first:]
    depth = min((len(each) - len(each.lstrip()) for each in body if each[:1] == " "), default=0)
    return "\n".join([*lines[:first], *(each[depth:] if each[:1] == " " else each for each in body)])
