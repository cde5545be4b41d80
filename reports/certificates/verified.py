"""What came of verifying a certificate."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from opcert.vocabulary.errors import ExitCode


@dataclass
class Verification:
    """What came of verifying.

    `checked` is so, `problems` are not, `unchecked` could not be looked at for want of something. `stated` is
    said by the certificate or the record, and nobody can check it: it is believed or not. `notes` are to be
    known as well. `other_version` is the opcert whose rules it would take, where that is another one. `but`
    is what must be said in one breath with `holds`.
    """

    checked: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    stated: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    other_version: str | None = None
    but: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Whether everything that can be checked was checked and is so."""
        return not self.problems and not self.unchecked and self.other_version is None

    @property
    def exit_code(self) -> ExitCode:
        """What does not hold comes before what another version has to say."""
        if self.problems or self.holds:
            return ExitCode.HOLDS if self.holds else ExitCode.DOES_NOT_HOLD
        return ExitCode.DOES_NOT_HOLD if self.other_version is None else ExitCode.OTHER_VERSION

    @property
    def answer(self) -> str:
        """All of it in a few words."""
        if self.problems:
            return "does not hold"
        if self.other_version is not None:
            return f"cannot be verified by this version: take opcert {self.other_version}"
        if self.unchecked:
            return "not verified"
        return "; ".join(["holds", *self.but])

    def to_json(self) -> dict[str, Any]:
        return {
            "answer": self.answer,
            "holds": self.holds,
            "checked": self.checked,
            "problems": self.problems,
            "unchecked": self.unchecked,
            "stated": self.stated,
            "notes": self.notes,
            "other_version": self.other_version,
        }
