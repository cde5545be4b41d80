"""Arrays as documents print them, some badly bracketed, and those in the comments of example code."""

from __future__ import annotations

import io
import math
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from specs.documents.text.documents import Line
from specs.model.spec import Source

_PRINT = re.compile(r"^print\((\w+)\)(?: \w+)?:?$")
_EXPECTED = re.compile(
    r"^expect\w*(?: (?:output|result)s?)?(?: as)?\s*:?\s*(?:(?:np\.)?array\()?$", re.IGNORECASE
)
_NAMED = re.compile(r"^(?:the content of )?(\w+)(?: is)?\s*:\s*$", re.IGNORECASE)
Kind = Literal["named", "expected", "bare"]
MOST_LINES = 2000

_BARE = re.compile(r"^(?:(?:np\.)?array\()?$")


@dataclass(frozen=True)
class Remark:
    """An array printed in a comment.

    `name` is the variable that the comment names; `expected` says that it calls the array an expected output.
    `line` (from 1) counts the lines of the code; `before` is the next line with code, None where the comment
    stands behind code in its own line.
    """

    printed: Printed
    source: Source
    line: int
    name: str | None = None
    expected: bool = False
    before: int | None = None


@dataclass(frozen=True)
class _Comment:
    text: str
    line: int
    source: Source


def read_remarks(text: str, lines: Sequence[Line]) -> list[Remark]:
    """The arrays in the comments of a code, in the order of its lines; `lines` are the document's."""
    if not any("[" in word.partition("#")[2] for word in text.split("\n")):
        return []
    remarks: list[Remark] = []
    block: list[_Comment] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                number = token.start[0]
                line = lines[min(number, len(lines)) - 1]
                comment = _Comment(token.string.lstrip("#"), number, line.source())
                if token.line[: token.start[1]].strip():
                    remarks += _remarks([comment], None)
                else:
                    block.append(comment)
            elif token.type not in (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
                remarks += _remarks(block, token.start[0])
                block = []
    except (tokenize.TokenError, SyntaxError):
        return remarks
    return remarks


def _remarks(block: Sequence[_Comment], code: int | None) -> Iterator[Remark]:
    """The arrays of comments that follow each other."""
    position = 0
    before = ""
    while position < len(block):
        comment = block[position]
        position += 1
        head, bracket, rest = comment.text.partition("[")
        text = "\n".join(["[" + rest, *(each.text for each in block[position : position + MOST_LINES])])
        found = read_printed(text) if bracket else None
        if found is None:
            before = comment.text.strip()
            continue
        position += text.count("\n", 0, found.end)
        label = _label(head.strip(), before, code is None)
        before = "" if label is not None else comment.text.strip()
        if label is not None and found.data:
            kind, name = label
            yield Remark(found, comment.source, comment.line, name, kind == "expected", code)


def _label(head: str, before: str, trailing: bool) -> tuple[Kind, str | None] | None:
    """What the words before an array say of it: a variable's name, that it is expected, nothing.

    The words stand in the same line, or in the line before where there are none. None: it is something else.
    """
    alone = _BARE.match(head) is not None
    words = before if alone else head
    printed = _PRINT.match(words)
    if printed:
        return "named", printed[1]
    if _EXPECTED.match(words):
        return "expected", None
    named = _NAMED.match(words)
    if named and not trailing:
        return "named", named[1]
    bare = alone and not trailing and "shape" not in words.lower() and not before.startswith("[")
    return ("bare", None) if bare else None


_TOKEN = re.compile(
    r"[\[\],]|[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?(?:nan|inf)\b|True\b|False\b"
)
MOST_ELEMENTS = 1_000_000
DEEPEST = 32


@dataclass(frozen=True)
class Printed:
    """An array that was printed: shape (None where the brackets are ragged), elements, how it was printed.

    `decimals` is the greatest number of digits behind a decimal point (None where all are whole numbers
    without one); `end` is the offset behind the last bracket.
    """

    shape: tuple[int, ...] | None
    data: tuple[Any, ...]
    decimals: int | None
    end: int


def read_printed(text: str, start: int = 0) -> Printed | None:
    """The array whose first bracket is the next thing in the text; None where none is, or it never ends."""
    position = start
    stack: list[list[Any]] = []
    data: list[Any] = []
    decimals: int | None = None
    while True:
        while position < len(text) and text[position].isspace():
            position += 1
        token = _TOKEN.match(text, position)
        if token is None or (not stack and token[0] != "["):
            return None
        position = token.end()
        if token[0] == "[":
            opened: list[Any] = []
            if stack:
                stack[-1].append(opened)
            stack.append(opened)
            if len(stack) > DEEPEST:
                return None
        elif token[0] == "]":
            closed = stack.pop()
            if not stack:
                return Printed(_shape(closed), tuple(data), decimals, position)
        elif token[0] != ",":
            value, digits = _number(token[0])
            stack[-1].append(value)
            data.append(value)
            if digits is not None:
                decimals = max(decimals or 0, digits)
            if len(data) > MOST_ELEMENTS:
                return None


def _number(token: str) -> tuple[Any, int | None]:
    if token in ("True", "False"):
        return token == "True", None
    if token.lstrip("+-") in ("nan", "inf"):
        return float(token), 0
    mantissa, _, exponent = token.lower().partition("e")
    whole, dot, fraction = mantissa.partition(".")
    if not dot and not exponent:
        return int(token), None
    digits = max(len(fraction) - int(exponent or 0), 0) if exponent else len(fraction)
    del whole
    return float(token), digits


def _shape(value: list[Any]) -> tuple[int, ...] | None:
    """The shape of nested lists; None where they are ragged."""
    if not any(isinstance(each, list) for each in value):
        return (len(value),)
    shapes = {_shape(each) if isinstance(each, list) else None for each in value}
    if len(shapes) != 1 or None in shapes:
        return None
    return (len(value), *(shapes.pop() or ()))


def fits(printed: Printed, shape: tuple[int, ...]) -> bool:
    """Whether the elements fill a shape, whatever the brackets say."""
    return len(printed.data) == math.prod(shape)
