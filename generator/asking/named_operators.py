"""Which operators have declarations and references, by what the files say: nothing is imported for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from opcert.vocabulary.errors import OpcertError
from opcert.vocabulary.names import OperatorName
from specs.files.spec_folders import DECLARATION, OWN_FOLDER, list_operators, room_of, versions_in
from specs.files.stated_values import OLDEST_OPSET, stated_value
from specs.files.version_ranges import in_range

if TYPE_CHECKING:
    from specs.model.spec import Spec

REFERENCES = "reference.operators"
_DECORATOR = "reference_operator"
"""Its argument says what a reference is of: a version of an operator, or all where no version is named."""


@cache
def _references() -> dict[str, str]:
    """The module of each reference that ships, by what its decorator names."""
    return {
        str(operator): f"{REFERENCES}.{path.stem}"
        for path in _files(REFERENCES)
        for operator in _declared_in(path)
    }


def _declared_in(path: Path) -> list[str]:
    """What the references of a module are of, by their decorators."""
    # Imported here, because hardly any file comes to this.
    import ast

    functions = [node for node in ast.parse(path.read_bytes()).body if isinstance(node, ast.FunctionDef)]
    calls = [call for node in functions for call in node.decorator_list if isinstance(call, ast.Call)]
    named = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == _DECORATOR]
    return [ast.literal_eval(call.args[0]) for call in named]


@cache
def reference_modules() -> dict[OperatorName, str]:
    """The module of each reference that ships and is one version's."""
    return {OperatorName.parse(name): reference for name, reference in _references().items() if "-" in name}


def reference_module_of(operator: OperatorName, folders: Sequence[Path] = ()) -> str | None:
    """The module with the reference of an operator version: its own, that of all versions, or another's.

    Which other operator computes it the first folder says that has a declaration of it.
    """
    known = _references()
    rooms = (room_of(operator, folder) for folder in (*folders, OWN_FOLDER))
    other = next((_computing(room) for room in rooms if (room / DECLARATION).is_file()), None)
    if other is not None:
        return known.get(other) or known.get(other.rpartition("-")[0])
    return known.get(str(operator)) or known.get(operator.unversioned)


def _computing(room: Path) -> str | None:
    """The operator version whose reference computes that of a room, where its declaration names one."""
    with suppress(OpcertError):
        return stated_value(room / DECLARATION, "same_as")
    return None


def referenced_versions() -> list[OperatorName]:
    """The versions that references for all versions, and of other operators, hold for.

    They are those that a shipped declaration speaks of.
    """
    rooms = [OWN_FOLDER.joinpath(*name.split("::")) for name in _references() if "-" not in name]
    declared = [path.parent for path in OWN_FOLDER.glob(f"*/*/{DECLARATION}")]
    return _versions_of([*rooms, *(room for room in declared if _computing(room) is not None)])


def declared_versions() -> list[OperatorName]:
    """Every operator version that a shipped declaration speaks of, in order."""
    rooms = [path.parent for path in OWN_FOLDER.glob(f"*/*/{DECLARATION}")]
    return _versions_of(rooms)


def _versions_of(rooms: Iterable[Path]) -> list[OperatorName]:
    return sorted(operator for room in rooms for operator in _versions_declared_in(room))


@cache
def _versions_declared_in(room: Path) -> tuple[OperatorName, ...]:
    domain, name = room.parts[-2:]
    versions = list(versions_in(room))
    with suppress(OpcertError):  # of what is wrong there, who loads it says more
        declared = stated_value(room / DECLARATION, "versions", (OWN_FOLDER,)) or ".."
        versions = [version for version in versions if in_range(declared, version)]
    return tuple(OperatorName(domain, name, version) for version in versions)


def why_not_declared(operator: OperatorName) -> str:
    """Why no shipped declaration speaks of an operator version."""
    path = room_of(operator, OWN_FOLDER) / DECLARATION
    if not path.is_file():
        return "its calls are not declared"
    first, dots, last = (stated_value(path, "versions", (OWN_FOLDER,)) or "0..").partition("..")
    last = last if dots else first
    if last and operator.since_version > int(last):
        return f"newer than {last}, the last version that is declared"
    older = stated_value(path, "older", (OWN_FOLDER,))
    if older is not None:
        return older
    if operator.domain == "ai.onnx" and operator.since_version < OLDEST_OPSET:
        return f"before opset {OLDEST_OPSET}, the oldest that is modelled"
    return f"older than {first}, the first version that is declared"


def first_operators() -> list[OperatorName]:
    """The versions of operators without one reference for all, in order: those that opcert began with."""
    known = _references()
    return sorted(
        reference_module
        for reference_module in reference_modules()
        if reference_module.unversioned not in known
    )


@cache
def referenced_operators() -> tuple[OperatorName, ...]:
    """Every operator version that ships with a reference, in order."""
    return tuple(sorted({*reference_modules(), *referenced_versions()}))


def known_operators(folders: Sequence[Path] = ()) -> list[OperatorName]:
    """The operators that cases can be made of, in order: those that ship, or those of folders of specs.

    Those that ship have a reference and a declaration.
    """
    shipped = referenced_operators()
    if not folders:
        return list(shipped)
    return [
        operator
        for operator in list_operators(folders)
        if operator in shipped or names_a_reference(operator, folders)
    ]


def calls_are_declared(spec: Spec) -> bool:
    """Whether a declaration speaks of an operator version, from which its calls are made."""
    return spec.declared is not None


def names_a_reference(operator: OperatorName, folders: Sequence[Path]) -> bool:
    """Whether what people add to an operator version's facts names a reference.

    The first folder that has a `spec.yaml` of the operator counts. One that cannot be read is said to name
    one: whoever loads it says what is wrong.
    """
    for folder in folders:
        path = room_of(operator, folder) / DECLARATION
        if path.is_file():
            try:
                if stated_value(path, "reference") is None and stated_value(path, "same_as") is None:
                    return False
                declared = stated_value(path, "versions", (*folders, OWN_FOLDER))
                return declared is None or in_range(declared, operator.since_version)
            except OpcertError:
                return True
    return False


def _files(package: str) -> list[Path]:
    """The files of a package's modules, in order."""
    found = find_spec(package)
    places = found.submodule_search_locations if found is not None else None
    return sorted(
        path for place in places or () for path in Path(place).glob("*.py") if path.stem != "__init__"
    )
