"""What operators do, in a word: each room says its group, so that a report's long table can be read.

A group is a file, `groups/<group>.yaml` in a folder of specs: its heading, and the parts that its operators
use unless they say others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from opcert.vocabulary.errors import OpcertError, Place, UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.near_names import near_names
from specs.files.spec_folders import DECLARATION, GROUPS, OWN_FOLDER, room_of
from specs.files.stated_values import group_of, stated_value

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
        try:
            group = group_of(declaration) if declaration is not None else None
            if group is not None and group not in headings:
                files = (folder / FOLDER / f"{group}.yaml" for folder in every)
                file = next((path for path in files if path.is_file()), None)
                headings[group] = stated_value(file, "heading") if file is not None else None
        except OpcertError:
            continue
        heading = headings.get(group) if group is not None else None
        if heading is not None:
            found[operator] = heading
    return found
