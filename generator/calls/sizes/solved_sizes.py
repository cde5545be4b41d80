"""A call with the sizes of a plan, by the search that all calls are made by."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from generator.asking.calls import Call
from generator.calls.borders.breach_attempts import broken_rules
from generator.calls.data.draws import Draw
from generator.calls.sizes.plan import SizePlan
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.solver.solving import CallSearch, Found, SearchVariable
from generator.calls.space.drawing import draw_call
from generator.calls.space.space import CallSpace
from generator.calls.variables.kind import Level

_BUDGET = 600
"""Candidates of one search: what is fixed leaves little to look for."""
_TURNS = 4


@dataclass(frozen=True, eq=False)
class Solved:
    """A call, its levels, and what is bound in it."""

    levels: Mapping[str, Level]
    call: Call
    scope: Partial


def solved(space: CallSpace, plan: SizePlan, place: int, draw: Draw, *, flags: int) -> Solved | None:
    """A call of a plan with its levels; None where there is none.

    `flags` are bits: which flags are on, as far as a call has them so; what may be left out is there where
    `place` is odd.
    """
    known = plan.fixed
    variables = [*_asked_of_kinds(space, plan), *(_fixed(variable, known) for variable in space.variables)]
    search = CallSearch(space.spec, variables, space.spec.constraints)
    free = {name.removeprefix("kind:") for name in known}
    ranks = {
        f"rank_{name}": len(each[name]) for name, each in known.items() if isinstance(each.get(name), list)
    }
    ranks = {name: rank for name, rank in ranks.items() if name in space.factors}
    for tried, levels in enumerate(_levels(space, place, flags)):
        given = {
            **{name: level for name, level in levels.items() if name not in free},
            **ranks,
            **plan.levels,
        }
        stream = draw.child(f"{plan.word} {tried}")
        found = _near(search, given, {*ranks, *plan.levels}, stream)
        if found is not None:
            kept, scope = found
            call = draw_call(space, scope, kept, stream)
            if not broken_rules(space, call):
                return Solved(kept, call, scope)
    return None


def _asked_of_kinds(space: CallSpace, plan: SizePlan) -> Iterator[SearchVariable]:
    """What a kind binds among other things, which it is told as `given:<name>`."""
    by_kinds = {name for kind in space.kinds if f"kind:{kind.name}" not in plan.fixed for name in kind.binds}
    for name, bindings in plan.fixed.items():
        if name in by_kinds or f"shapes:{name}" in by_kinds:
            asked = f"given:{name}"
            yield _fixed(
                SearchVariable(asked, frozenset({asked}), frozenset(), _nothing),
                {asked: {asked: bindings[name]}},
            )


def _nothing(_scope: Partial, _draw: Draw) -> Iterator[Bindings]:
    return iter(())


def _near(
    search: CallSearch, levels: Mapping[str, Level], asked: Collection[str], draw: Draw
) -> tuple[Mapping[str, Level], Partial] | None:
    """A call with levels, without those that others keep from having one."""
    for turn in range(_TURNS):
        found = search.solve(levels, draw.child(str(turn)), _BUDGET)
        if isinstance(found, Found):
            return levels, found.scope
        blamed = {each.removeprefix("level:") for each in found.blame} - set(asked)
        if not blamed & levels.keys():
            return None
        levels = {name: level for name, level in levels.items() if name not in blamed}
    return None


def _levels(space: CallSpace, place: int, flags: int) -> Iterator[Mapping[str, Level]]:
    """Levels as they are mostly written, with flags in turn; what may be left out is there in every other."""
    spec = space.spec
    rare = spec.declared.rare if spec.declared is not None else {}
    focus = spec.declared.focus if spec.declared is not None else {}
    inputs = {parameter.name for parameter in space.data}
    turned = dict(space.plainest)
    known = 0
    for name, levels in space.factors.items():
        unusual = rare.get(name, ())
        if set(levels) - {OMITTED} == {0, 1} and name in spec.attributes and name not in rare:
            turned[name] = (flags >> known) & 1
            known += 1
        elif name.startswith("form_"):
            turned[name] = levels[place % len(levels)]
        elif name.endswith("_scale") and "scalar" in levels:
            several = [level for level in levels if level != "scalar"]
            turned[name] = several[0] if several and place % 3 == 0 else "scalar"
        elif (
            OMITTED in {*levels} - {*unusual} and name not in focus and (name not in inputs or place % 2 == 0)
        ):
            turned[name] = OMITTED
    yield turned
    yield space.plainest
    yield space.plain_types


def _fixed(variable: SearchVariable, fixed: Mapping[str, Bindings]) -> SearchVariable:
    if variable.name not in fixed:
        return variable
    bindings = fixed[variable.name]

    def candidates(_scope: Partial, _draw: Draw) -> Iterator[Bindings]:
        yield {**dict.fromkeys(variable.binds), **bindings}

    return SearchVariable(variable.name, variable.binds, frozenset(), candidates)
