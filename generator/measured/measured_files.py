"""What was measured of an operator version, in a JSON file of its own that says of which format it is."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from lzma import LZMAError
from pathlib import Path
from typing import Any, TypeVar

from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.packed_files import read_packed

Found = TypeVar("Found")
_DAMAGED = (OSError, ValueError, KeyError, TypeError, AttributeError, EOFError, LZMAError)
"""What reading a file raises that is missing a part, or holds something else."""


def _made_of(raw: dict[str, Any], form: str, make: Callable[[dict[str, Any]], Found]) -> Found:
    """What `make` makes of the content; one of _DAMAGED where it is not of that format, or not whole."""
    if raw.pop("format") != form:
        raise ValueError("not of this format")
    return make(raw)


def read_measured_file(
    path: Path,
    form: str,
    make: Callable[[dict[str, Any]], Found],
    what: str,
    remedy: str,
    packed: Path | None = None,
) -> Found | None:
    """The content of a file; None where there is none. UserError where it is damaged; `what` names it.

    `packed` is what a wheel has instead of such files, by domain, room and name.
    """
    source = path
    try:
        if path.is_file():
            return _made_of(json.loads(path.read_text(encoding="utf-8")), form, make)
        if packed is None or not packed.is_file():
            return None
        source = packed
        content = _packed_content(packed, "/".join(path.parts[-3:]))
        return None if content is None else _made_of(content, form, make)
    except _DAMAGED as error:
        raise UserError(
            f"{what} cannot be read", got=str(error), expected=form, where=Place(str(source)), remedy=remedy
        ) from error


def _packed_content(packed: Path, name: str) -> dict[str, Any] | None:
    """The content of a packed file, to be changed at will; None where there is none of that name."""
    try:
        return dict(read_packed(packed, name))
    except KeyError:
        return None


def measured_json(form: str, content: Mapping[str, Any]) -> str:
    """The text of such a file."""
    return json.dumps({"format": form, **content}, indent=1, sort_keys=True) + "\n"
