"""Where specs lie: a room for each operator, known by the names of files alone.

`<domain>/<Name>/` holds everything that is data about an operator: `imported-<version>.yaml` for each
version's facts, `spec.yaml` for what people say of all versions, and what was learned, measured and kept.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName, newest_named

OWN_FOLDER = Path(__file__).parents[1]
"""The specs that ship with the package."""

DECLARATION = "spec.yaml"
SEARCHED = "searched.yaml"
"""The file of what people add to the facts."""
PARTS = "parts"
"""The folder of a folder of specs that holds the pieces that several operators use by name."""
GROUPS = "groups"
"""The folder of a folder of specs that holds the groups of operators."""
REGRESSIONS = "regressions"
"""The folder of calls in a room."""
ONNX = "ai.onnx"
_FACTS = re.compile(r"imported-(0|[1-9]\d*)\.yaml")


def room_of(operator: OperatorName, folder: Path) -> Path:
    """Where a folder of specs keeps an operator, in all its versions: `<domain>/<Name>`."""
    return folder / operator.domain / operator.name


def facts_path(operator: OperatorName, folder: Path) -> Path:
    """Where a folder of specs keeps the facts of an operator version."""
    return room_of(operator, folder) / f"imported-{operator.since_version}.yaml"


def versions_in(room: Path) -> dict[int, Path]:
    """The files of facts in a room, by their versions; none where there is no room."""
    paths = room.iterdir() if room.is_dir() else ()
    found = {int(fitting[1]): path for path in paths if (fitting := _FACTS.fullmatch(path.name))}
    return dict(sorted(found.items()))


def find_part(name: str, folders: Sequence[Path], user: Path) -> Path | None:
    """The file of a part, in the first folder of specs that has it; None where none has.

    A declaration uses what its domain has under this name, `<domain>/<name>.yaml`, where it has that.
    """
    forms = (f"{user.parent.parent.name}/{name}.yaml", f"{name}.yaml")
    places = (folder / PARTS / form for form in forms for folder in folders)
    return next((path for path in places if path.is_file()), None)


def group_file(declaration: Path, group: str) -> Path:
    """Where the folder of specs that a declaration lies in keeps a group."""
    return declaration.parent.parent.parent / GROUPS / f"{Path(group).name}.yaml"


def computing_declaration(declaration: Path, same_as: object) -> Path | None:
    """The declaration of the operator that computes one, in the same folder of specs; None for no name."""
    try:
        return room_of(OperatorName.parse(str(same_as)), declaration.parent.parent.parent) / DECLARATION
    except UserError:
        return None


def list_operators(folders: Sequence[Path] = ()) -> list[OperatorName]:
    """Every operator version that has facts, in order; raises UserError where a folder is missing."""
    found: set[OperatorName] = set()
    for folder in folders or (OWN_FOLDER,):
        check_folder(folder)
        for domain, room in _rooms(folder):
            try:
                found.update(
                    OperatorName.parse(f"{domain}/{room.name}-{version}") for version in versions_in(room)
                )
            except UserError:
                continue
    return sorted(found)


def find_facts(operator: OperatorName, folders: Sequence[Path] = ()) -> Path:
    """The file of an operator version's facts; UserError with the nearest names where there is none.

    The first of the folders that has the operator counts, and then the specs that ship with the package.
    """
    for folder in (*folders, OWN_FOLDER):
        check_folder(folder)
        found = facts_path(operator, folder)
        if found.is_file():
            return found
    known = [str(each) for each in (*list_operators(folders), *(list_operators() if folders else ()))]
    near = difflib.get_close_matches(str(operator), known, n=3, cutoff=0.5)
    raise UserError(
        "unknown operator",
        got=str(operator),
        expected=f"perhaps {', '.join(near)}" if near else "a name that `opcert list operators` shows",
    )


def find_room(operator: OperatorName, folders: Sequence[Path] = ()) -> Path:
    """The room with an operator version's facts; raises UserError as `find_facts` does."""
    return find_facts(operator, folders).parent


def find_operator_name(text: str, folders: Sequence[Path] = ()) -> OperatorName:
    """The operator that a full name, `Name-version` or `Name` means, of a bare name the newest version.

    A name that ONNX has is ONNX's. Raises UserError where none fits, or those of several other domains.
    """
    known = list_operators(folders)
    fitting = newest_named(text, known)
    fitting = [each for each in fitting if each.domain == ONNX] or fitting
    if len(fitting) == 1:
        return fitting[0]
    if not fitting and folders:
        return find_operator_name(text)
    if fitting:
        told = ", ".join(map(str, fitting))
        raise UserError("several operators of this name", got=repr(text), expected=told)
    if ("::" in text or "/" in text) and "-" in text:
        return OperatorName.parse(text)
    near = [operator.short for operator in known if operator.name.lower() == text.lower()]
    near = near or difflib.get_close_matches(text, [operator.short for operator in known], n=3, cutoff=0.5)
    expected = ", ".join(str(operator) for operator in known if operator.short in near)
    raise UserError("unknown operator", got=repr(text), expected=expected or "domain::Name-version")


def regressions_folder(operator: OperatorName, folders: Sequence[Path] = ()) -> Path:
    """Where the calls of an operator lie that are in its suites for ever; there need be no such folder."""
    return find_room(operator, folders) / REGRESSIONS


def check_folder(folder: Path) -> None:
    """Raise UserError where a folder of specs is missing."""
    if not folder.is_dir():
        raise UserError("no such folder of specs", got=str(folder))


def _rooms(folder: Path) -> Iterator[tuple[str, Path]]:
    """The folders two below a folder of specs, each with the name of the one between."""
    with os.scandir(folder) as domains:
        for domain in domains:
            if domain.is_dir():
                with os.scandir(domain.path) as rooms:
                    yield from ((domain.name, Path(room.path)) for room in rooms if room.is_dir())
