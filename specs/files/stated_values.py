"""Single values that a declaration states, without loading it: what lists of all operators ask of each file.

There is one reader of these files, `specs.files.declaration_files`, and it reads hundreds of them at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from opcert.vocabulary.regular_files import FileState, file_state
from specs.files.spec_folders import find_part, group_file

KEYS = ("versions", "older", "uses", "group", "reference", "same_as")


def stated_value(path: Path, key: str, folders: Sequence[Path] = ()) -> str | None:
    """What a declaration has under one of KEYS, as text; else, of folders, the first part that has it.

    Raises UserError or SeveralErrors where it cannot be read.
    """
    return _find(path, key, folders, ())


def _find(path: Path, key: str, folders: Sequence[Path], inside: tuple[str, ...]) -> str | None:
    stated = _stated(path, file_state(path))
    if key in stated:
        return str(stated[key])
    used = stated.get("uses") if folders else None
    if folders and used is None and "group" in stated:
        group = group_file(path, stated["group"])
        used = _stated(group, file_state(group)).get("uses")
    for name in used if isinstance(used, list) else ():
        part = None if name in inside else find_part(str(name), folders)
        found = None if part is None else _find(part, key, folders, (*inside, str(name)))
        if found is not None:
            return found
    return None


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
