"""Declared operators for tests: those that ship, and small ones made up in a folder of specs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from pathlib import Path

from generator.asking.named_operators import calls_are_declared
from generator.calls.data.draws import Draw
from generator.calls.solver.solving import Found
from generator.calls.space.space import CallSpace, open_space
from opcert.vocabulary.names import OperatorName
from specs.files.declarations import FILE_NAME
from specs.files.library import load_spec
from specs.files.spec_folders import OWN_FOLDER, list_operators


@cache
def _versions() -> tuple[tuple[OperatorName, ...], ...]:
    """The versions of each operator of which a declaration ships, the oldest first."""
    rooms = {(path.parent.parent.name, path.parent.name) for path in OWN_FOLDER.glob(f"*/*/{FILE_NAME}")}
    found: dict[tuple[str, str], list[OperatorName]] = {}
    for operator in sorted(list_operators(), key=lambda one: (one.domain, one.name, one.since_version)):
        if (operator.domain, operator.name) in rooms:
            found.setdefault((operator.domain, operator.name), []).append(operator)
    return tuple(map(tuple, found.values()))


def _first_declared(versions: Iterable[OperatorName]) -> Iterator[OperatorName]:
    return islice((version for version in versions if calls_are_declared(load_spec(version))), 1)


def declared_versions(name: str) -> list[OperatorName]:
    """The versions of the operators of a name that a declaration speaks of."""
    versions = [version for versions in _versions() for version in versions if version.name == name]
    return [version for version in versions if calls_are_declared(load_spec(version))]


@cache
def newest_operators() -> tuple[OperatorName, ...]:
    """The newest version of each declared operator."""
    return tuple(newest for versions in _versions() for newest in _first_declared(reversed(versions)))


def newest_of_onnx() -> dict[str, OperatorName]:
    """The newest version of each declared operator of ONNX's own domain, by name."""
    return {each.name: each for each in newest_operators() if each.domain == "ai.onnx"}


@cache
def ends_of_operators() -> tuple[OperatorName, ...]:
    """The newest version of each declared operator, and then the oldest, which may have kinds of its own."""
    oldest = (version for versions in _versions() for version in _first_declared(versions))
    return tuple(dict.fromkeys((*newest_operators(), *oldest)))


@cache
def space_of(operator: OperatorName) -> CallSpace:
    """The space of an operator that ships."""
    return open_space(load_spec(operator))


def random_scopes(space: CallSpace, count: int, word: str) -> Iterator[tuple[Found, Draw]]:
    """Solved calls of a space with levels left free, each with a draw of its own."""
    for turn in range(count):
        draw = Draw(f"{space.spec.operator}/{word}/{turn}")
        found = space.search.solve({}, draw)
        if isinstance(found, Found):
            yield found, draw


def write_operator(
    folder: Path, declaration: str, imported: str, *, parts: Mapping[str, str] | None = None
) -> OperatorName:
    """A made-up operator `test::Made-1` in a folder of specs, of its facts and its declaration."""
    operator = OperatorName("test", "Made", 1)
    room = folder / operator.domain / operator.name
    room.mkdir(parents=True, exist_ok=True)
    (room / "imported-1.yaml").write_text(imported, encoding="utf-8")
    (room / FILE_NAME).write_text(declaration, encoding="utf-8")
    for name, text in (parts or {}).items():
        path = folder / "parts" / f"{name}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return operator
