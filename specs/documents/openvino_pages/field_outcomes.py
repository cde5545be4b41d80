"""What became of each field of a page: read, stated to be absent, left open, or not understood."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from specs.documents.text.documents import KeepsFindings, Line
from specs.model.spec import Finding

State = Literal["read", "none", "open", "unread"]
"""`none`: the page says that there is no such thing; `open`: it leaves that to what is supported."""


@dataclass(frozen=True)
class FieldOutcome:
    """One field: its kind (`attribute type`), what it belongs to, its line, its words, what became of it."""

    field: str
    about: str
    line: int
    text: str
    state: State


@dataclass
class Notes(KeepsFindings):
    """What a reader writes down beside the facts: outcomes and findings."""

    outcomes: list[FieldOutcome] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def field(self, name: str, about: str, line: Line, text: str, state: State) -> None:
        self.outcomes.append(FieldOutcome(name, about, line.number, text, state))
