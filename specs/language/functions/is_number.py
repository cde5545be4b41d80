"""Whether a text writes a number."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?|[+-]?inf|nan", re.IGNORECASE | re.ASCII)


def is_number(text: object) -> bool:
    """Whether it is a number in plain or scientific form, or one of INF, +INF, -INF and NaN in any case."""
    plain = text.decode(errors="replace") if isinstance(text, bytes) else str(text)
    return _NUMBER.fullmatch(plain) is not None
