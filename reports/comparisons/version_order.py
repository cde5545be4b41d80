"""The order of a runtime's versions, as its people count them: numbers by value, pre-releases first."""

from __future__ import annotations

import re

VersionKey = tuple[tuple[int, int, str], ...]
_PART = re.compile(r"[0-9]{1,18}|[a-z]+")
_BEFORE = ("dev", "nightly", "snapshot", "preview", "pre", "a", "alpha", "b", "beta", "c", "rc")
"""Words of versions that come before the one without them, in their order."""
_AFTER = ("post", "rev", "r", "p", "patch")
_WORD, _END, _LATER, _NUMBER = 1, 2, 3, 4


def version_key(text: str) -> VersionKey:
    """What versions are sorted by: 1.9 < 1.10rc1 < 1.10 < 1.10.post1 < 1.10.1.

    What follows a `+` counts last; a text that begins with no number comes before all that do.
    """
    public, _, local = text.strip().lower().removeprefix("v").partition("+")
    return (*_parts(public), (_END, 0, ""), *_parts(local))


def _parts(text: str) -> list[tuple[int, int, str]]:
    return [_part(each) for each in _PART.findall(text)]


def _part(text: str) -> tuple[int, int, str]:
    if text.isdigit():
        return _NUMBER, int(text), ""
    if text in _BEFORE:
        return 0, _BEFORE.index(text), ""
    return (_LATER, 0, "") if text in _AFTER else (_WORD, 0, text)
