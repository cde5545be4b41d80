"""What a measurement of a suite found out, as plain data: what the files, the page and reports show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Status = Literal["killed", "equivalent", "survived"]
RUN = "run"
"""The killer of a mutant on which only the readings of all cases together find fault."""


@dataclass(frozen=True)
class MutantOutcome:
    """One mutant and what became of it.

    `killer` is the first case that failed on it (the part of the id behind the operator), or RUN. `calls`
    are the random calls that came by the change: all agreed with an equivalent one, and `call` is the first
    that did not agree with a survivor. `by_node_tests`: ONNX's own tests notice it, where there are any.
    """

    mutant: str
    kind: str
    file: str
    line: int
    diff: tuple[str, ...]
    status: Status
    killer: str | None = None
    calls: int = 0
    call: str | None = None
    by_node_tests: bool = False

    def listed(self) -> dict[str, Any]:
        entry = {"mutant": self.mutant, "kind": self.kind, "file": self.file, "line": self.line}
        return {**entry, "diff": list(self.diff), "calls": self.calls, "call": self.call}


@dataclass(frozen=True)
class Adequacy:
    """One operator: every mutant's outcome, and what else was found.

    `unreached` are lines that no call came by under the chosen readings: they have no mutants. `selection`
    are cases that together kill whatever the suite kills, the one that kills most first, each with the number
    of mutants that none before it killed. `node_tests` is the number of ONNX's tests that could be asked.
    """

    operator: str
    outcomes: tuple[MutantOutcome, ...]
    unreached: tuple[str, ...] = ()
    selection: Mapping[str, int] = field(default_factory=dict)
    node_tests: int = 0
    calls: int = 0

    def of(self, status: Status) -> list[MutantOutcome]:
        return [each for each in self.outcomes if each.status == status]

    @property
    def score(self) -> float:
        """The share killed of those that are not equivalent."""
        return _share(len(self.of("killed")), len(self.outcomes) - len(self.of("equivalent")))

    def to_json(self) -> dict[str, Any]:
        """Counts, also by kind, and survivors and equivalents one by one; what is killed is only counted."""
        kinds = sorted({each.kind for each in self.outcomes})
        return {
            "mutants": {**_counts(self.outcomes), "score": self.score},
            "kinds": {kind: _counts([each for each in self.outcomes if each.kind == kind]) for kind in kinds},
            "survivors": [each.listed() for each in self.of("survived")],
            "equivalents": [each.listed() for each in self.of("equivalent")],
            "unreached": list(self.unreached),
            "node_tests": self._node_tests(),
            "calls": self.calls,
        }

    def _node_tests(self) -> dict[str, Any] | None:
        if not self.node_tests:
            return None
        counted = [each for each in self.outcomes if each.status != "equivalent"]
        killed = sum(each.by_node_tests for each in counted)
        return {"cases": self.node_tests, "killed": killed, "score": _share(killed, len(counted))}


def _counts(outcomes: tuple[MutantOutcome, ...] | list[MutantOutcome]) -> dict[str, int]:
    statuses = [each.status for each in outcomes]
    return {
        "made": len(statuses),
        "killed": statuses.count("killed"),
        "equivalent": statuses.count("equivalent"),
        "survived": statuses.count("survived"),
        "by_node_tests": sum(each.by_node_tests for each in outcomes if each.status != "equivalent"),
    }


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0
