"""A deterministic writer of YAML: the same bytes for the same value, readable under YAML 1.1 and 1.2."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

_WIDTH = 110
_PLAIN_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./-]+)*")
_NOTHING_TO_ESCAPE = re.compile(r"[ !#-\[\]-~\u00a0-\u2027\u202a-\ud7ff]*")
_OLD_WORDS = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null"])


def dump(value: Mapping[str, Any]) -> str:
    """One YAML document: what fits into a line in flow style, the rest in blocks; ends with a newline."""
    return "\n".join(_block(value, 0)) + "\n" if value else "{}\n"


def _block(value: Any, indent: int) -> Iterator[str]:
    pad = " " * indent
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _entry(f"{pad}{_scalar(key)}:", each, indent + 2)
    else:
        for each in value:
            yield from _entry(f"{pad}-", each, indent + 2)


def _entry(head: str, value: Any, inner: int) -> Iterator[str]:
    flow = _flow(value)
    if len(head) + 1 + len(flow) <= _WIDTH or not _is_collection(value) or not value:
        yield f"{head} {flow}"
    elif isinstance(value, list | tuple) and not any(_is_collection(each) for each in value):
        yield from _wrapped(head, [_flow(each) for each in value], inner)
    elif head.endswith("-"):
        lines = _block(value, inner)
        yield f"{head} {next(lines)[inner:]}"
        yield from lines
    else:
        yield head
        yield from _block(value, inner)


def _wrapped(head: str, items: list[str], indent: int) -> Iterator[str]:
    line = f"{head} ["
    for position, item in enumerate(items):
        text = item + ("]" if position == len(items) - 1 else ",")
        if len(line) + 1 + len(text) > _WIDTH:
            yield line
            line = " " * indent + text
        else:
            line += text if line.endswith("[") else f" {text}"
    yield line


def _is_collection(value: Any) -> bool:
    return isinstance(value, Mapping | list | tuple)


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_scalar(key)}: {_flow(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_flow(each) for each in value) + "]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float(value)
    if _PLAIN_WORD.fullmatch(value) and value.lower() not in _OLD_WORDS:
        return str(value)
    if _NOTHING_TO_ESCAPE.fullmatch(value):
        return f'"{value}"'
    return '"' + "".join(_ESCAPES.get(each) or _escape(each) for each in value) + '"'


def _float(value: float) -> str:
    if math.isnan(value):
        return ".nan"
    if math.isinf(value):
        return ".inf" if value > 0 else "-.inf"
    text = repr(value)
    mantissa, mark, exponent = text.partition("e")
    if mark and "." not in mantissa:
        return f"{mantissa}.0e{exponent}"
    return text


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def _escape(letter: str) -> str:
    code = ord(letter)
    if 0x20 <= code < 0x7F or (0xA0 <= code < 0xD800 and code not in (0x2028, 0x2029)):
        return letter
    return f"\\x{code:02x}" if code < 0x100 else (f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")
