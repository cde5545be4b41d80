"""What a suite is to its readers: released, a part or somebody's own; and how far its cases are trusted."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from reports.text.phrasing import count, plural

Standing = Literal["released", "part", "own", "changed"]


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
        sum(getattr(departure, name) for departure in departures)
        for name in ("otherwise", "left_out", "beyond")
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

    `part` has cases of the released one and no others; `own` is a suite that no release carries, of which no
    case contradicts one that a release carries; `changed` has the name of a released one, or cases of it, and
    expects something else. `departures` are the operator versions whose cases are not those of the released
    suite. `cases` are how many the suite has, `released` how many that one has; 0 where nobody counted.
    `arithmetic` says in words what float may be computed as, where that is not float32.
    """

    kind: Standing
    text: str
    departures: tuple[Departure, ...] = ()
    cases: int = 0
    released: int = 0
    arithmetic: str | None = None

    @property
    def shared(self) -> int:
        """How many of its cases are those of the released suite."""
        return max(
            self.cases - sum(departure.otherwise + departure.beyond for departure in self.departures), 0
        )

    @property
    def is_released(self) -> bool:
        """Whether it is the released suite to the byte, whose figures hold of it."""
        return self.kind == "released" and self.arithmetic is None

    @property
    def label(self) -> str:
        """What a badge has to add, in a few words; nothing for the released suite."""
        return ", ".join(filter(None, (self._of_release, self.arithmetic)))

    @property
    def _of_release(self) -> str:
        match self.kind:
            case "released":
                return ""
            case "part":
                return f"part of the suite: {count(self.cases)} of {plural(self.released, 'case')}"
            case "changed":
                return "suite with local changes"
            case _:
                return f"own suite: {plural(self.cases, 'case')}" if self.cases else "own suite"

    @property
    def figures(self) -> str:
        """Of which suite coverage and planted faults are; those of another one are not stated."""
        if self.is_released:
            return "Coverage and planted faults are of this suite."
        return (
            "Coverage and planted faults are not stated: what is known of them is of the suite that opcert "
            "carries, and this is another one."
        )

    @property
    def left_out(self) -> str | None:
        """What of the released suite was not asked, in a sentence; None of a suite that has none of it."""
        if self.kind == "released" or not 0 < self.shared < self.released:
            return None
        missing = count(self.released - self.shared)
        return f"{missing} of {plural(self.released, 'case')} of the suite that opcert carries."

    def contradicts_release(self, operators: Collection[str]) -> list[str]:
        """In what the cases of some operator versions are not those of the released suite."""
        if self.kind == "changed" and not self.departures:
            return [self.text]
        return [
            f"{departure.operator}: its cases are not those of the released suite: {departure.text}"
            for departure in self.departures
            if departure.operator in operators
        ]

    def to_json(self) -> dict[str, Any]:
        return {
            "standing": self.kind,
            "says": self.text,
            "departures": [departure.to_json() for departure in self.departures],
            "cases": self.cases,
            "released": self.released,
            "figures": self.figures,
            **({"arithmetic": self.arithmetic} if self.arithmetic is not None else {}),
        }


OWN = SuiteStanding("own", "The suite is of the certifier's own choosing: no release of opcert carries it.")


@dataclass(frozen=True)
class MetArithmetic:
    """The most exact arithmetic by whose bounds an operator's answers are right, in words; None for none.

    `wrong` are its answers that are not right by the suite, `tried` how many of these were held against it.
    `reason` says why nothing could be said, where that is so.
    """

    words: str | None
    wrong: int
    tried: int
    reason: str | None = None


Trust = Literal["referenced", "reviewed"]


@dataclass(frozen=True)
class VersionTrust:
    """How far the cases of an operator version are trusted, and what planting faults showed of them.

    docs/tables/operators.md says what trust means. `adequacy` is empty where no faults were planted; under
    `cases` it has the digest of the cases that were measured.
    """

    trust: Trust
    adequacy: Mapping[str, Any] = field(default_factory=dict)
