"""The search for a call: variables with dependent domains, rules as soon as they can be decided, backjumping.

Effort is counted in candidates, never in seconds, so that the same search ends the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from generator.draws import Draw
from generator.partial import Bindings, Partial
from opcert.vocabulary.errors import UserError
from specs.domain import holds
from specs.evaluation import EvaluationError
from specs.expressions import parse
from specs.model import Constraint, Spec

BUDGET = 4_000
"""Candidates that one search tries before it gives up."""


@dataclass(frozen=True, eq=False)
class Variable:
    """Something that is bound at once: names, those that it needs, and its candidates, which bind names."""

    name: str
    binds: frozenset[str]
    needs: frozenset[str]
    candidates: Callable[[Partial, Draw], Iterator[Bindings]]


@dataclass(frozen=True)
class Found:
    """A call's bindings: every level, extent, shape and value that a kind gives."""

    scope: Partial
    tried: int


@dataclass(frozen=True)
class NotFound:
    """No call was found: the variables that the failure hangs on, and whether the search was cut short."""

    blame: frozenset[str]
    cut: bool
    tried: int


class Search:
    """Searches over one operator's variables, in an order in which each has what it needs."""

    def __init__(self, spec: Spec, variables: Sequence[Variable], constraints: Sequence[Constraint]) -> None:
        self.spec = spec
        self.variables = ordered(variables)
        self._places = {name: at for at, each in enumerate(self.variables) for name in each.binds}
        self._checks: list[list[Constraint]] = [[] for _ in self.variables]
        for constraint in constraints:
            places = frozenset(self._hangs_on(constraint_names(constraint)))
            if places:
                self._checks[max(places)].append(constraint)

    def solve(self, levels: Mapping[str, object], draw: Draw, budget: int = BUDGET) -> Found | NotFound:
        """A call with these levels of factors; those not named are free."""
        run = _Run(self, {f"level:{name}": level for name, level in levels.items()}, draw, budget)
        found, _ = run.extend(0, {})
        if found is not None:
            return Found(Partial(self.spec, found), run.tried)
        names = frozenset(self.variables[place].name for place in run.blame)
        return NotFound(names, run.tried > budget, run.tried)

    def places_of(self, names: Iterable[str]) -> set[int]:
        """The places of the variables that bind these names."""
        return {self._places[name] for name in names if name in self._places}

    def checks_at(self, place: int) -> Sequence[Constraint]:
        """The rules that can be decided when the variable at a place is bound."""
        return self._checks[place]

    def _hangs_on(self, names: set[str]) -> Iterator[int]:
        """The places of the variables that a rule with these names hangs on, through definitions."""
        pending, seen = list(names), set(names)
        while pending:
            name = pending.pop()
            for each in (name, f"shape:{name}", f"shapes:{name}"):
                if each in self._places:
                    yield self._places[each]
            text = self.spec.let.get(name)
            if text is not None:
                for inner in _names_in(text) - seen:
                    seen.add(inner)
                    pending.append(inner)


@dataclass(eq=False)
class _Run:
    """One search: what is given, how many candidates were tried, and what failures hung on."""

    search: Search
    given: Mapping[str, object]
    draw: Draw
    budget: int
    tried: int = 0

    def __post_init__(self) -> None:
        self.blame: set[int] = set()

    def extend(self, place: int, bound: Bindings) -> tuple[Bindings | None, set[int]]:
        """All bindings, or None and the places that this failure hangs on, to jump back to the last."""
        if place == len(self.search.variables):
            return bound, set()
        variable = self.search.variables[place]
        scope = Partial(self.search.spec, bound)
        conflict: set[int] = set()
        try:
            for candidate in self._candidates(variable, scope):
                self.tried += 1
                if self.tried > self.budget:
                    return None, set()
                extended = {**bound, **candidate}
                broken = self._broken(place, extended)
                if broken is not None:
                    if place not in broken:
                        # No other candidate mends what hangs on others alone.
                        self.blame |= broken | {place}
                        return None, broken
                    conflict |= broken - {place}
                    continue
                found, why = self.extend(place + 1, extended)
                if found is not None or self.tried > self.budget:
                    return found, set()
                if place not in why:
                    return None, why
                conflict |= why - {place}
        except EvaluationError:
            pass  # something that this variable needs has no value here
        # What its candidates asked for decided which there are.
        conflict |= self.search.places_of(scope.asked)
        self.blame |= conflict | {place}
        return None, conflict

    def _candidates(self, variable: Variable, scope: Partial) -> Iterator[Bindings]:
        if variable.name in self.given:
            return iter([{variable.name: self.given[variable.name]}])
        return variable.candidates(scope, self.draw.child(variable.name))

    def _broken(self, place: int, bound: Bindings) -> set[int] | None:
        """The places that the first broken rule hangs on; None where no rule is broken."""
        checks = self.search.checks_at(place)
        if not checks:
            return None
        scope = Partial(self.search.spec, bound)
        for constraint in checks:
            scope.asked.clear()
            try:
                if not holds(constraint, scope):
                    return self.search.places_of(scope.asked)
            except EvaluationError:
                continue  # it hangs on data, or another rule says what is wrong
        return None


def constraint_names(constraint: Constraint) -> set[str]:
    """The names that a rule's expressions leave free."""
    return {name for text in (constraint.when, constraint.require) if text for name in _names_in(text)}


def _names_in(text: str) -> frozenset[str]:
    return parse(text).names


def ordered(variables: Sequence[Variable]) -> tuple[Variable, ...]:
    """The variables in an order in which each stands behind those that bind what it needs.

    Raises UserError where needs go in a circle.
    """
    binder = {name: each for each in variables for name in each.binds}
    done: dict[str, Variable] = {}

    def visit(variable: Variable, path: tuple[str, ...]) -> None:
        if variable.name in done:
            return
        if variable.name in path:
            circle = " needs ".join((*path[path.index(variable.name) :], variable.name))
            raise UserError("what kinds and shapes need goes in a circle", got=circle)
        for name in sorted(variable.needs):
            if name in binder and binder[name] is not variable:
                visit(binder[name], (*path, variable.name))
        done[variable.name] = variable

    for each in variables:
        visit(each, ())
    return tuple(done.values())
