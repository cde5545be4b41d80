"""Where specs lie: their folders and operators, known by the names of files alone."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName

OWN_FOLDER = Path(__file__).parent
"""The specs that ship with the package."""

REGRESSIONS = "regressions"
"""The folder of calls beside a spec's files."""
IMPORTED = "imported.yaml"
"""The file of an operator version's facts; a folder that has it is one of a spec."""
CURATED = "curated.yaml"
DECLARATION = "spec.yaml"
"""The file of what people add to them."""


def spec_folder(operator: OperatorName, folder: Path) -> Path:
    """Where a folder of specs keeps an operator version: `<domain>/<Name>-<version>`."""
    return folder / operator.domain / operator.short


def list_operators(folders: Sequence[Path] = ()) -> list[OperatorName]:
    """Every operator version that has an `imported.yaml`, in order; UserError where a folder is missing."""
    found = set()
    for folder in folders or (OWN_FOLDER,):
        if not folder.is_dir():
            raise UserError("no such folder of specs", got=str(folder))
        for path in folder.glob(f"*/*/{IMPORTED}"):
            try:
                found.add(OperatorName.parse(f"{path.parent.parent.name}/{path.parent.name}"))
            except UserError:
                continue
    return sorted(found)


def find_spec_folder(operator: OperatorName, folders: Sequence[Path] = ()) -> Path:
    """The folder of an operator version's files; UserError with the nearest names where there is none.

    The first of the folders that has the operator counts, and then the specs that ship with the package.
    """
    for folder in (*folders, OWN_FOLDER):
        if not folder.is_dir():
            raise UserError("no such folder of specs", got=str(folder))
        found = spec_folder(operator, folder)
        if (found / IMPORTED).is_file():
            return found
    known = [str(each) for each in (*list_operators(folders), *(list_operators() if folders else ()))]
    near = difflib.get_close_matches(str(operator), known, n=3, cutoff=0.5)
    raise UserError(
        "unknown operator",
        got=str(operator),
        expected=f"perhaps {', '.join(near)}" if near else "a name that `opcert list operators` shows",
    )


def find_operator_name(text: str, folders: Sequence[Path] = ()) -> OperatorName:
    """The operator that a full name, `Name-version` or `Name` means; UserError where none or several fit."""
    if "::" in text or "/" in text:
        return OperatorName.parse(text)
    fitting = [each for each in list_operators(folders) if text in (each.short, each.name)]
    if not fitting and folders:
        return find_operator_name(text)
    if len(fitting) == 1:
        return fitting[0]
    if not fitting:
        known = list_operators(folders)
        near = difflib.get_close_matches(text, [each.short for each in known], n=3, cutoff=0.5)
        expected = ", ".join(str(each) for each in known if each.short in near)
        raise UserError("unknown operator", got=repr(text), expected=expected or "domain::Name-version")
    raise UserError("several operators of this name", got=repr(text), expected=", ".join(map(str, fitting)))


def regressions_folder(operator: OperatorName, folders: Sequence[Path] = ()) -> Path:
    """Where the calls of an operator lie that are in its suite for ever; there need be no such folder."""
    return find_spec_folder(operator, folders) / REGRESSIONS
