"""A number from an interval, any number, or one for which a few stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.data_levels import DATA
from generator.calls.variables.kind import GREATEST, Level, SingleKind
from reference.numbers.numbers import largest
from specs.language.evaluation import EvaluationError
from specs.language.expressions import Expression, parse
from specs.model.spec import Constraint


def forbidden(name: str, values: Sequence[Any], scope: Partial) -> Iterator[tuple[str, Bindings]]:
    """Of some values of a name those that break a written rule about it here, each with the rule's id."""
    for rule in scope.spec.constraints:
        if rule.origin.how == "derived" or rule.require is None or name not in parse(rule.require).names:
            continue
        for value in values:
            if _breaks(rule, Partial(scope.spec, {**scope.bindings, name: value})):
                yield rule.id, {name: value}


def _breaks(rule: Constraint, scope: Partial) -> bool:
    """Whether a rule that requires something is broken; not where what it is about cannot be told."""
    try:
        concerned = rule.when is None or bool(scope.value(parse(rule.when)))
        return concerned and not scope.value(parse(str(rule.require)))
    except EvaluationError:
        return False


_PLAIN = (0.5, 2.0, 1.5, 3.0)
_INSIDE = (0.5, 0.75, 0.25)
_TRIED = (2.0, 0.5)
"""A whole number and a fraction, which rules may forbid where other values are integers."""


@dataclass(frozen=True)
class Real(SingleKind):
    """A number at or between `low` and `high`; `more_than` and `below` leave the end itself out.

    `other_than` leaves one number out that lies between.
    """

    low: Expression | None = None
    high: Expression | None = None
    at_least: Expression | None = None
    more_than: Expression | None = None
    below: Expression | None = None
    other_than: Expression | None = None

    def levels(self) -> tuple[Level, ...]:
        return ("plain", "low", "high", "zero") if self._reaches(0.0) else ("plain", "low", "high")

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[float]:
        low, high = self._low(scope), self._high(scope)
        if level == "zero":
            yield 0.0
        elif level == "low":
            yield float(low) if low is not None and self.more_than is None else self._beside(low, -1.5, 1)
        elif level == "high":
            yield float(high) if high is not None and self.below is None else self._beside(high, 1e4, -1)
        elif low is not None and high is not None:
            yield from (low + (high - low) * share for share in draw.shuffled(_INSIDE))
        else:
            yield from ((low or 0.0) + number for number in draw.shuffled(_PLAIN))

    @staticmethod
    def _beside(end: float | None, open_end: float, direction: int) -> float:
        """A value beside an end that is left out, or a far one where there is no end."""
        if end is None:
            return open_end
        return float(np.nextafter(np.float32(end), np.float32(np.inf * direction)))

    def rules(self) -> Iterable[Constraint]:
        conditions = [
            f"each {sign} ({bound.text})"
            for sign, bound in (
                (">=", self.low or self.at_least),
                (">", self.more_than),
                ("<=", self.high),
                ("<", self.below),
                ("!=", self.other_than),
            )
            if bound is not None
        ]
        if conditions:
            listed = self.name if self._is_input() else f"[{self.name}]"
            yield self.rule(
                f"{self.name}_range", f"all({' and '.join(conditions)} for each in {listed})", self.given
            )

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        low, high = self._low(scope), self._high(scope)
        if low is not None:
            yield f"{self.name}_range", {self.name: float(low) - 0.5}
        if high is not None:
            yield f"{self.name}_range", {self.name: float(high) + 0.5}
        if self.other_than is not None:
            yield f"{self.name}_range", {self.name: float(scope.value(self.other_than))}
        yield from forbidden(self.name, [number for number in _TRIED if self._admits(number, scope)], scope)

    def edges(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        for word, value in (("one", 1.0), ("minus_one", -1.0), ("negative_zero", -0.0)):
            if self._admits(value, scope):
                yield f"{self.name}_{word}", {self.name: value}
        if self._is_input() and self._admits(-np.inf, scope):
            yield f"{self.name}_minus_infinity", {self.name: -np.inf}

    def shortcuts(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        """The least and the greatest number of the type, which bound nothing but infinities."""
        layout = self.type_of(scope, self.name).layout if self._is_input() else None
        for word, end in (("least", -1), ("greatest", 1)) if layout is not None else ():
            number = float(end * largest(layout))
            if self._admits(number, scope):
                yield f"{self.name}_is_the_{word}", {self.name: number, f"level:{DATA}": "nonfinite"}

    def _admits(self, value: float, scope: Partial) -> bool:
        low, high = self._low(scope), self._high(scope)
        if self.other_than is not None and value == scope.value(self.other_than):
            return False
        above = low is None or (value > low if self.more_than is not None else value >= low)
        return above and (high is None or (value < high if self.below is not None else value <= high))

    def _reaches(self, value: float) -> bool:
        """Whether a level of its own for a value would be inside, and no end."""
        ends = (self.low, self.high, self.at_least, self.more_than, self.below, self.other_than)
        return not any(ends) and value == 0.0

    def _is_input(self) -> bool:
        return self.subject.input(self.name) is not None

    def _low(self, scope: Partial) -> float | None:
        return self._bound(scope, self.low or self.at_least or self.more_than)

    def _high(self, scope: Partial) -> float | None:
        return self._bound(scope, self.high or self.below)

    @staticmethod
    def _bound(scope: Partial, expression: Expression | None) -> float | None:
        return None if expression is None else float(scope.value(expression))


@dataclass(frozen=True)
class _FewNumbers(SingleKind):
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


Real.variants = {"": Real, "few": _FewNumbers}
