"""A number for which a few stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import GREATEST, Level, SingleKind
from specs.language.expressions import Expression
from specs.model.spec import Constraint


@dataclass(frozen=True)
class Sample(SingleKind):
    """Any finite number, of which the arguments stand for all; the first is the plainest.

    Arguments with a name (`quarter=0.25`) give levels that word. It is greater than `above`, or from
    `at_least` and below `below`, where these are given.
    """

    listed: tuple[Expression, ...]
    above: Expression | None = field(default=None, kw_only=True)
    at_least: Expression | None = field(default=None, kw_only=True)
    below: Expression | None = field(default=None, kw_only=True)
    named: Mapping[str, Expression] = field(default_factory=dict, kw_only=True)

    def levels(self) -> tuple[Level, ...]:
        return (*self._numbers, *self.named)

    @property
    def _numbers(self) -> tuple[Any, ...]:
        return tuple(number.evaluate({}) for number in self.listed)

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[Any]:
        yield self.named[level].evaluate({}) if isinstance(level, str) else level

    def rules(self) -> Iterable[Constraint]:
        if self.at_least is not None and self.below is not None:
            yield self._range(f"{self.at_least.text} <= {{}} < {self.below.text}")
            return
        is_input = self.subject.input(self.name) is not None
        held = "all({} for each in {})" if is_input else "{}"
        seen = "each" if is_input else self.name
        finite = f"-{GREATEST} <= {seen} <= {GREATEST}"
        yield self.rule(f"{self.name}_finite", held.format(finite, self.name), self.given)
        if self.above is not None:
            # Of what is not finite the other rule speaks.
            not_above = f"not (-{GREATEST} <= {seen} <= ({self.above.text}) <= {GREATEST})"
            yield self.rule(f"{self.name}_above", held.format(not_above, self.name), self.given)

    def _range(self, inside: str) -> Constraint:
        if self.subject.input(self.name) is None:
            return self.rule(f"{self.name}_range", inside.format(self.name), self.given)
        # Elements of eight bits are bits to expressions.
        seen = f"element_type({self.name}) not in FLOAT8"
        when = seen if self.given is None else f"{self.given} and {seen}"
        return self.rule(f"{self.name}_range", f"all({inside.format('each')} for each in {self.name})", when)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        if self.at_least is not None and self.below is not None:
            low, high = float(scope.value(self.at_least)), float(scope.value(self.below))
            for value in (high, low - 0.5, high + 0.5, float("nan")):
                yield f"{self.name}_range", {self.name: value}
            return
        for value in (float("nan"), float("inf"), float("-inf")):
            yield f"{self.name}_finite", {self.name: value}
        if self.above is not None:
            least = float(scope.value(self.above))
            for value in (least, least - 1.5):
                yield f"{self.name}_above", {self.name: value}
