"""Ranges of opsets as people write them: `17`, `13..21`."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator

_RANGE = re.compile(r"(\d{1,3})(?:\.\.(\d{1,3}))?", re.ASCII)


def opsets_in(text: str) -> range:
    """The opsets of a range, both ends among them; raises ValueError where it is none."""
    found = _RANGE.fullmatch(text.strip())
    if found is None:
        raise ValueError("expected an opset, or a range of them, such as 13..21")
    first, last = int(found[1]), int(found[2] or found[1])
    if last < first:
        raise ValueError(f"expected a range that does not go down, such as {last}..{first}")
    return range(first, last + 1)


def _read(value: object) -> object:
    """A range in one way of writing it; what is neither number nor text is left to the type to refuse."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        return value
    opsets = opsets_in(value)
    return str(opsets[0]) if len(opsets) == 1 else f"{opsets[0]}..{opsets[-1]}"


OpsetRange = Annotated[str, BeforeValidator(_read)]
"""One opset or a range, `13..21`."""
