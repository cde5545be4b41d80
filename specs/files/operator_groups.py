"""What operators do, in a word: each room says its group, so that a report's long table can be read.

A group is a file, `groups/<group>.yaml` in a folder of specs: its heading, and the parts that its operators
use unless they say others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from opcert.vocabulary.errors import OpcertError, Place, UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.near_names import near_names
from opcert.vocabulary.yaml_files import load_file
from specs.files.declaration_files import read_document
from specs.files.spec_folders import DECLARATION, GROUPS, OWN_FOLDER, group_file, room_of

FOLDER = GROUPS


def known_groups(folders: Sequence[Path]) -> list[str]:
    """The names of the groups that folders of specs have."""
    found = (path for folder in folders for path in (folder / FOLDER).glob("*.yaml"))
    return sorted({path.stem for path in found})


def wrong_group(group: str, folders: Sequence[Path], where: Place) -> UserError | None:
    """What is wrong with the group that a declaration says; None where it is a known one."""
    if any((folder / FOLDER / f"{group}.yaml").is_file() for folder in folders):
        return None
    known = known_groups(folders)
    near = near_names(group, known)
    return UserError(
        "no such group of operators",
        got=group,
        expected=f"perhaps {' or '.join(near)}" if near else f"one of {', '.join(known)}",
        where=where,
        remedy=f"For a new group write {FOLDER}/{group}.yaml, with its heading.",
    )


def parts_used(stated: Mapping[str, Any], declaration: Path) -> list[Any]:
    """The parts that a declaration uses: those that it names, else those that its group's file names.

    A group speaks for the declarations of its own folder of specs; one that uses none says `uses: []`.
    """
    used, group = stated.get("uses"), stated.get("group")
    if used is None and isinstance(group, str):
        file = group_file(declaration, group)
        used = read_document(file).value.get("uses") if file.is_file() else None
    return used if isinstance(used, list) else []


def group_headings(
    operators: Iterable[OperatorName], folders: Sequence[Path] = ()
) -> dict[OperatorName, str]:
    """The headings of operators' groups, by their names; those whose rooms say none are left out.

    Of a damaged file nothing is said here: who loads the operator is told what is wrong.
    """
    every = (*folders, OWN_FOLDER)
    headings: dict[str, str | None] = {}
    found: dict[OperatorName, str] = {}
    for operator in operators:
        rooms = (room_of(operator, folder) / DECLARATION for folder in every)
        declaration = next((path for path in rooms if path.is_file()), None)
        group = _text(declaration, "group") if declaration is not None else None
        if group is None:
            continue
        if group not in headings:
            files = (folder / FOLDER / f"{group}.yaml" for folder in every)
            file = next((path for path in files if path.is_file()), None)
            headings[group] = _text(file, "heading") if file is not None else None
        heading = headings[group]
        if heading is not None:
            found[operator] = heading
    return found


def _text(path: Path, key: str) -> str | None:
    try:
        documents = load_file(path)
    except OpcertError:
        return None
    value = documents[0].value if documents else None
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) else None
