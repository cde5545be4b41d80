"""The space of an operator version's calls: factors, variables and rules, made from facts and declaration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from generator.calls.solver.solving import CallSearch
from generator.calls.space.space_making import SpaceMaker, SpaceParts
from generator.calls.variables.kind import Level
from opcert.vocabulary.errors import UserError
from specs.model.spec import Spec


class CallSpace(SpaceParts):
    """One operator version's calls."""

    @cached_property
    def paired(self) -> frozenset[str]:
        """The factors of types that go with every other level; the others are dealt out over the rows."""
        declared = self.spec.declared.paired if self.spec.declared is not None else ()
        return frozenset(f"type_{each}" for each in declared) & frozenset(self.types)

    @cached_property
    def search(self) -> CallSearch:
        try:
            return CallSearch(self.spec, self.variables, self.spec.constraints)
        except UserError as error:
            inside = [kind for kind in self.kinds if f"kind:{kind.name}" in (error.got or "")]
            error.where = error.where or (inside[0].subject.place if inside else None)
            error.remedy = "Take the name of one of them out of what the other one says."
            raise

    @cached_property
    def plainest(self) -> Mapping[str, Level]:
        """The first level of every factor."""
        return {name: levels[0] for name, levels in self.factors.items()}

    @cached_property
    def plain_types(self) -> Mapping[str, Level]:
        """The first types, and the first class of data; all other factors are free."""
        return {name: level for name, level in self.plainest.items() if name in (*self.types, "data")}

    @cached_property
    def plain_calls(self) -> Sequence[Mapping[str, Level]]:
        """Levels of calls in which nothing in particular is asked for, each for where none has those before.

        A narrower precision than the plainest allows more, and so tells less.
        """
        precisions = {factor for kind in self.kinds for factor in kind.precisions}
        plain = {name: level for name, level in self.plainest.items() if name in precisions}
        found = (self.plainest, {**plain, **self.plain_types}, self.plain_types)
        return tuple({tuple(each.items()): each for each in found}.values())

    @cached_property
    def covered(self) -> frozenset[str]:
        """The attributes and inputs that a kind gives values to."""
        return frozenset(name for kind in self.kinds for name in kind.covers)


def open_space(spec: Spec) -> CallSpace:
    """The space of a spec with a declaration; raises SeveralErrors with all that is wrong in its kinds."""
    made = SpaceMaker(spec).make()
    space = CallSpace(made.spec, made.kinds, made.data, made.factors, made.types, made.variables)
    assert space.search, "the variables have an order in which each has what it needs"
    return space
