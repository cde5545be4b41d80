"""The search for a call: variables with dependent domains, rules as soon as they can be decided, backjumping.

Effort is counted in candidates, never in seconds, so that the same search ends the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from opcert.vocabulary.errors import UserError
from specs.language.evaluation import EvaluationError
from specs.language.expressions import parse
from specs.model.domain import holds
from specs.model.spec import Constraint, Spec

BUDGET = 4_000
"""Candidates that one search tries before it gives up."""


@dataclass(frozen=True, eq=False)
class SearchVariable:
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


class CallSearch:
    """Searches over one operator's variables, in an order in which each has what it needs."""

    def __init__(
        self, spec: Spec, variables: Sequence[SearchVariable], constraints: Sequence[Constraint]
    ) -> None:
        self.spec = spec
        self.variables = ordered(variables)
        self._places = {name: at for at, variable in enumerate(self.variables) for name in variable.binds}
        self._checks: list[list[Constraint]] = [[] for _ in self.variables]
        self._without_call: dict[frozenset[tuple[str, object]], NotFound] = {}
        for constraint in constraints:
            places = frozenset(self._hangs_on(constraint_names(constraint)))
            if places:
                self._checks[max(places)].append(constraint)

    def solve(self, levels: Mapping[str, object], draw: Draw, budget: int = BUDGET) -> Found | NotFound:
        """A call with these levels of factors; those not named are free."""
        asked = frozenset(levels.items())
        if (known := self._without_call.get(asked)) is not None:
            return known
        run = _Run(self, {f"level:{name}": level for name, level in levels.items()}, draw, budget)
        found, _ = run.extend(0, {})
        if found is not None:
            return Found(Partial(self.spec, found), run.tried)
        names = frozenset(self.variables[place].name for place in run.blame)
        missed = NotFound(names, run.tried > budget, run.tried)
        if not missed.cut and not run.drew:
            # It hangs on the given levels alone: no other draw finds one either.
            self._without_call[asked] = missed
        return missed

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

    search: CallSearch
    given: Mapping[str, object]
    draw: Draw
    budget: int
    tried: int = 0

    def __post_init__(self) -> None:
        self.blame: set[int] = set()
        self.drew = False
        """Whether candidates that came to an end were drawn: with other draws there may be others."""

    def extend(self, place: int, bound: Bindings) -> tuple[Bindings | None, set[int]]:
        """All bindings, or None and the places that this failure hangs on, to jump back to the last."""
        after, given, broken = self._given_from(place, bound)
        if self.tried > self.budget:
            return None, set()
        if after == place:
            return self._extend_by_candidates(place, bound)
        found, why = self._extend_by_candidates(after, given) if broken is None else (None, broken)
        if found is not None or self.tried > self.budget:
            return found, set()
        # What is given has no other candidate.
        ours = why.intersection(range(place, after))
        if ours:
            self.blame |= why
        return None, why - ours

    def _given_from(self, place: int, bound: Bindings) -> tuple[int, Bindings, set[int] | None]:
        """The next place that nothing is given for, the bindings there, and what a broken rule hangs on."""
        variables, extended = self.search.variables, bound
        while place < len(variables) and (name := variables[place].name) in self.given:
            self.tried += 1
            extended = {**extended, name: self.given[name]}
            broken = self._broken(place, extended)
            place += 1
            if broken is not None:
                self.blame |= broken | {place - 1}
                return place, extended, broken
        return place, extended, None

    def _extend_by_candidates(self, place: int, bound: Bindings) -> tuple[Bindings | None, set[int]]:
        if place == len(self.search.variables):
            return bound, set()
        variable = self.search.variables[place]
        scope, draw = Partial(self.search.spec, bound), self.draw.child(variable.name)
        conflict: set[int] = set()
        try:
            for candidate in variable.candidates(scope, draw):
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
        self.drew = self.drew or draw.is_used
        # What its candidates asked for decided which there are.
        conflict |= self.search.places_of(scope.asked)
        self.blame |= conflict | {place}
        return None, conflict

    def _broken(self, place: int, bound: Bindings) -> set[int] | None:
        """The places that the first broken rule hangs on; None where no rule is broken."""
        scope = Partial(self.search.spec, bound)
        for rule in self.search.checks_at(place):
            scope.asked.clear()
            # A rule that cannot be decided hangs on data, or another one says what is wrong.
            with suppress(EvaluationError):
                if not holds(rule, scope):
                    return self.search.places_of(scope.asked)
        return None


def constraint_names(constraint: Constraint) -> set[str]:
    """The names that a rule's expressions leave free."""
    return {name for text in (constraint.when, constraint.require) if text for name in _names_in(text)}


def _names_in(text: str) -> frozenset[str]:
    return parse(text).names


def ordered(variables: Sequence[SearchVariable]) -> tuple[SearchVariable, ...]:
    """The variables in an order in which each stands behind those that bind what it needs.

    Raises UserError where needs go in a circle.
    """
    binder = {name: search_variable for search_variable in variables for name in search_variable.binds}
    done: dict[str, SearchVariable] = {}

    def visit(variable: SearchVariable, path: tuple[str, ...]) -> None:
        if variable.name in done:
            return
        if variable.name in path:
            circle = " needs ".join((*path[path.index(variable.name) :], variable.name))
            raise UserError("what kinds and shapes need goes in a circle", got=circle)
        for name in sorted(variable.needs):
            if name in binder and binder[name] is not variable:
                visit(binder[name], (*path, variable.name))
        done[variable.name] = variable

    for search_variable in variables:
        visit(search_variable, ())
    return tuple(done.values())
