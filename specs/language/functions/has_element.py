"""Whether an input has a value, where it may be an optional."""

from __future__ import annotations

from typing import Any


def has_element(value: Any) -> bool:
    """False for what is left out, and for an optional that holds nothing."""
    return value is not None and not getattr(value, "holds_nothing", False)
