"""What a suite is to the people who read a certificate: the released one, or somebody's own."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from reports.text import plural

Standing = Literal["released", "own", "changed"]


@dataclass(frozen=True)
class Departure:
    """How the cases of one operator version differ from those that the released suite has, in numbers.

    `otherwise` are cases that are in both and expect something else, `left_out` those of the released suite
    alone, `beyond` those that it does not have.
    """

    operator: str
    otherwise: int
    left_out: int
    beyond: int

    @property
    def text(self) -> str:
        """The numbers that are not 0, in words."""
        return tell_departures([self])

    def to_json(self) -> dict[str, Any]:
        return {
            "operator": self.operator,
            "otherwise": self.otherwise,
            "leftOut": self.left_out,
            "beyond": self.beyond,
        }


def tell_departures(departures: Sequence[Departure]) -> str:
    """All of them together, in words; of no departure, that no case differs."""
    otherwise, left_out, beyond = (
        sum(getattr(each, name) for each in departures) for name in ("otherwise", "left_out", "beyond")
    )
    told = [
        f"{plural(otherwise, 'case expects', 'cases expect')} something else" if otherwise else "",
        f"{plural(left_out, 'case is', 'cases are')} left out" if left_out else "",
        f"{plural(beyond, 'case is', 'cases are')} not of it" if beyond else "",
    ]
    return ", ".join(filter(None, told)) or "no case differs"


@dataclass(frozen=True)
class SuiteStanding:
    """Whether a suite is the one that an opcert release carries, and a sentence about it.

    `own` is a suite that no release carries, of which no case contradicts one that a release carries;
    `changed` has the name of a released one, or cases of it, and expects something else. `departures` are the
    operator versions whose cases are not those of the released suite.
    """

    kind: Standing
    text: str
    departures: tuple[Departure, ...] = ()

    def contradicts_release(self, operators: Collection[str]) -> list[str]:
        """In what the cases of some operator versions are not those of the released suite."""
        if self.kind == "changed" and not self.departures:
            return [self.text]
        return [
            f"{each.operator}: its cases are not those of the released suite: {each.text}"
            for each in self.departures
            if each.operator in operators
        ]

    def to_json(self) -> dict[str, Any]:
        return {
            "standing": self.kind,
            "says": self.text,
            "departures": [each.to_json() for each in self.departures],
        }


OWN = SuiteStanding("own", "The suite is of the certifier's own choosing: no release of opcert carries it.")
