"""Declared operators for tests: those that ship, and small ones made up in a folder of specs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from generator.asking.named_operators import calls_are_declared
from generator.calls.data.draws import Draw
from generator.calls.solver.solving import Found
from generator.calls.space.space import CallSpace, open_space
from opcert.vocabulary.names import OperatorName
from specs.files.declarations import FILE_NAME
from specs.files.library import load_spec
from specs.files.spec_folders import OWN_FOLDER, list_operators


@cache
def declared_operators() -> tuple[OperatorName, ...]:
    """Every operator version that ships with a declaration of its calls, in order."""
    rooms = {(path.parent.parent.name, path.parent.name) for path in OWN_FOLDER.glob(f"*/*/{FILE_NAME}")}
    return tuple(
        operator
        for operator in list_operators()
        if (operator.domain, operator.name) in rooms and calls_are_declared(load_spec(operator))
    )


def newest_operators() -> list[OperatorName]:
    """The newest version of each declared operator."""
    found = {
        (declared_operator.domain, declared_operator.name): declared_operator
        for declared_operator in sorted(declared_operators(), key=lambda one: one.since_version)
    }
    return sorted(found.values())


def some_now(operators: Sequence[OperatorName]) -> list[Any]:
    """Parameters of a test: every fourth of these operators, and the others at night."""
    return [
        pytest.param(operator, marks=() if place % 4 == 0 else pytest.mark.nightly, id=str(operator))
        for place, operator in enumerate(operators)
    ]


def newest_of_onnx() -> dict[str, OperatorName]:
    """The newest version of each declared operator of ONNX's own domain, by name."""
    return {each.name: each for each in newest_operators() if each.domain == "ai.onnx"}


def ends_of_operators() -> list[OperatorName]:
    """The newest version of each declared operator, and then the oldest, which may have kinds of its own."""
    oldest = {
        (declared_operator.domain, declared_operator.name): declared_operator
        for declared_operator in sorted(declared_operators(), key=lambda one: -one.since_version)
    }
    return list(dict.fromkeys((*newest_operators(), *sorted(oldest.values()))))


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
