"""Finding and loading specs: imported facts and what people added, as one effective spec."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

from opcert.errors import UserError
from opcert.names import OperatorName
from specs import curated_files, imported_files
from specs.curation import merge_curated
from specs.declarations import find_declaration, merge_declaration
from specs.imported_files import read_imported
from specs.layers import merge_layers
from specs.model import Spec

OWN_FOLDER = Path(__file__).parent
"""The specs that ship with the package."""

REGRESSIONS = "regressions"
"""The folder of calls beside a spec's files."""


def spec_folder(operator: OperatorName, folder: Path) -> Path:
    """Where a folder of specs keeps an operator version: `<domain>/<Name>-<version>`."""
    return folder / operator.domain / operator.short


def list_operators(folders: Sequence[Path] = ()) -> list[OperatorName]:
    """Every operator version that has an `imported.yaml`, in order; UserError where a folder is missing."""
    found = set()
    for folder in folders or (OWN_FOLDER,):
        if not folder.is_dir():
            raise UserError("no such folder of specs", got=str(folder))
        for path in folder.glob(f"*/*/{imported_files.FILE_NAME}"):
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
        if (found / imported_files.FILE_NAME).is_file():
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


def names_levels(operator: OperatorName, folders: Sequence[Path]) -> bool:
    """Whether an operator's `curated.yaml` names a module that makes its calls."""
    path = find_spec_folder(operator, folders) / curated_files.FILE_NAME
    return path.is_file() and curated_files.read_curated(path, (*folders, OWN_FOLDER))[0].levels is not None


def load_imported(operator: OperatorName, folders: Sequence[Path] = ()) -> Spec:
    """What the documents alone say about an operator version; raises UserError as `load_spec` does."""
    return merge_layers(read_imported(find_spec_folder(operator, folders) / imported_files.FILE_NAME))


def load_spec(operator: OperatorName, folders: Sequence[Path] = ()) -> Spec:
    """The effective spec of an operator version; of the folders, the first that has the operator counts.

    Raises UserError for an unknown operator, SeveralErrors with everything that is wrong in its files.
    """
    spec = load_imported(operator, folders)
    every = (*folders, OWN_FOLDER)
    declaration = find_declaration(operator, every)
    if declaration is not None:
        return merge_declaration(spec, declaration, every)
    path = find_spec_folder(operator, folders) / curated_files.FILE_NAME
    if not path.is_file():
        return spec
    file, document = curated_files.read_curated(path, every)
    return merge_curated(spec, file, document)
