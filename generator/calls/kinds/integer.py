"""A whole number from an interval."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import Level, SingleKind
from generator.calls.variables.vector_lengths import MANY
from specs.language.expressions import Expression
from specs.model.spec import Constraint

_MOST_DRAWN = 4 * MANY
_OPEN = 3
"""How far from the other end, or from zero, an open end lies."""


@dataclass(frozen=True)
class Integer(SingleKind):
    """A whole number from `low` to `high`, both included; an end that is left out is open.

    It says how often something is drawn for each of the rows `drawn_for`, where that is given: so often that
    the distribution shows, some times, or once.
    """

    low: Expression | None = None
    high: Expression | None = None
    drawn_for: Expression | None = field(default=None, kw_only=True)

    def levels(self) -> tuple[Level, ...]:
        return ("some", "low", "high") if self.drawn_for is None else ("many", "some", "one")

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[int]:
        low, high = self._ends(scope)
        if self.drawn_for is not None:
            if level != "many" or MANY * int(scope.value(self.drawn_for)) <= _MOST_DRAWN:
                yield {"many": MANY, "one": 1}.get(str(level), draw.integer(2, 9))
            return
        if high < low:
            return
        if level == "low":
            yield low
        elif level == "high" and high > low:
            yield high
        elif level == "some":
            yield from draw.shuffled(range(low + 1, min(high, low + 64)))

    def rules(self) -> Iterable[Constraint]:
        if self.drawn_for is not None and self.low is not None:
            yield self.rule(f"{self.name}_range", f"{self.name} >= {self.low.text}", self.given)
            return
        conditions = [
            *([f"({self.low.text}) <= each"] if self.low is not None else []),
            *([f"each <= ({self.high.text})"] if self.high is not None else []),
        ]
        if conditions:
            listed = self.name if self.subject.input(self.name) is not None else f"[{self.name}]"
            yield self.rule(
                f"{self.name}_range", f"all({' and '.join(conditions)} for each in {listed})", self.given
            )

    def shortcuts(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        """The greatest value, by which everything is meant."""
        if self.high is not None:
            yield f"{self.name}_means_everything", {self.name: self._ends(scope)[1]}

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        low, high = self._ends(scope)
        if self.high is not None:
            for value in (high + 1, 2**31 - 1):
                yield f"{self.name}_range", {self.name: value}
        if self.low is not None:
            for value in (low - 1, -1 if self.drawn_for is not None else -(2**31)):
                yield f"{self.name}_range", {self.name: value}

    def _ends(self, scope: Partial) -> tuple[int, int]:
        low = None if self.low is None else int(scope.value(self.low))
        high = None if self.high is None else int(scope.value(self.high))
        if low is None:
            low = -_OPEN if high is None else high - 2 * _OPEN
        return low, low + 2 * _OPEN if high is None else high
