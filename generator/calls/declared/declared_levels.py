"""Calls of an operator whose spec declares them: valid ones of given levels, at borders, breaking a rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from generator.asking.calls import Call
from generator.asking.validity import find_violations
from generator.calls.borders.breaches import broken_by_search, find_breaches, opposite_of
from generator.calls.borders.edges import find_edges
from generator.calls.data.draws import Draw
from generator.calls.rows.cores import ForbiddenCombination, find_core
from generator.calls.rows.covering_rows import (
    Dealer,
    learn_cores,
    make_call,
    rare_rows,
    row_draw,
    space_model,
)
from generator.calls.rows.feasibility import Level
from generator.calls.solver.solving import CallSearch, Found
from generator.calls.space.drawing import draw_call
from generator.calls.space.space import CallSpace, open_space
from generator.calls.variables.extents import ExtentVariable
from opcert.vocabulary.errors import InternalError, Place, UserError
from specs.files.declarations import FILE_NAME
from specs.model.declared import Declared
from specs.model.spec import Constraint, Exclusion, Factor, Origin, Spec

DRAWS = 8
"""Calls that are drawn for some levels, where a rule on data rejects the first."""
PAIR = 2
"""Cores of so many levels are found whenever they are learned; those of more need rows that cover more."""


class UnlearnedCore(InternalError):
    """Levels go together in no call, and the cores that are known do not say so: they are to be learned."""


@dataclass(frozen=True, eq=False)
class DeclaredLevels:
    """What makes an operator's calls, derived from the space of its declaration."""

    space: CallSpace
    _cores: dict[frozenset[tuple[str, Level]], ForbiddenCombination | None] = field(default_factory=dict)

    @property
    def focus(self) -> Mapping[str, Level]:
        """Levels under which the other factors are covered once more."""
        declared = self.space.spec.declared
        return {} if declared is None else declared.focus

    def build_call(self, spec: Spec, levels: Mapping[str, str], draw: Draw) -> Call | None:
        """One valid call that has these levels, those of factors that are not named being free."""
        wanted = self._levels_of(levels)
        for turn in range(DRAWS):
            stream = draw.child(str(turn))
            found = self.space.search.solve(wanted, stream)
            if not isinstance(found, Found):
                return None
            call = draw_call(self.space, found.scope, wanted, stream.child("data"))
            if not find_violations(spec, call):
                return call
        return None

    def deal(
        self, rows: Sequence[Mapping[str, str]], given: Sequence[Mapping[str, str]] = ()
    ) -> list[Mapping[str, str]]:
        """The rows with an element type for each type variable, and more rows until each type occurs.

        `given` are rows that have their types: what occurs in them need not occur again.
        """
        known, before = [self._levels_of(row) for row in rows], [self._levels_of(each) for each in given]
        plain = before[0] if before else known[0]
        rare = [rare_row for rare_row in rare_rows(self.space, plain) if rare_row not in before]
        dealt = Dealer(self.space, self._has_call, before).deal([*known, *rare])
        self._check_cores([each for each in known if not any(each.items() <= row.items() for row in dealt)])
        return [{name: str(level) for name, level in each.items()} for each in dealt]

    def _has_call(self, levels: Mapping[str, Level]) -> bool:
        """Whether a call has these levels, types among them."""
        return make_call(self.space, levels) is not None

    def core_of(self, levels: Mapping[str, Level]) -> ForbiddenCombination:
        """The levels that no call has among some that no call has; all of them where no fewer are known."""
        return self._learned(levels) or ForbiddenCombination(levels)

    def _learned(self, levels: Mapping[str, Level]) -> ForbiddenCombination | None:
        """The levels of a row that go together in no call; None where the row has one, in other types."""
        key = frozenset(levels.items())
        if key not in self._cores:
            result = self.space.search.solve(levels, row_draw(self.space, levels, 0))
            self._cores[key] = None if isinstance(result, Found) else find_core(self.space, levels, result, 1)
        return self._cores[key]

    def _check_cores(self, rows: Sequence[Mapping[str, Level]]) -> None:
        """Raise UnlearnedCore where two levels of a row go together in no call: the kept cores lack them."""
        for levels in rows:
            core = self._learned(levels)
            if core is not None and len(core.levels) <= PAIR:
                raise UnlearnedCore(
                    f"no call of {self.space.spec.operator} has levels that the known cores leave",
                    got=str(core),
                )

    def boundary_calls(self, _: Spec, draw: Draw) -> Iterator[tuple[str, Mapping[str, str], Call]]:
        """Valid calls at the borders of the space."""
        yield from ((edge.word, {}, edge.call) for edge in find_edges(self.space, draw))

    def invalid_calls(self, _: Spec, draw: Draw) -> Iterator[tuple[str, Call, Call]]:
        """For each rule: its id, a valid call, and one that breaks that rule alone."""
        for breach in find_breaches(self.space, draw):
            yield breach.constraint.id, breach.valid, breach.call

    def _levels_of(self, texts: Mapping[str, str]) -> dict[str, Level]:
        known = self._by_text
        return {name: known[name][text] for name, text in texts.items() if name in known}

    @cached_property
    def _by_text(self) -> Mapping[str, Mapping[str, Level]]:
        """The levels of each factor by how they are written, and types of a group by their names."""
        named: dict[str, Mapping[str, Level]] = {
            kind.name: {named_type: named_type for named_type in kind.named_types}
            for kind in self.space.kinds
        }
        return {
            name: {**named.get(name, {}), **{str(level): level for level in levels}}
            for name, levels in self.space.factors.items()
        }


def declare_levels(
    spec: Spec, kept: Iterable[ForbiddenCombination] = (), *, learn: bool = True
) -> tuple[Spec, DeclaredLevels]:
    """The spec with the factors, rules and exclusions of its declaration, and what makes its calls.

    The exclusions are the cores: those that are kept, and with `learn` what is found beside them. Element
    types are no factors: they are dealt out over the rows. Raises SeveralErrors with all that is wrong in the
    declaration.
    """
    space = open_space(spec)
    known = learn_cores(space, known=kept) if learn else tuple(kept)
    model = space_model(space)
    factors = tuple(Factor(name, levels) for name, levels in model.levels.items())
    told = [combination for combination in known if all(name in model.levels for name in combination.levels)]
    exclusions = (*space.spec.exclusions, *(_exclusion(combination) for combination in told))
    completed = replace(space.spec, factors=factors, exclusions=exclusions)
    return completed, DeclaredLevels(space)


def _exclusion(core: ForbiddenCombination) -> Exclusion:
    when = " and ".join(f"{name} == {_written(level)}" for name, level in core.levels.items())
    return Exclusion(when, Origin("derived", why="a search found no call that has these levels"))


def _written(level: Level) -> str:
    return f'"{level}"' if isinstance(level, str) else str(level)


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
