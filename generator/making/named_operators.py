"""Which operators have declarations and references, by what the files say: nothing is imported for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.regular_files import read_regular
from specs.spec_folders import DECLARATION, OWN_FOLDER, list_operators, room_of, versions_in
from specs.version_ranges import in_range

if TYPE_CHECKING:
    from specs.model import Spec

REFERENCES = "reference.operators"
OLDEST_OPSET = 7
"""The first opset of ONNX of which operators are modelled: until then inputs were broadcast otherwise."""
_LARGEST = 64 << 20
_VERSIONS = re.compile(rb"^versions[ \t]*:[ \t]*([0-9]+|[0-9]*\.\.[0-9]*)[ \t]*(?:#.*)?\r?$", re.MULTILINE)
_OLDER = re.compile(rb"^older[ \t]*:[ \t]*([^#\r\n]+)", re.MULTILINE)
_USED = re.compile(rb"^uses[ \t]*:[ \t]*\[([\w, \t]*)\]", re.MULTILINE)
_DECLARED = re.compile(r"^@reference_operator\(\s*[\"']([^\"']+)[\"']", re.MULTILINE)
"""What a reference is of: a version of an operator, or all of them where no version is named."""


@cache
def _references() -> dict[str, str]:
    """The module of each reference that ships, by what its decorator names."""
    return {
        operator: f"{REFERENCES}.{path.stem}"
        for path in _files(REFERENCES)
        for operator in _DECLARED.findall(path.read_text(encoding="utf-8"))
    }


@cache
def reference_modules() -> dict[OperatorName, str]:
    """The module of each reference that ships and is one version's."""
    return {OperatorName.parse(name): each for name, each in _references().items() if "-" in name}


def reference_module_of(operator: OperatorName) -> str | None:
    """The module with the reference of an operator version, its own or that of all versions."""
    known = _references()
    return known.get(str(operator)) or known.get(operator.unversioned)


def referenced_versions() -> list[OperatorName]:
    """The versions that references for all versions hold for: those that a shipped declaration speaks of."""
    rooms = [OWN_FOLDER.joinpath(*name.split("::")) for name in _references() if "-" not in name]
    return sorted(each for room in rooms for each in _versions_declared_in(room))


def declared_versions() -> list[OperatorName]:
    """Every operator version that a shipped declaration speaks of, in order."""
    rooms = [path.parent for path in OWN_FOLDER.glob(f"*/*/{DECLARATION}")]
    return sorted(each for room in rooms for each in _versions_declared_in(room))


@cache
def _versions_declared_in(room: Path) -> tuple[OperatorName, ...]:
    declared = _declared_range(_declaration(room))
    domain, name = room.parts[-2:]
    return tuple(OperatorName(domain, name, each) for each in versions_in(room) if in_range(declared, each))


def why_not_declared(operator: OperatorName) -> str:
    """Why no shipped declaration speaks of an operator version."""
    room = OWN_FOLDER / operator.domain / operator.name
    text = _declaration(room)
    if not text:
        return "its calls are not declared"
    first, dots, last = _declared_range(text).partition("..")
    last = last if dots else first
    if last and operator.since_version > int(last):
        return f"newer than {last}, the last version that is declared"
    older = _first_of(_OLDER, text)
    if older is not None:
        return older.strip()
    if operator.domain == "ai.onnx" and operator.since_version < OLDEST_OPSET:
        return f"before opset {OLDEST_OPSET}, the oldest that is modelled"
    return f"older than {first}, the first version that is declared"


def _declared_range(text: bytes) -> str:
    """The versions that a declaration speaks of: its own, or those of a part that it uses, or all."""
    return _first_of(_VERSIONS, text) or "0.."


def _first_of(pattern: re.Pattern[bytes], text: bytes) -> str | None:
    """What a declaration has under a key, or the first part that it uses; None where none has it."""
    used = _USED.search(text)
    parts = [each.strip().decode() for each in used[1].split(b",")] if used is not None else []
    found = map(pattern.search, [text, *map(_part, parts)])
    return next((each[1].decode() for each in found if each is not None), None)


@cache
def _declaration(room: Path) -> bytes:
    return _read(room / DECLARATION)


@cache
def _part(name: str) -> bytes:
    return _read(OWN_FOLDER / "parts" / f"{name}.yaml")


def first_operators() -> list[OperatorName]:
    """The versions of operators without one reference for all, in order: those that opcert began with."""
    known = _references()
    return sorted(each for each in reference_modules() if each.unversioned not in known)


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
        each for each in list_operators(folders) if each in shipped or names_what_makes_calls(each, folders)
    ]


def calls_are_declared(spec: Spec) -> bool:
    """Whether an operator's calls are made from its declaration alone, and not by a module of levels."""
    return spec.declared is not None and spec.levels_module is None


def names_what_makes_calls(operator: OperatorName, folders: Sequence[Path]) -> bool:
    """Whether what people add to an operator version's facts names a reference, or a module of levels.

    The first folder that has a `spec.yaml` of the operator counts. Keys stand at the begin of a line as a
    rule; a file that has their words elsewhere is read as YAML.
    """
    for folder in folders:
        path = room_of(operator, folder) / DECLARATION
        if path.is_file():
            text = _read(path)
            return _names(path, text, ("reference", "levels")) and _speaks_of(path, text, operator)
    return False


def _read(path: Path) -> bytes:
    try:
        return read_regular(path, _LARGEST)
    except OSError:
        return b""


def _names(path: Path, text: bytes, keys: Sequence[str]) -> bool:
    """Whether the mapping in a file has one of these keys."""
    if any(re.search(rb"^%s[ \t]*:" % key.encode(), text, re.MULTILINE) for key in keys):
        return True
    if not any(key.encode() in text for key in keys):
        return False
    # Imported here, because the files of hardly any operator come to this.
    from specs.composition import read_document

    return any(read_document(path).value.get(key) is not None for key in keys)


def _speaks_of(path: Path, text: bytes, operator: OperatorName) -> bool:
    """Whether a declaration speaks of an operator's version."""
    if b"versions" not in text:
        return True
    found = _VERSIONS.search(text)
    if found is not None:
        return in_range(found[1].decode(), operator.since_version)
    from specs.composition import declares

    return declares(path, operator.since_version)


def _files(package: str) -> list[Path]:
    """The files of a package's modules, in order."""
    found = find_spec(package)
    places = found.submodule_search_locations if found is not None else None
    return sorted(
        path for place in places or () for path in Path(place).glob("*.py") if path.stem != "__init__"
    )
