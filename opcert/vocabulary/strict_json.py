"""JSON from strangers: what JSON itself allows, each key once, and no deeper than anything of ours goes."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

if TYPE_CHECKING:
    from pydantic import TypeAdapter

DEEPEST = 64
Kind = TypeVar("Kind")


def parse_json(text: str | bytes) -> Any:
    """The value of a JSON text; bytes are UTF-8.

    Raises ValueError on anything else, on a key that stands twice in an object, on NaN and infinities (also
    as `1e999`), and on values nested more than 64 deep.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8")
    try:
        found = _decode(text)
    except RecursionError:
        raise ValueError(f"nested more than {DEEPEST} deep") from None
    # No value is deeper than its text has brackets, and most texts have few.
    if text.count("[") + text.count("{") > DEEPEST and _is_deep(found):
        raise ValueError(f"nested more than {DEEPEST} deep")
    return found


def read_plain(kind: type[Kind], content: Any) -> Kind:
    """The value of a dataclass whose fields JSON has, as `asdict` has them; keys beyond these are left out.

    Raises ValueError where one is missing, or is of another type.
    """
    from pydantic import ValidationError

    adapted: Any = kind
    try:
        found: Kind = _adapter(adapted).validate_python(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or kind.__name__
        raise ValueError(f"{place}: {first['msg']}") from error
    return found


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    # Imported here, because hardly any file comes to this.
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _decode(text: str) -> Any:
    # Nearly every text of ours is a value without space around it.
    try:
        found, end = DECODER.raw_decode(text)
    except json.JSONDecodeError:
        return DECODER.decode(text)
    return found if end == len(text) else DECODER.decode(text)


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice[:100]!a} stands twice in an object")
    return found


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{digits[:40]} is greater than any number")
    return number


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        deeper: list[Any] = []
        for each in level:
            if isinstance(each, dict):
                deeper.extend(each.values())
            elif isinstance(each, list):
                deeper.extend(each)
        if not deeper:
            return False
        level = [each for each in deeper if isinstance(each, dict | list)]
    return bool(level)


DECODER = json.JSONDecoder(object_pairs_hook=_each_key_once, parse_constant=_no_number, parse_float=_finite)
"""What `parse_json` reads with, for a text of several values; it does not look at their depth."""
