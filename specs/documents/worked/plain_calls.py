"""Python's own functions that example code may call on values that were read."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from specs.documents.worked.example_values import UNREAD, is_read

MOST_ITEMS = 64
"""The longest list that a loop or a comprehension goes through."""


def _range(*bounds: Any) -> Any:
    items = range(*bounds)
    return list(items) if len(items) <= MOST_ITEMS else UNREAD


def _list(value: Any) -> Any:
    return list(value) if isinstance(value, list | dict) else UNREAD


def _number(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def call(value: Any) -> Any:
        scalar = getattr(value, "shape", None) == () and is_read(value)
        return convert(value) if isinstance(value, int | float) or scalar else UNREAD

    return call


def _len(value: Any) -> Any:
    return len(value) if isinstance(value, list | dict | str) else UNREAD


def _text(value: Any) -> Any:
    return str(value) if isinstance(value, str | int | float) else UNREAD


def _absolute(value: Any) -> Any:
    return abs(value) if isinstance(value, int | float) else UNREAD


def _enumerate(value: Any) -> Any:
    return [[position, each] for position, each in enumerate(value)] if isinstance(value, list) else UNREAD


def _zip(*values: Any) -> Any:
    if any(not isinstance(each, list) for each in values):
        return UNREAD
    return [list(each) for each in zip(*values, strict=False)]


def _product(*values: Any) -> Any:
    return _combined(itertools.product(*map(_items, values)))


def _permutations(value: Any) -> Any:
    return _combined(itertools.permutations(_items(value)))


def _items(value: Any) -> list[Any]:
    """The items of a list or of an array of one axis; raises TypeError on anything else."""
    if isinstance(value, np.ndarray) and value.ndim == 1:
        return list(value.tolist())
    if not isinstance(value, list):
        raise TypeError("not a list")
    return value


def _combined(items: Iterable[tuple[Any, ...]]) -> Any:
    found = [list(each) for each in itertools.islice(items, MOST_ITEMS + 1)]
    return found if len(found) <= MOST_ITEMS else UNREAD


ITERTOOLS: dict[str, Callable[..., Any]] = {"product": _product, "permutations": _permutations}
PLAIN_CALLS: dict[str, Callable[..., Any]] = {
    "abs": _absolute,
    "enumerate": _enumerate,
    "float": _number(float),
    "int": _number(int),
    "len": _len,
    "list": _list,
    "range": _range,
    "str": _text,
    "tuple": _list,
    "zip": _zip,
}
PLAIN_METHODS: dict[str, Callable[[dict[Any, Any]], Any]] = {
    "items": lambda value: [[key, each] for key, each in value.items()],
    "keys": lambda value: list(value),
    "values": lambda value: list(value.values()),
}
