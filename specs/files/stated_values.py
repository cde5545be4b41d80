"""Single values that a declaration states, without loading it: what lists of all operators ask of each file.

There is one reader of these files, `specs.files.declaration_files`, and it reads hundreds of them at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from opcert.vocabulary.regular_files import FileState, file_state
from specs.files.spec_folders import (
    ONNX,
    OWN_FOLDER,
    computing_declaration,
    find_part,
    group_file,
    versions_in,
)

OLDEST_OPSET = 7
"""The first opset of ONNX of which operators are modelled: until then inputs were broadcast otherwise."""
KEYS = ("versions", "older", "uses", "group", "reference", "same_as", "heading")


def stated_value(path: Path, key: str, folders: Sequence[Path] = ()) -> str | None:
    """What a declaration has under one of KEYS, as text; else, of folders, the first part that has it.

    With folders, declarations of ONNX's operators that ship have `versions` where they state none. Raises
    UserError or SeveralErrors where it cannot be read.
    """
    found = _find(path, key, folders, ())
    return _modelled_versions(path) if folders and key == "versions" and found is None else found


def _modelled_versions(declaration: Path) -> str | None:
    """Of an operator of ONNX, the version in force in OLDEST_OPSET, and those after it."""
    if declaration.parent.parent != OWN_FOLDER / ONNX:
        return None
    in_force = [version for version in versions_in(declaration.parent) if version <= OLDEST_OPSET]
    return f"{max(in_force)}.." if in_force else None


def _find(path: Path, key: str, folders: Sequence[Path], inside: tuple[Path, ...]) -> str | None:
    stated = _stated(path, file_state(path))
    if key in stated:
        return str(stated[key])
    for name in parts_used(stated, path) if folders else ():
        part = find_part(str(name), folders, path)
        found = None if part is None or part in inside else _find(part, key, folders, (*inside, part))
        if found is not None:
            return found
    return None


def group_of(declaration: Path) -> str | None:
    """The group that a declaration says, else that of the operator of its folder that computes it."""
    stated = _stated(declaration, file_state(declaration))
    group = stated.get("group", _of_computing(stated, declaration)[1].get("group"))
    return group if isinstance(group, str) else None


def parts_used(stated: Mapping[str, Any], declaration: Path) -> list[Any]:
    """The parts that a declaration uses: those that it names, else those that its group's file names.

    Without a group of its own it uses what the operator that computes it does. Groups and operators speak for
    the declarations of their own folder of specs; a declaration that uses nothing says `uses: []`.
    """
    if "uses" not in stated and "group" not in stated:
        other, stated = _of_computing(stated, declaration)
        declaration = other or declaration
    used = stated.get("uses")
    if used is None and isinstance(group := stated.get("group"), str):
        file = group_file(declaration, group)
        used = _stated(file, file_state(file)).get("uses")
    return used if isinstance(used, list) else []


def _of_computing(stated: Mapping[str, Any], declaration: Path) -> tuple[Path | None, Mapping[str, Any]]:
    """The declaration that `same_as` names, and what it states."""
    other = computing_declaration(declaration, stated["same_as"]) if "same_as" in stated else None
    return other, {} if other is None else _stated(other, file_state(other))


@lru_cache(maxsize=4096)
def _stated(path: Path, state: FileState | None) -> Mapping[str, Any]:
    """The values of a file, which stay while it is as it was; none where there is no file."""
    if state is None:
        return {}
    # Imported here, because what lies beside lists has no use for YAML.
    from specs.files.declaration_files import read_document

    value = read_document(path).value
    found = {key: value[key] for key in KEYS if value.get(key) is not None}
    return {key: each if isinstance(each, list) else str(each) for key, each in found.items()}
