"""A whole number of levels that the declaration names, each with the values that show it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import CallValues, KindChange, Level, SingleKind, ValueChange
from generator.calls.variables.vector_lengths import lengths_around
from specs.language.expressions import Expression
from specs.model.spec import Constraint


@dataclass(frozen=True)
class WholeNumber(SingleKind):
    """A list of values for each level, the plainest first: `even=[10, 4, 6], one=[1]`.

    None in a list is no value. The number is at least `least`, or the one that `equals` says, where these are
    given. Calls are drawn where `drawn_when` holds, and without a value only where `omitted_when` does.
    `mistaken` are ways in which programs mistake it: 'less' and 'more' (by one), 'opposite' (the other sign).
    With `length=True` lengths around those of vectors are tried.
    """

    least: Expression | None = None
    equals: Expression | None = field(default=None, kw_only=True)
    drawn_when: Expression | None = field(default=None, kw_only=True)
    omitted_when: Expression | None = field(default=None, kw_only=True)
    mistaken: Expression | None = field(default=None, kw_only=True)
    length: Expression | None = field(default=None, kw_only=True)
    named: Mapping[str, Expression] = field(default_factory=dict, kw_only=True)

    def levels(self) -> tuple[Level, ...]:
        return tuple(self.named)

    @property
    def needs(self) -> frozenset[str]:
        return super().needs.union(*(values.names for values in self.named.values()))

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        only_when = [self.drawn_when, self.omitted_when if levels[self.name] == OMITTED else None]
        if all(scope.value(condition) for condition in only_when if condition is not None):
            yield from super().candidates(levels, scope, draw)

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[int]:
        listed = list(scope.value(self.named[str(level)]))
        shuffled = draw.shuffled(listed) if len(listed) > 1 else listed
        yield from (int(value) for value in shuffled if value is not None)

    def rules(self) -> Iterable[Constraint]:
        if self.equals is not None:
            yield self.rule(self._agrees, f"{self.name} == ({self.equals.text})", self.given)
        if self.least is not None:
            listed = self.name if self.subject.input(self.name) is not None else f"[{self.name}]"
            yield self.rule(self._from, f"all(each >= {self.least.text} for each in {listed})", self.given)

    @property
    def _agrees(self) -> str:
        return f"{self.name}_agrees"

    @property
    def _from(self) -> str:
        word = {"0": "not_negative", "1": "positive"}.get(self.least.text if self.least else "", "range")
        return f"{self.name}_{word}"

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        if self.equals is not None:
            only = int(scope.value(self.equals))
            for value in (only + 1, only - 1, 0, -1):
                if value != only:
                    yield self._agrees, {self.name: value}
        if self.least is not None:
            least = int(scope.value(self.least))
            for value in (least - 1, -1 if least > 0 else -10):
                yield self._from, {self.name: value}

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
            if self.least is not None and np.any(found < self.least.evaluate({})):
                raise ValueError("less than the least")
            return {self.name: found}

        return changed


_MISTAKEN: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "less": ("{} one less", lambda number: number - 1),
    "more": ("{} one more", lambda number: number + 1),
    "opposite": ("{} with the other sign", lambda number: -number),
}
