"""Which operators have levels and references, by what the files say: nothing is imported for it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.regular_files import read_regular
from specs.spec_folders import CURATED, DECLARATION, find_spec_folder, list_operators

LEVELS = "generator.levels"
REFERENCES = "reference.operators"
_LARGEST = 64 << 20
_DECLARED = re.compile(r"^@reference_operator\(\s*[\"']([^\"']+)[\"']", re.MULTILINE)
_OWN_REFERENCE = re.compile(rb"^reference[ \t]*:", re.MULTILINE)
_OWN_LEVELS = re.compile(rb"^levels[ \t]*:", re.MULTILINE)


@cache
def levels_modules() -> dict[OperatorName, str]:
    """The module that makes the calls of each operator that ships: the one that has it in `OPERATORS`."""
    return {
        OperatorName.parse(operator): f"{LEVELS}.{path.stem}"
        for path in _files(LEVELS)
        if not path.stem.startswith("_")  # what several of the modules share
        for operator in _listed(path)
    }


@cache
def reference_modules() -> dict[OperatorName, str]:
    """The module with the reference of each operator that ships: by its decorators."""
    return {
        OperatorName.parse(operator): f"{REFERENCES}.{path.stem}"
        for path in _files(REFERENCES)
        for operator in _DECLARED.findall(path.read_text(encoding="utf-8"))
    }


def known_operators(folders: Sequence[Path] = ()) -> list[OperatorName]:
    """The operators that cases can be made of, in order: those that ship, or those of folders of specs.

    Those that ship have a reference, and beside it a module of levels or a declaration.
    """
    shipped = reference_modules()
    if not folders:
        return sorted(shipped)
    return [
        each
        for each in list_operators(folders)
        if each in shipped or declares_calls(each, folders) or names_levels(each, folders)
    ]


def declares_calls(operator: OperatorName, folders: Sequence[Path]) -> bool:
    """Whether the first folder that declares an operator's calls names what is right, too."""
    for folder in folders:
        path = folder / operator.domain / operator.name / DECLARATION
        if path.is_file():
            if not _OWN_REFERENCE.search(read_regular(path, _LARGEST)):
                return False
            # Imported here, because the files of hardly any operator come to this.
            from specs.composition import declares

            return declares(path, operator.since_version)
    return False


def names_levels(operator: OperatorName, folders: Sequence[Path]) -> bool:
    """Whether an operator's `curated.yaml` names a module that makes its calls.

    The key stands at the begin of a line as a rule; a file that has the word elsewhere is read as YAML.
    """
    path = find_spec_folder(operator, folders) / CURATED
    if not path.is_file():
        return False
    try:
        text = read_regular(path, _LARGEST)
    except OSError:
        return False
    if _OWN_LEVELS.search(text):
        return True
    if b"levels" not in text:
        return False
    # Imported here, because the files of hardly any operator come to this.
    from specs.curated_files import read_curated
    from specs.spec_folders import OWN_FOLDER

    return read_curated(path, (*folders, OWN_FOLDER))[0].levels is not None


def _files(package: str) -> list[Path]:
    """The files of a package's modules, in order."""
    found = find_spec(package)
    places = found.submodule_search_locations if found is not None else None
    return sorted(
        path for place in places or () for path in Path(place).glob("*.py") if path.stem != "__init__"
    )


def _listed(path: Path) -> Iterator[str]:
    """The texts of the tuple `OPERATORS` of a module; UserError where it is not written out."""
    for each in ast.parse(path.read_text(encoding="utf-8"), str(path)).body:
        if isinstance(each, ast.Assign) and [ast.unparse(target) for target in each.targets] == ["OPERATORS"]:
            try:
                yield from ast.literal_eval(each.value)
            except ValueError:
                raise UserError(
                    "OPERATORS is not written out", got=ast.unparse(each.value), expected="a tuple of names"
                ) from None
