"""Rules in a search, decided as soon as what they hang on is bound; what they say of levels is remembered."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from generator.calls.solver.partial import Partial
from specs.language.evaluation import EvaluationError
from specs.model.domain import holds
from specs.model.spec import Constraint


class SearchedRule:
    """A rule in a search. What it says of levels alone is remembered: `places` are the names that are bound.

    Of the same values of all that it asked for it always says the same.
    """

    def __init__(self, constraint: Constraint, places: Mapping[str, int]) -> None:
        self._constraint = constraint
        self._places = places
        self._said: dict[tuple[str, ...], dict[tuple[object, ...], frozenset[str] | None]] = {}

    def broken(self, scope: Partial) -> Collection[str] | None:
        """What a call that breaks the rule was asked for; None where it holds, or cannot be decided."""
        bound = scope.bindings
        for names, said in self._said.items():
            values = tuple(map(bound.get, names))
            if values in said:
                return said[values]
        scope.asked.clear()
        try:
            broken = None if holds(self._constraint, scope) else frozenset(scope.asked)
        except EvaluationError:
            broken = None  # it hangs on data, or another rule says what is wrong
        levels = tuple(sorted(name for name in scope.asked if name in self._places))
        if all(name.startswith("level:") for name in levels):
            self._said.setdefault(levels, {})[tuple(map(bound.get, levels))] = broken
        return broken
