"""Values that hold for some versions of an operator: `{..13: a, 18..: b}`, entries with `since`, `until`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from opcert.vocabulary.errors import UserError

BOUNDS = ("since", "until")
"""The keys by which an entry of a list is one of some versions; they are used up when a version is read."""
_RANGE = re.compile(r"(\d*)\.\.(\d*)")


class _Absent:
    """What a value is in a version that it does not speak of."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()


def in_range(text: str | int, version: int) -> bool:
    """Whether a version lies in a range such as `7..`, `..12`, `7..12` or `18`; UserError for other texts."""
    if isinstance(text, int) or text.strip().isdecimal():
        return int(text) == version
    found = _RANGE.fullmatch(text.strip())
    if found is None:
        raise UserError("not a range of versions", got=repr(text), expected="such as 7.., 7..12 or ..12")
    low, high = found[1], found[2]
    return (not low or version >= int(low)) and (not high or version <= int(high))


def is_by_version(value: Any) -> bool:
    """Whether a value is a mapping from ranges of versions to values."""
    return isinstance(value, Mapping) and bool(value) and all(map(_is_range, value))


def key_of_version(value: Mapping[str, Any], version: int) -> str | None:
    """The range of such a mapping that holds a version; None where none does, UserError where two do."""
    found = [each for each in value if in_range(each, version)]
    if len(found) > 1:
        raise UserError(
            f"two of the ranges hold version {version}", got=" and ".join(found), expected="one that does"
        )
    return found[0] if found else None


def applies(entry: Mapping[str, Any], version: int) -> bool:
    """Whether an entry with `since` and `until`, both of which may be missing, is one of a version."""
    for name in BOUNDS:
        bound = entry.get(name)
        if bound is not None and (not isinstance(bound, int) or isinstance(bound, bool)):
            raise UserError(f"`{name}` is a version", got=repr(bound), expected="a whole number")
    since, until = (entry.get(name) for name in BOUNDS)
    return (since is None or version >= since) and (until is None or version <= until)


def _is_range(key: Any) -> bool:
    return isinstance(key, str) and (key.isdecimal() or (key != ".." and _RANGE.fullmatch(key) is not None))
