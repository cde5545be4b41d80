"""Arrays as documents print them: with or without commas, over several lines, sometimes badly bracketed."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

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
