"""Excuses: what a profile's waivers and a baseline say of failing cases. They change no verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Literal

Standing = Literal["waiver", "baseline", "expired", "no"]
STANDINGS: Mapping[Standing, str] = {
    "waiver": "waived by the profile",
    "baseline": "known to the baseline",
    "expired": "excused until a day that is over",
    "no": "excused by nothing",
}
"""What can be said of a failing case where a run is held against a profile or a baseline; one each."""


@dataclass(frozen=True)
class Excuse:
    """A waiver or an entry of a baseline that names failing cases; an expired one excuses them no more."""

    source: Literal["waiver", "baseline"]
    reason: str
    link: str
    expires: date
    expired: bool

    @property
    def standing(self) -> Standing:
        return "expired" if self.expired else self.source

    @property
    def mark(self) -> str:
        """The same beside a verdict, as short as can be."""
        words = "waived" if self.source == "waiver" else "known"
        return f"no longer {words}" if self.expired else words

    @property
    def sentence(self) -> str:
        """`Waived until 2027-01-31: the reason`."""
        words = "Waived" if self.source == "waiver" else "Known"
        until = "until" if not self.expired else "only until"
        said = f"{words} {until} {self.expires.isoformat()}{', which is over' * self.expired}"
        return f"{said}: {self.reason}" if self.reason else said

    def beside(self, heading: str) -> Excuse:
        """The excuse as it is said beside a cause's heading: its reason is not said again."""
        return replace(self, reason="") if self.reason == heading else self

    @property
    def address(self) -> str:
        """The link, where it is one that a page may lead to."""
        return self.link if self.link.startswith(("https://", "http://")) else ""


@dataclass(frozen=True)
class Excuses:
    """What a run was held against, in words, and the excuse of each failing case, or fault, that has one."""

    against: tuple[str, ...] = ()
    by_name: Mapping[str, Excuse] = field(default_factory=dict)

    def standing(self, name: str) -> Standing:
        """What is to be said of a failing case."""
        found = self.by_name.get(name)
        return "no" if found is None else found.standing
