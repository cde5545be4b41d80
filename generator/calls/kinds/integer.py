"""A whole number: from an interval, a divisor of others, or of levels that the declaration names."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import CallValues, KindChange, Level, SingleKind, ValueChange
from generator.calls.variables.vector_lengths import MANY, lengths_around
from specs.language.expressions import Expression
from specs.model.spec import Constraint

_MOST_DRAWN = 4 * MANY
_OPEN = 3
"""How far from the other end, or from zero, an open end lies."""


@dataclass(frozen=True)
class Integer(SingleKind):
    """A whole number from `low` to `high`, both included; an end that is left out is open.

    It divides every number of `divides`, or says how often something is drawn for each of the rows
    `drawn_for`: so often that the distribution shows, some times, or once.

    A declaration may name levels of its own, each with the values that show it, the plainest first:
    `even=[10, 4, 6], one=[1]`; None in a list is no value. Calls are drawn where `drawn_when` holds, and
    without a value only where `omitted_when` does. The number is the one that `equals` says, where that is
    given. `mistaken` are ways in which programs mistake it: 'less' and 'more' (by one), 'opposite' (the other
    sign). With `length=True` lengths around those of vectors are tried.

    It is an `extent` of the input `of`: as many as `all_or_one` says, or 1, which stands for all of them.
    """

    low: Expression | None = None
    high: Expression | None = None
    divides: Expression | None = field(default=None, kw_only=True)
    drawn_for: Expression | None = field(default=None, kw_only=True)
    equals: Expression | None = field(default=None, kw_only=True)
    drawn_when: Expression | None = field(default=None, kw_only=True)
    omitted_when: Expression | None = field(default=None, kw_only=True)
    mistaken: Expression | None = field(default=None, kw_only=True)
    length: Expression | None = field(default=None, kw_only=True)
    extent: Expression | None = field(default=None, kw_only=True)
    all_or_one: Expression | None = field(default=None, kw_only=True)
    of: Expression | None = field(default=None, kw_only=True)
    named: Mapping[str, Expression] = field(default_factory=dict, kw_only=True)

    def levels(self) -> tuple[Level, ...]:
        if self.named:
            return tuple(self.named)
        if self.all_or_one is not None:
            return ("each", "one")
        if self.divides is not None:
            return ("some", "one", "all")
        return ("some", "low", "high") if self.drawn_for is None else ("many", "some", "one")

    @property
    def without_end(self) -> Integer | None:
        if self.high is None:
            return None
        return replace(self, high=None) if _is_one_more(self.high) or not self.high.names else None

    @property
    def binds(self) -> tuple[str, ...]:
        return () if self.extent is None else (self.extent.text,)

    @property
    def needs(self) -> frozenset[str]:
        names = super().needs.union(*(values.names for values in self.named.values()))
        return names.difference(self.of.names if self.of else ())

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        only_when = [self.drawn_when, self.omitted_when if levels[self.name] == OMITTED else None]
        if all(scope.value(condition) for condition in only_when if condition is not None):
            for found in super().candidates(levels, scope, draw):
                yield found if self.extent is None else {self.extent.text: found[self.name]}

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[int]:
        if self.named:
            listed = list(scope.value(self.named[str(level)]))
        elif self.all_or_one is not None:
            count = int(scope.value(self.all_or_one))
            listed = [1] if level == "one" else [count] * (count > 1)
        elif self.divides is not None:
            listed = self._divisors(level, scope)
        elif self.drawn_for is not None:
            if level != "many" or MANY * int(scope.value(self.drawn_for)) <= _MOST_DRAWN:
                yield {"many": MANY, "one": 1}.get(str(level), draw.integer(2, 9))
            return
        else:
            listed = self._inside(level, *self._ends(scope))
        shuffled = draw.shuffled(listed) if len(listed) > 1 else listed
        yield from (int(value) for value in shuffled if value is not None)

    def _divided(self, scope: Partial) -> list[int]:
        return [] if self.divides is None else [int(number) for number in scope.value(self.divides)]

    def _divisors(self, level: Level, scope: Partial) -> list[int]:
        numbers = self._divided(scope)
        common = math.gcd(*numbers)
        if level == "one":
            return [1]
        if level == "all":
            return [common] if common == numbers[0] > 1 else []
        return [value for value in range(2, common + 1) if common % value == 0 and value < numbers[0]]

    @staticmethod
    def _inside(level: Level, low: int, high: int) -> list[int]:
        inside = {"low": [low], "high": [high] if high > low else []}
        return inside.get(str(level), list(range(low + 1, min(high, low + 64)))) if low <= high else []

    def rules(self) -> Iterable[Constraint]:
        listed = self.name if self.subject.input(self.name) is not None else f"[{self.name}]"
        if self.extent is not None and self.all_or_one is not None and self.of is not None:
            given = self.of.text
            width = f"{self.extent.text} in [1, {self.all_or_one.text}]"
            yield self.rule(self.name, width, f"present({given})", about=given)
        if self.equals is not None:
            yield self.rule(f"{self.name}_agrees", f"{self.name} == ({self.equals.text})", self.given)
        if self.divides is not None:
            yield self.rule(f"{self.name}_positive", f"{self.name} > 0", self.given)
            assert isinstance(self.divides.tree, ast.List)
            texts = [ast.unparse(number) for number in self.divides.tree.elts]
            whole = " and ".join(f"({text}) % {self.name} == 0" for text in texts)
            yield self.rule(f"{self.name}_divides", f"{self.name} <= 0 or {whole}", self.given)
        elif self.named and self.low is not None:
            yield self.rule(self._from, f"all(each >= {self.low.text} for each in {listed})", self.given)
        elif self.drawn_for is not None and self.low is not None:
            yield self.rule(self._from, f"{self.name} >= {self.low.text}", self.given)
        elif self.low is not None or self.high is not None:
            ends = [
                *([f"({self.low.text}) <= each"] if self.low is not None else []),
                *([f"each <= ({self.high.text})"] if self.high is not None else []),
            ]
            yield self.rule(self._from, f"all({' and '.join(ends)} for each in {listed})", self.given)

    @property
    def _from(self) -> str:
        words = {"0": "not_negative", "1": "positive"} if self.named else {}
        return f"{self.name}_{words.get(self.low.text if self.low else '', 'range')}"

    def shortcuts(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        """The greatest value, by which everything is meant."""
        if self.high is not None:
            yield f"{self.name}_means_everything", {self.name: self._ends(scope)[1]}

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        for rule, value in self._wrong(scope):
            yield rule, {self.name: value}

    def _wrong(self, scope: Partial) -> Iterator[tuple[str, int]]:
        if self.equals is not None:
            only = int(scope.value(self.equals))
            yield from (
                (f"{self.name}_agrees", value) for value in (only + 1, only - 1, 0, -1) if value != only
            )
        if self.divides is not None:
            yield from ((f"{self.name}_positive", value) for value in (0, -1))
            numbers = self._divided(scope)
            most = max(numbers)
            others = (value for value in range(2, most) if any(number % value for number in numbers))
            yield from ((f"{self.name}_divides", value) for value in (most + 1, *islice(others, 1)))
            return
        low, high = self._ends(scope)
        if self.high is not None:
            yield from ((self._from, value) for value in (high + 1, 2**31 - 1))
        if self.low is not None:
            least = -(2**31)
            if self.named:
                least = -1 if low > 0 else -10
            elif self.drawn_for is not None:
                least = -1
            yield from ((self._from, value) for value in (low - 1, least))

    def edges(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        if self.says(self.length):
            for length in lengths_around():
                yield f"length_{length}", {self.name: length}

    def changes(self) -> Iterable[KindChange]:
        for word in () if self.mistaken is None else self.mistaken.evaluate({}):
            text, change = _MISTAKEN[word]
            yield ValueChange(f"{self.name} {word}", text.format(self.name), self._changed_by(change))

    def _changed_by(self, change: Callable[[Any], Any]) -> Callable[[CallValues], Bindings]:
        def changed(given: CallValues) -> Bindings:
            found = change(given.numbers(self.name))
            if self.low is not None and np.any(found < self.low.evaluate({})):
                raise ValueError("less than the least")
            return {self.name: found}

        return changed

    def _ends(self, scope: Partial) -> tuple[int, int]:
        low = None if self.low is None else int(scope.value(self.low))
        high = None if self.high is None else int(scope.value(self.high))
        if low is None:
            low = -_OPEN if high is None else high - 2 * _OPEN
        return low, low + 2 * _OPEN if high is None else high


def _is_one_more(high: Expression) -> bool:
    """Whether it is `P + 1`: that many asks for all of P, and so does any greater number."""
    match high.tree:
        case ast.BinOp(left=ast.Name(), op=ast.Add(), right=ast.Constant(value=1)):
            return True
    return False


_MISTAKEN: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "less": ("{} one less", lambda number: number - 1),
    "more": ("{} one more", lambda number: number + 1),
    "opposite": ("{} with the other sign", lambda number: -number),
}
