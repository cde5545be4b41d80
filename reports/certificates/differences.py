"""Where two JSON values differ, in lines that people can read."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from opcert.vocabulary.harmless import one_line

_MISSING = object()
_MOST = 20


def find_differences(stated: Any, found: Any, path: str = "", ignored: Collection[str] = ()) -> Iterator[str]:
    """`counts.pass: stated 10, found 9` for each place where the two differ, at most 20.

    `ignored` are places, by their path, that may differ.
    """
    for number, each in enumerate(_differences(stated, found, path, frozenset(ignored))):
        if number == _MOST:
            yield "and more"
            return
        yield each


def _differences(stated: Any, found: Any, path: str, ignored: frozenset[str]) -> Iterator[str]:
    if path in ignored:
        return
    if isinstance(stated, Mapping) and isinstance(found, Mapping):
        for name in sorted({*map(str, stated), *map(str, found)}):
            below = f"{path}.{name}" if path else name
            yield from _differences(stated.get(name, _MISSING), found.get(name, _MISSING), below, ignored)
    elif isinstance(stated, list) and isinstance(found, list) and len(stated) == len(found):
        for number, (one, other) in enumerate(zip(stated, found, strict=True)):
            yield from _differences(one, other, f"{path}[{number}]", ignored)
    elif type(stated) is not type(found) or stated != found:
        yield f"{one_line(path)}: stated {_text(stated)}, found {_text(found)}"


def _text(value: Any) -> str:
    if value is _MISSING:
        return "nothing"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return one_line(str(value))
