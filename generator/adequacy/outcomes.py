"""What a measurement of a suite found out, as plain data: what the files, the page and reports show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Status = Literal["killed", "equivalent", "survived"]
RUN = "run"
"""The killer of a mutant on which only the readings of all cases together find fault."""


@dataclass(frozen=True)
class Outcome:
    """One mutant and what became of it.

    `killer` is the first case that failed on it (the part of the id behind the operator), or `run` where only
    the readings of the whole run contradict each other. `calls` are the random calls that came by the
    change: all agreed with an equivalent one, and `call` is the first that did not agree with a survivor.
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
    by_node_tests: bool | None = None


@dataclass(frozen=True)
class Adequacy:
    """One operator: every mutant's outcome, and what else was found.

    `cases` is the digest of the cases and their expectations that were measured. `unreached` are lines that
    no call came by under the chosen readings: they have no mutants. `selection` are cases that together kill
    whatever the suite kills, in the order in which each adds most, and how many it adds.
    """

    operator: str
    cases: str
    outcomes: tuple[Outcome, ...]
    unreached: tuple[str, ...] = ()
    selection: Mapping[str, int] = field(default_factory=dict)
    node_tests: int | None = None

    def count(self, status: Status) -> int:
        return sum(each.status == status for each in self.outcomes)

    @property
    def score(self) -> float:
        """The share killed of those that are not equivalent."""
        counted = len(self.outcomes) - self.count("equivalent")
        return self.count("killed") / counted if counted else 1.0

    @property
    def node_score(self) -> float | None:
        """The same for ONNX's node tests."""
        counted = [each for each in self.outcomes if each.status != "equivalent"]
        if self.node_tests is None or not counted:
            return None
        return sum(bool(each.by_node_tests) for each in counted) / len(counted)


def adequacy_facts(found: Adequacy, coverage: Mapping[str, Any]) -> dict[str, Any]:
    """What the manifest of a suite says of an operator, as plain JSON."""
    node_tests = None
    if found.node_tests is not None:
        killed = sum(bool(each.by_node_tests) and each.status != "equivalent" for each in found.outcomes)
        node_tests = {"cases": found.node_tests, "killed": killed, "score": found.node_score}
    return {
        "coverage": {name: coverage[name] for name in ("strength", "feasible", "covered", "uncovered")},
        "mutants": {
            "made": len(found.outcomes),
            "equivalent": found.count("equivalent"),
            "killed": found.count("killed"),
            "survived": found.count("survived"),
            "score": found.score,
        },
        "survivors": [_listed(each) for each in found.outcomes if each.status == "survived"],
        "equivalents": [_listed(each) for each in found.outcomes if each.status == "equivalent"],
        "node_tests": node_tests,
        "calls": AIMED_CALLS,
    }


AIMED_CALLS = 2000


def _listed(outcome: Outcome) -> dict[str, Any]:
    entry = {"mutant": outcome.mutant, "kind": outcome.kind, "file": outcome.file, "line": outcome.line}
    return {**entry, "diff": list(outcome.diff), "why": outcome.call}
