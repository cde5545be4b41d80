"""What is wrong with a declaration that only calls show: levels that none has, rules none breaks alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from generator.calls.borders.breaches import broken_by_search, find_breaches, opposite_of
from generator.calls.data.draws import Draw
from generator.calls.rows.cores import ForbiddenCombination
from generator.calls.solver.solving import CallSearch, Found
from generator.calls.space.space import CallSpace
from generator.calls.variables.extents import ExtentVariable
from opcert.vocabulary.errors import Place, UserError
from specs.files.declarations import FILE_NAME
from specs.model.declared import Declared
from specs.model.spec import Constraint


def levels_without_call(space: CallSpace, cores: Iterable[ForbiddenCombination]) -> Iterator[UserError]:
    """The levels that a kind or shape has and no call: cores of one level."""
    for core in cores:
        if len(core.levels) == 1:
            factor, level = next(iter(core.levels.items()))
            yield UserError(
                f"a level that no call of {space.spec.operator} has",
                got=f"{factor}={level}",
                where=_place_of_factor(space, factor),
                remedy=f"Narrow the kind or the shape that has it, or exclude it: `exclusions: [{{when: "
                f"\"{factor} == '{level}'\", why: ...}}]`.",
            )


def rules_broken_together(space: CallSpace) -> Iterator[UserError]:
    """The constraints that people wrote and that no call breaks alone, with what breaks beside them."""
    written = [
        constraint
        for constraint in space.spec.constraints
        if constraint.require and constraint.origin.how != "derived"
    ]
    if not written:
        return
    breached = {
        breach.constraint.id for breach in find_breaches(space, Draw(f"{space.spec.operator}/invalid"))
    }
    for rule in written:
        if rule.id in breached or _speaks_of_nothing(space, rule):
            continue
        others = sorted(broken_by_search(space, rule, Draw(f"{space.spec.operator}/{rule.id}")) - {rule.id})
        problem = "a rule that no call breaks" if not others else "a rule whose breach breaks others as well"
        yield UserError(
            f"{problem} ({space.spec.operator})",
            got=rule.id if not others else f"{rule.id}, with {', '.join(others)}",
            where=_places(space).get(f"constraint {rule.id}"),
            remedy="Narrow it with `when` to what the others leave open, or leave it out if they say it all.",
        )


def _speaks_of_nothing(space: CallSpace, rule: Constraint) -> bool:
    """Whether calls break it in which an extent is 0: such calls are made at borders."""
    for place, variable in enumerate(space.variables):
        if isinstance(variable.candidates, ExtentVariable):
            nothing = replace(variable, candidates=ExtentVariable(variable.name, 0, 0))
            variables = (*space.variables[:place], nothing, *space.variables[place + 1 :])
            search = CallSearch(space.spec, variables, [opposite_of(rule)])
            if isinstance(search.solve({}, Draw(f"{space.spec.operator}/nothing/{rule.id}")), Found):
                return True
    return False


def _place_of_factor(space: CallSpace, factor: str) -> Place | None:
    kinds = [kind for kind in space.kinds if factor in kind.factors()]
    if kinds and kinds[0].subject.place is not None:
        return kinds[0].subject.place
    name = factor.removeprefix("form_")
    return _places(space).get(name) or _places(space).get(FILE_NAME)


def _places(space: CallSpace) -> dict[str, Place]:
    return dict((space.spec.declared or Declared()).places)
