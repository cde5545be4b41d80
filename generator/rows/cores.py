"""Cores: smallest combinations of levels that no call has; found by the solver, confirmed, kept in a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from generator.rows.feasibility import Level, Model, Rule
from generator.solved.solving import BUDGET, Found, NotFound
from generator.spaces.space import Space
from generator.values.draws import Draw
from opcert.vocabulary.errors import SeveralErrors, UserError
from opcert.vocabulary.whole_files import write_text
from opcert.vocabulary.yaml_files import load_file
from specs.yaml_writer import dump

FILE_NAME = "cores.yaml"
CONFIRMATIONS = 20
"""Further searches that a core must withstand."""
CONFIRMING_BUDGET = 20_000


@dataclass(frozen=True)
class Core:
    """Levels by factor that no call has together."""

    levels: Mapping[str, Level]

    def forbids(self, levels: Mapping[str, object]) -> bool:
        """Whether these levels hold the core."""
        return all(levels.get(name) == level for name, level in self.levels.items())

    def __str__(self) -> str:
        return ", ".join(f"{name}={level}" for name, level in self.levels.items())


def find_core(
    space: Space, levels: Mapping[str, Level], failure: NotFound, confirmations: int = CONFIRMATIONS
) -> Core | None:
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


def _without_idle(space: Space, levels: Mapping[str, Level], trust_cut: bool) -> Core:
    """The levels that the failure needs; a search that was cut short tells of one only if it is trusted."""
    kept = list(levels)
    for name in list(kept):
        fewer = {each: levels[each] for each in kept if each != name}
        result = _search(space, fewer, f"without {name}", BUDGET)
        if isinstance(result, NotFound) and (trust_cut or not result.cut):
            kept.remove(name)
    return Core({name: levels[name] for name in kept})


def is_confirmed(space: Space, core: Core, searches: int = CONFIRMATIONS) -> bool:
    """Whether further searches find no call that has these levels."""
    return all(
        isinstance(_search(space, core.levels, f"confirm {turn}", CONFIRMING_BUDGET), NotFound)
        for turn in range(searches)
    )


def _search(space: Space, levels: Mapping[str, Level], word: str, budget: int) -> Found | NotFound:
    key = " ".join(f"{name}={level}" for name, level in sorted(levels.items(), key=lambda each: each[0]))
    return space.search.solve(levels, Draw(f"{space.spec.operator}/core/{word}/{key}"), budget)


def model_with_cores(model: Model, cores: Iterable[Core]) -> Model:
    """The model whose rows have no core; cores that name levels which the model lacks are left out."""
    rules = list(model.rules)
    for core in cores:
        if all(name in model.levels and level in model.levels[name] for name, level in core.levels.items()):
            factors = tuple(model.names.index(name) for name in core.levels)
            indexes = tuple(model.levels[name].index(level) for name, level in core.levels.items())
            rules.append(Rule(f"core: {core}", factors, frozenset({indexes})))
    return Model(model.levels, tuple(rules), model.groups)


def read_cores(path: Path, version: int) -> tuple[Core, ...]:
    """The cores that a file keeps for a version; none where there is no file. Raises SeveralErrors."""
    if not path.is_file():
        return ()
    document = load_file(path)[0]
    found: list[Core] = []
    errors: list[UserError] = []
    for place, entry in enumerate((document.value or {}).get("cores", [])):
        levels, versions = entry.get("levels"), entry.get("versions")
        if not isinstance(levels, dict) or not isinstance(versions, list):
            errors.append(
                UserError(
                    "not a core",
                    got=repr(entry)[:80],
                    expected="`levels` by factor, and the `versions` that have it",
                    where=document.place(("cores", place)),
                )
            )
        elif version in versions:
            found.append(Core(levels))
    if errors:
        raise SeveralErrors(errors)
    return tuple(found)


def write_cores(path: Path, by_version: Mapping[int, Sequence[Core]], header: str = "") -> None:
    """Write the cores of an operator's versions, each once with the versions that have it."""
    versions: dict[tuple[tuple[str, Level], ...], list[int]] = {}
    for version, cores in sorted(by_version.items()):
        for core in cores:
            versions.setdefault(tuple(core.levels.items()), []).append(version)
    order = sorted(versions, key=lambda each: [(name, str(level)) for name, level in each])
    entries = [{"levels": dict(levels), "versions": versions[levels]} for levels in order]
    if entries:
        text = dump(
            {"confirmed_by": {"searches": CONFIRMATIONS, "candidates": CONFIRMING_BUDGET}, "cores": entries}
        )
        write_text(path, header + text)
    else:
        path.unlink(missing_ok=True)
