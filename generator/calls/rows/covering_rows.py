"""Rows of levels for a space: a covering array without the combinations that no call has, types dealt out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, product

from generator.asking.calls import Call
from generator.asking.validity import find_violations
from generator.calls.data.draws import Draw
from generator.calls.rows.cores import ForbiddenCombination, find_core, model_with_cores
from generator.calls.rows.covering import cover
from generator.calls.rows.factors import factor_model
from generator.calls.rows.feasibility import FREE, Level, Model, Row, Solver
from generator.calls.solver.solving import CallSearch, Found
from generator.calls.space.drawing import draw_call
from generator.calls.space.space import CallSpace
from generator.calls.variables.data_levels import DATA, fits
from opcert.vocabulary.errors import InternalError, UserError
from specs.files.declarations import FILE_NAME
from specs.model.declared import Declared
from specs.model.structures import type_variable


def no_call_keeps_the_rules(space: CallSpace) -> UserError:
    """What to say of such a declaration: it names the rules without any one of which there are calls."""
    written = [constraint for constraint in space.spec.constraints if constraint.origin.how != "derived"]
    guilty = [constraint.id for constraint in written if _has_calls_without(space, constraint.id)]
    places = (space.spec.declared or Declared()).places
    where = places.get(f"constraint {guilty[0]}") if guilty else None
    return UserError(
        f"no call of {space.spec.operator} keeps all the rules of its declaration",
        got=", ".join(guilty) if guilty else "kinds and shapes, or several rules together",
        where=where or places.get(FILE_NAME),
        remedy="Narrow the rule with `when`, or leave it out: without it there are calls."
        if guilty
        else "Leave out kinds, shapes and constraints until `opcert try` makes calls again.",
    )


def _has_calls_without(space: CallSpace, rule: str) -> bool:
    others = [constraint for constraint in space.spec.constraints if constraint.id != rule]
    search = CallSearch(space.spec, space.variables, others)
    return isinstance(search.solve({}, Draw(f"{space.spec.operator}/without {rule}")), Found)


OCCURRENCES = 3
"""So often each element type occurs at least."""
ATTEMPTS = 8
"""Draws for one row, where a rule on data rejects what was drawn."""
MOST_FAILURES = 3
"""Searches for one row that find nothing before it is given up."""
MOST_TURNS = 40
MOST_CHOICES = 24
"""Choices of types for one row: a rule may rule some of them out."""


@dataclass(frozen=True)
class CoveringRow:
    """Levels of all factors, and the call that was made of them."""

    levels: Mapping[str, Level]
    call: Call


def space_model(space: CallSpace) -> Model:
    """The factors of a space as a covering model, with what people exclude; types apart.

    A factor that an operator declares `rare` keeps its rare levels out: they have rows of their own.
    """
    rare = space.spec.declared.rare if space.spec.declared is not None else {}
    interacting = {
        name for interaction in space.spec.interactions for name in interaction.factors
    } | space.paired
    levels = {
        name: tuple(level for level in these if level not in rare.get(name, ()))
        for name, these in space.factors.items()
        if name not in space.types or name in interacting
    }
    return factor_model(space.spec, {name: these for name, these in levels.items() if these})


def learn_cores(
    space: CallSpace, strength: int = 2, known: Iterable[ForbiddenCombination] = ()
) -> tuple[ForbiddenCombination, ...]:
    """The cores of a space: rows without a call are explained, until every row has its call.

    Raises UserError where the rules of the declaration leave no call at all.
    """
    cores = list(known)
    for _ in range(MOST_TURNS):
        found: list[ForbiddenCombination] = []
        for levels in covering_rows(space, cores, strength):
            if any(combination.forbids(levels) for combination in found):
                continue
            result = space.search.solve(levels, row_draw(space, levels, 0))
            if isinstance(result, Found):
                continue
            core = find_core(space, levels, result)
            if core is not None and not core.levels:
                raise no_call_keeps_the_rules(space)
            if core is not None:
                found.append(core)
        if not found:
            return tuple(cores)
        cores += found
    raise InternalError(f"the cores of {space.spec.operator} do not come to an end", got=str(len(cores)))


def make_rows(
    space: CallSpace, cores: Sequence[ForbiddenCombination], strength: int = 2
) -> list[CoveringRow]:
    """A call for each row of a covering array over the space; the plainest one first."""
    rows = covering_rows(space, cores, strength)
    rows += rare_rows(space, rows[0])
    made: list[CoveringRow] = []

    def has_call(levels: Mapping[str, Level]) -> bool:
        row = make_call(space, levels)
        made.extend([row] if row is not None else [])
        return row is not None

    Dealer(space, has_call).deal(rows)
    return made


def covering_rows(
    space: CallSpace, cores: Sequence[ForbiddenCombination], strength: int = 2
) -> list[dict[str, Level]]:
    """The rows of a covering array over what the cores leave, the plainest one first; types apart."""
    model = model_with_cores(space_model(space), cores)
    plainest = Solver(model).complete([FREE] * len(model.sizes))
    if plainest is None:
        raise InternalError(f"cores and exclusions of {space.spec.operator} leave no combination of levels")
    return [model.row_levels(each) for each in cover(model, strength, [model.row_levels(plainest)])]


def make_call(space: CallSpace, levels: Mapping[str, Level]) -> CoveringRow | None:
    """A call that has these levels and breaks no rule; None where no draw gives one."""
    failures = 0
    for attempt in range(ATTEMPTS):
        draw = row_draw(space, levels, attempt)
        found = space.search.solve(levels, draw)
        failures += not isinstance(found, Found)
        if failures > MOST_FAILURES:
            return None
        if isinstance(found, Found):
            call = draw_call(space, found.scope, levels, draw.child("data"))
            if not find_violations(space.spec, call):
                return CoveringRow(levels, call)
    return None


def row_draw(space: CallSpace, levels: Mapping[str, object], attempt: int) -> Draw:
    """The randomness of a row: of its operator and levels alone."""
    label = " ".join(f"{name}={level}" for name, level in sorted(levels.items(), key=lambda level: level[0]))
    return Draw(f"{space.spec.operator}/cover/{label}").child(str(attempt))


def rare_rows(space: CallSpace, plain: Mapping[str, Level]) -> list[dict[str, Level]]:
    """One row for each level that many runtimes lack, so that it hides nothing else."""
    rare = space.spec.declared.rare if space.spec.declared is not None else {}
    return [{**plain, name: level} for name, levels in rare.items() for level in levels if name in plain]


class Dealer:
    """Gives rows a type for each type variable: every type occurs, with the classes that only it has.

    `has_call` is asked of the levels of each row, with types, whether a call has them. `given` are the levels
    of rows that have types: these occurred.
    """

    def __init__(
        self,
        space: CallSpace,
        has_call: Callable[[Mapping[str, Level]], bool],
        given: Sequence[Mapping[str, Level]] = (),
    ) -> None:
        self._space = space
        self._has_call = has_call
        self._given = [{name: each[name] for name in each if name not in space.types} for each in given]
        self._uses: dict[str, dict[Level, int]] = {
            name: dict.fromkeys(space.factors[name], 0) for name in space.types
        }
        for name, uses in self._uses.items():
            for each in given:
                uses[each[name]] += 1
        self._rare = space.spec.declared.rare if space.spec.declared is not None else {}
        self._main = f"type_{type_variable(space.spec, space.data[0])}" if space.data else ""

    def deal(self, rows: Sequence[Mapping[str, Level]]) -> list[Mapping[str, Level]]:
        """The rows that have a call, with types: the first with the first types, then the least used ones.

        Rows are added, alike but for the types, until each type occurs at least three times.
        """
        made = [made for row in rows if (made := self._row(row)) is not None]
        for name, uses in self._uses.items():
            for level in uses:
                for row in (*rows, *self._given):
                    if uses[level] >= OCCURRENCES:
                        break
                    added = self._row({**self._fitting(name, level, row), name: level})
                    made += [added] if added is not None else []
        return made

    def _row(self, levels: Mapping[str, Level]) -> Mapping[str, Level] | None:
        for types in islice(self._choices(levels), MOST_CHOICES):
            dealt = {**levels, **types}
            if self._has_call(dealt):
                for name in self._uses:
                    self._uses[name][dealt[name]] += 1
                return dealt
        return None

    def _choices(self, levels: Mapping[str, Level]) -> Iterator[dict[str, Level]]:
        """Types for the variables that have none yet: the least used first, of types with the row's class.

        Rare ones, which many runtimes lack, where there are no others: they hide what these would show.
        """
        free = [name for name in self._space.types if name not in levels]
        known = []
        for name in free:
            fitting = [use for use in self._uses[name] if name != self._main or self._fits(use, levels)]
            fitting = [each for each in fitting if each not in self._rare.get(name, ())] or fitting
            known.append(sorted(fitting, key=self._uses[name].__getitem__))
        for choice in product(*known):
            yield dict(zip(free, choice, strict=True))

    @staticmethod
    def _fits(level: Level, levels: Mapping[str, Level]) -> bool:
        return DATA not in levels or fits(str(level), levels[DATA])

    def _fitting(self, name: str, level: Level, row: Mapping[str, Level]) -> Mapping[str, Level]:
        """The row, with a class of data that the type has."""
        if name != self._main or self._fits(level, row):
            return row
        classes = [factor for factor in self._space.factors[DATA] if fits(str(level), factor)]
        return {**row, DATA: classes[self._uses[name][level] % len(classes)]}


Deal = Callable[..., Sequence[Mapping[str, str]]]
"""Gives rows what is dealt to them; `given` are rows that have it, where there are any."""


@dataclass(frozen=True, eq=False)
class DealtRows:
    """Rows of a covering array, each with the levels that were dealt to it: element types.

    `taken` are the levels of rows whose cases are there already; nothing is dealt to these.
    """

    model: Model
    taken: Sequence[Mapping[str, str]] = ()
    types: dict[Row, Mapping[str, str]] = field(default_factory=dict)

    @cached_property
    def taken_rows(self) -> Mapping[Row, None]:
        """The rows that are taken, each once."""
        found = map(self.model.row_of, self.taken)
        return dict.fromkeys(each for each in found if each is not None)

    def deal(self, rows: Sequence[Row], deal: Deal) -> list[Mapping[str, str]]:
        """Take the rows, with what is dealt to them; the levels of those that are dealt beside them."""
        rows = [row for row in rows if row not in self.taken_rows]
        known = {tuple(sorted(self._plain(row).items())): row for row in rows}
        beside: list[Mapping[str, str]] = []
        given = {"given": self.taken} if self.taken else {}
        for levels in deal([self._plain(row) for row in rows], **given):
            plain = {name: level for name, level in levels.items() if name in self.model.levels}
            row = known.get(tuple(sorted(plain.items())))
            if row is None or row in self.types:
                beside.append(levels)
            else:
                self.types[row] = {name: level for name, level in levels.items() if name not in plain}
        return beside

    def texts(self, row: Row, dealt_to: Row | None = None) -> dict[str, str]:
        """The levels of a row as texts, with what was dealt to it, or to the row that it replaces."""
        return {**self._plain(row), **self.types[row if dealt_to is None else dealt_to]}

    def _plain(self, row: Row) -> dict[str, str]:
        return {name: str(level) for name, level in self.model.row_levels(row).items()}
