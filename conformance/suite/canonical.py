"""Canonical JSON: one byte string for one value, on every machine and in every version."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

NAMES_OF_NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
"""How JSON strings write the floating-point numbers that JSON lacks."""


def canonical_json(value: Any) -> bytes:
    """ASCII JSON with sorted keys and no spaces.

    Tuples are lists; NaN and infinities are strings. Raises TypeError on what JSON cannot hold.
    """
    text = json.dumps(plain(value), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode("ascii")


def plain(value: Any) -> Any:
    """The same value in what JSON has: dictionaries, lists, strings, finite numbers, booleans, None."""
    if isinstance(value, float):
        return value if math.isfinite(value) else number_name(value)
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value


def number_name(value: float) -> str:
    """`NaN`, `Infinity` or `-Infinity`."""
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
