"""What a suite is to the people who read a certificate: the released one, or somebody's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Standing = Literal["released", "own", "changed"]


@dataclass(frozen=True)
class SuiteStanding:
    """Whether a suite is the one that an opcert release carries, and a sentence about it.

    `own` is a suite that no release carries, of which no case contradicts one that a release carries;
    `changed` has the name of a released one, or cases of it, and expects something else.
    """

    kind: Standing
    text: str


OWN = SuiteStanding("own", "The suite is of the certifier's own choosing: no release of opcert carries it.")
