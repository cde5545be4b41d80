"""Where a fact comes from, and what breaking a rule means: every other part of a spec speaks of these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Otherwise = Literal["error", "undefined", "implementation_defined"]
How = Literal["imported", "confirmed", "overridden", "added", "derived"]


@dataclass(frozen=True)
class Source:
    """Where a fact stands: the document's key, the line (from 1), and a column in one-line documents."""

    document: str
    line: int
    column: int | None = None


@dataclass(frozen=True)
class Origin:
    """Why a fact holds: the places that state it, or the reason that a person gave.

    A fact taken out of prose also names the rule that found it and how sure that is (0 to 1). `old` is the
    imported value that a person overrode.
    """

    how: How
    sources: tuple[Source, ...] = ()
    why: str | None = None
    rule: str | None = None
    confidence: float | None = None
    old: Any = None
