"""Values of known types as bytes, for what comes from a machine that is not trusted.

The reader says what type it wants, and takes nothing else: no bytes name a class or a function, and nothing
in them is executed. Types are None, bool, int, float, str, bytes, literals, tuples, sequences, mappings by
text, unions, dataclasses of these, and `Any` for plain JSON. The bytes are a line of JSON with the value and
the lengths of the pieces of bytes that stand behind it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from opcert.vocabulary.strict_json import parse_json

LARGEST = 1 << 30
"""Bytes of a value, all pieces together."""
_LONGEST_HEAD = 1 << 28
_PLAIN = (bool, int, float, str, NoneType)


def write_value(value: Any, kind: Any, about: str = "") -> bytes:
    """A value of a type as bytes, with a text that whoever reads it expects.

    Raises TypeError where it is not of the type, ValueError where it is too large or holds what JSON lacks.
    """
    pieces: list[bytes] = []
    head = {"about": about, "value": _written(value, kind, pieces), "pieces": [len(each) for each in pieces]}
    line = json.dumps(head, separators=(",", ":"), allow_nan=False).encode("ascii")
    if len(line) > _LONGEST_HEAD or len(line) + sum(map(len, pieces)) >= LARGEST:
        raise ValueError(f"more than {LARGEST} bytes")
    return b"".join((line, b"\n", *pieces))


def read_value(raw: Any, kind: Any, about: str = "") -> Any:
    """The inverse. Raises ValueError, saying what is wrong, on anything that `write_value` does not write."""
    if type(raw) is not bytes:
        raise ValueError(f"no bytes, but {type(raw).__name__}")
    if len(raw) > LARGEST:
        raise ValueError(f"{len(raw)} bytes, which are more than {LARGEST}")
    end = raw.find(b"\n", 0, _LONGEST_HEAD + 1)
    if end < 0:
        raise ValueError("no line at the beginning")
    head = parse_json(raw[:end])
    if not isinstance(head, dict) or head.keys() != {"about", "value", "pieces"}:
        raise ValueError("the first line is of another form")
    if head["about"] != about:
        raise ValueError("it is about something else than what was asked for")
    lengths = head["pieces"]
    if not isinstance(lengths, list) or any(type(each) is not int or each < 0 for each in lengths):
        raise ValueError("the lengths of its pieces are none")
    if sum(lengths) != len(raw) - end - 1:
        raise ValueError(f"{len(raw) - end - 1} bytes of pieces, and the first line says {sum(lengths)}")
    pieces, begin = [], end + 1
    for length in lengths:
        pieces.append(raw[begin : begin + length])
        begin += length
    return _read(head["value"], kind, pieces)


@cache
def _hints(kind: type[Any]) -> dict[str, Any]:
    """The fields that a dataclass is made of, with their types."""
    hints = get_type_hints(kind)
    return {each.name: hints[each.name] for each in fields(kind) if each.init}


def _is_mapping(kind: Any) -> bool:
    origin = get_origin(kind)
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _item_of(kind: Any) -> Any:
    """What each item of a sequence of any length is; None where the type is no such sequence."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is tuple:
        return arguments[0] if len(arguments) == 2 and arguments[1] is Ellipsis else None
    return arguments[0] if isinstance(origin, type) and issubclass(origin, Sequence) else None


def _written(value: Any, kind: Any, pieces: list[bytes]) -> Any:
    if kind is Any:
        return _plain(value)
    if kind in (None, NoneType):
        _demand(value is None, value, kind)
        return None
    if kind in _PLAIN:
        _demand(type(value) is kind, value, kind)
        return value
    if kind is bytes:
        _demand(type(value) is bytes, value, kind)
        pieces.append(value)
        return len(pieces) - 1
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        _demand(value in arguments, value, kind)
        return value
    if origin in (Union, UnionType):
        for number, each in enumerate(arguments):
            if _fits(value, each):
                return [number, _written(value, each, pieces)]
        raise TypeError(f"a {type(value).__name__} is none of {kind}")
    if is_dataclass(kind):
        assert isinstance(kind, type)
        _demand(type(value) is kind, value, kind)
        return [_written(getattr(value, name), each, pieces) for name, each in _hints(kind).items()]
    if _is_mapping(kind):
        _demand(isinstance(value, Mapping) and all(type(each) is str for each in value), value, kind)
        return {name: _written(each, arguments[1], pieces) for name, each in value.items()}
    item = _item_of(kind)
    _demand(isinstance(value, Sequence) and not isinstance(value, str | bytes), value, kind)
    if item is None:
        return [_written(each, one, pieces) for each, one in zip(value, arguments, strict=True)]
    return [_written(each, item, pieces) for each in value]


def _fits(value: Any, kind: Any) -> bool:
    """Whether a value is of one type of a union, as far as it tells it from the others."""
    if kind in (None, NoneType):
        return value is None
    known = get_origin(kind) or kind
    if known is Literal:
        return value in get_args(kind)
    return known is Any or (type(value) is known if known in (*_PLAIN, bytes) else isinstance(value, known))


def _read(said: Any, kind: Any, pieces: list[bytes]) -> Any:
    if kind is Any:
        return said
    if kind in (None, NoneType):
        return _taken(said, said is None, kind)
    if kind in _PLAIN:
        return _taken(said, type(said) is kind, kind)
    if kind is bytes:
        return pieces[_taken(said, type(said) is int and 0 <= said < len(pieces), kind)]
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return _taken(said, any(type(said) is type(each) and said == each for each in arguments), kind)
    if origin in (Union, UnionType):
        _taken(said, isinstance(said, list) and len(said) == 2 and type(said[0]) is int, kind)
        _taken(said, 0 <= said[0] < len(arguments), kind)
        return _read(said[1], arguments[said[0]], pieces)
    if is_dataclass(kind):
        assert isinstance(kind, type)
        hints = _hints(kind)
        _taken(said, isinstance(said, list) and len(said) == len(hints), kind)
        return kind(*(_read(each, hint, pieces) for each, hint in zip(said, hints.values(), strict=True)))
    if _is_mapping(kind):
        _taken(said, isinstance(said, dict), kind)
        return {name: _read(each, arguments[1], pieces) for name, each in said.items()}
    item = _item_of(kind)
    _taken(said, isinstance(said, list), kind)
    if item is not None:
        return tuple(_read(each, item, pieces) for each in said)
    _taken(said, len(said) == len(arguments), kind)
    return tuple(_read(each, one, pieces) for each, one in zip(said, arguments, strict=True))


def _plain(value: Any) -> Any:
    """A value as JSON holds it; TypeError where it does not."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, Mapping) and all(type(each) is str for each in value):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    raise TypeError(f"a {type(value).__name__} is no JSON")


def _demand(holds: bool, value: Any, kind: Any) -> None:
    if not holds:
        raise TypeError(f"a {type(value).__name__} is no {kind}")


def _taken(said: Any, holds: bool, kind: Any) -> Any:
    if not holds:
        raise ValueError(f"{ascii(said)[:80]} where {getattr(kind, '__name__', kind)} should be")
    return said
