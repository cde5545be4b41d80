"""Cores: smallest combinations of levels that no call has; found by the solver, and confirmed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from generator.calls.data.draws import Draw
from generator.calls.rows.feasibility import ExcludedLevels, Level, Model
from generator.calls.solver.solving import BUDGET, Found, NotFound
from generator.calls.space.space import CallSpace

CONFIRMATIONS = 20
"""Further searches that a core must withstand."""
CONFIRMING_BUDGET = 20_000


@dataclass(frozen=True)
class ForbiddenCombination:
    """Levels by factor that no call has together."""

    levels: Mapping[str, Level]

    def forbids(self, levels: Mapping[str, object]) -> bool:
        """Whether these levels hold the core."""
        return all(levels.get(name) == level for name, level in self.levels.items())

    def __str__(self) -> str:
        return ", ".join(f"{name}={level}" for name, level in self.levels.items())


def find_core(
    space: CallSpace, levels: Mapping[str, Level], failure: NotFound, confirmations: int = CONFIRMATIONS
) -> ForbiddenCombination | None:
    """The smallest part of some levels that no call has; None where one of its parts has a call after all.

    It starts with the levels that the failed search hung on and leaves out one after the other.
    """
    blamed = (
        [name for name in levels if f"level:{name}" in failure.blame] if not failure.cut else list(levels)
    )
    kept = blamed or list(levels)
    if not isinstance(_search(space, {name: levels[name] for name in kept}, "blamed", BUDGET), NotFound):
        kept = list(levels)
    for trust_cut in (True, False):
        core = _without_idle(space, {name: levels[name] for name in kept}, trust_cut)
        if is_confirmed(space, core, confirmations):
            return core
    return None


def _without_idle(space: CallSpace, levels: Mapping[str, Level], trust_cut: bool) -> ForbiddenCombination:
    """The levels that the failure needs; a search that was cut short tells of one only if it is trusted."""
    kept = list(levels)
    for name in list(kept):
        fewer = {each: levels[each] for each in kept if each != name}
        result = _search(space, fewer, f"without {name}", BUDGET)
        if isinstance(result, NotFound) and (trust_cut or not result.cut):
            kept.remove(name)
    return ForbiddenCombination({name: levels[name] for name in kept})


def is_confirmed(space: CallSpace, core: ForbiddenCombination, searches: int = CONFIRMATIONS) -> bool:
    """Whether further searches find no call that has these levels."""
    return all(
        isinstance(_search(space, core.levels, f"confirm {turn}", CONFIRMING_BUDGET), NotFound)
        for turn in range(searches)
    )


def _search(space: CallSpace, levels: Mapping[str, Level], word: str, budget: int) -> Found | NotFound:
    key = " ".join(f"{name}={level}" for name, level in sorted(levels.items(), key=lambda level: level[0]))
    return space.search.solve(levels, Draw(f"{space.spec.operator}/core/{word}/{key}"), budget)


def model_with_cores(model: Model, cores: Iterable[ForbiddenCombination]) -> Model:
    """The model whose rows have no core; cores that name levels which the model lacks are left out."""
    rules = list(model.rules)
    for core in cores:
        if all(name in model.levels and level in model.levels[name] for name, level in core.levels.items()):
            factors = tuple(model.names.index(name) for name in core.levels)
            indexes = tuple(model.levels[name].index(level) for name, level in core.levels.items())
            rules.append(ExcludedLevels(f"core: {core}", factors, frozenset({indexes})))
    return Model(model.levels, tuple(rules), model.groups)
