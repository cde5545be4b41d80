"""YAML 1.2 in a strict subset, read with the line of every value.

Strict: no anchors, aliases, tags or merge keys, no duplicate keys, bounded size and depth. Scalars follow the
core schema of YAML 1.2: `NO` and `on` are strings, `1e-3` and `0o17` are numbers.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from opcert.vocabulary.errors import Place, SeveralErrors, UserError
from opcert.vocabulary.regular_files import read_regular

MOST_BYTES = 64 * 1024 * 1024
DEEPEST = 64
_DIGITS_AT_MOST = 400
Path_ = tuple[str | int, ...]

_NULL = re.compile(r"~|null|Null|NULL|")
_BOOLEAN = re.compile(r"true|True|TRUE|false|False|FALSE")
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_INFINITY = re.compile(r"([-+]?)\.(?:inf|Inf|INF)")
_NAN = re.compile(r"\.(?:nan|NaN|NAN)")


@dataclass
class YamlDocument:
    """One document of a YAML file: its value, and the line and column of each value by its path."""

    value: Any
    file: str
    places: dict[Path_, tuple[int, int]] = field(default_factory=dict)

    def place(self, path: Path_) -> Place:
        """Where a value stands; the nearest one that holds it, where the value itself does not exist."""
        key = key_path(path)
        while path and path not in self.places:
            path = path[:-1]
        line, column = self.places.get(path, (1, 1))
        return Place(self.file, line, column, key or None)


def key_path(path: Path_) -> str:
    """A path as people write it: `constraints[2].when`."""
    text = ""
    for each in path:
        text += f"[{each}]" if isinstance(each, int) else (f".{each}" if text else each)
    return text


def load_file(path: Path, name: str | None = None) -> list[YamlDocument]:
    """The documents of a YAML file; UserError where it cannot be read, SeveralErrors where it is wrong."""
    shown = name or str(path)
    try:
        raw = read_regular(path, MOST_BYTES)
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror}", where=Place(shown)) from None
    return load_bytes(raw, shown)


def load_bytes(raw: bytes, file: str) -> list[YamlDocument]:
    """The documents of a file's bytes; UserError where they are no text, SeveralErrors as of `load`."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UserError(
            "not a text file", got=f"bytes that are not UTF-8 at {error.start}", where=Place(file)
        ) from None
    return load(text, file)


def load(text: str, file: str) -> list[YamlDocument]:
    """The documents of a YAML text; raises SeveralErrors with every duplicate key, anchor and tag in it."""
    parser = _Parser(file)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for event in yaml.parse(text, Loader=loader):
            parser.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = Place(file, mark.line + 1, mark.column + 1) if mark else Place(file)
        parser.errors.append(UserError(f"not YAML: {error.problem or error.context}", where=where))
    except yaml.YAMLError as error:
        parser.errors.append(UserError(f"not YAML: {error}", where=Place(file)))
    if parser.errors:
        raise SeveralErrors(parser.errors)
    return parser.documents


@dataclass
class _Open:
    """A collection whose end has not come yet."""

    items: dict[str, Any] | list[Any]
    path: Path_
    key: str | None = None
    duplicate: bool = False


class _Parser:
    """Builds values from the parser's events with a stack of its own, so that no depth can break it."""

    def __init__(self, file: str) -> None:
        self.documents: list[YamlDocument] = []
        self.errors: list[UserError] = []
        self._file = file
        self._stack: list[_Open] = []

    def take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.DocumentStartEvent):
            self.documents.append(YamlDocument(None, self._file))
        elif isinstance(event, yaml.AliasEvent):
            self._error(event, "alias", "aliases are not allowed: write the value again")
            self._add(None, event)
        elif isinstance(event, yaml.ScalarEvent):
            self._check_node(event)
            self._scalar(event)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self._check_node(event)
            items: dict[str, Any] | list[Any] = {} if isinstance(event, yaml.MappingStartEvent) else []
            opened = _Open(items, self._next_path())
            self._add(items, event)
            self._stack.append(opened)
            if len(self._stack) > DEEPEST:
                raise yaml.YAMLError(f"nested more than {DEEPEST} levels deep")
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self._stack.pop()

    def _check_node(self, event: Any) -> None:
        if event.anchor is not None:
            self._error(event, f"&{event.anchor}", "anchors are not allowed")
        if event.tag is not None and event.tag != "!":
            self._error(event, event.tag, "tags are not allowed")

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        top = self._stack[-1] if self._stack else None
        if top is not None and isinstance(top.items, dict) and top.key is None:
            top.key = event.value
            top.duplicate = event.value in top.items
            if top.duplicate:
                self._error(event, repr(event.value), "this key stands in the same mapping already")
            return
        self._add(event.value if event.style else self._plain(event), event)

    def _plain(self, event: yaml.ScalarEvent) -> Any:
        text = event.value
        if _NULL.fullmatch(text):
            return None
        if _BOOLEAN.fullmatch(text):
            return text[0] in "tT"
        if len(text) > _DIGITS_AT_MOST:
            return text
        if _INTEGER.fullmatch(text):
            return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
        if _FLOAT.fullmatch(text):
            return float(text)
        if found := _INFINITY.fullmatch(text):
            return -math.inf if found[1] == "-" else math.inf
        return math.nan if _NAN.fullmatch(text) else text

    def _next_path(self) -> Path_:
        if not self._stack:
            return ()
        top = self._stack[-1]
        return (*top.path, len(top.items) if isinstance(top.items, list) else str(top.key))

    def _add(self, value: Any, event: yaml.Event) -> None:
        path = self._next_path()
        mark = _start(event)
        if not self._stack:
            self.documents[-1].value = value
        else:
            top = self._stack[-1]
            if isinstance(top.items, list):
                top.items.append(value)
            elif top.key is None:
                raise yaml.MarkedYAMLError(problem="a key must be a plain word", problem_mark=mark)
            else:
                if not top.duplicate:
                    top.items[top.key] = value
                top.key = None
        self.documents[-1].places.setdefault(path, (mark.line + 1, mark.column + 1))

    def _error(self, event: yaml.Event, got: str, problem: str) -> None:
        mark = _start(event)
        self.errors.append(
            UserError(problem, got=got, where=Place(self._file, mark.line + 1, mark.column + 1))
        )


def _start(event: yaml.Event) -> Any:
    """Where an event begins; every event of a parser has a mark."""
    return event.start_mark
