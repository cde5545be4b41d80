"""The cases that the size `small` begins with: few that notice every mistake which the default suite notices.

`specs/small.json` has a line for each operator version that ships; of operators of other folders of specs the
selection stands in the file of what was measured (`generator.measured.kept`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from generator.making.operators.sources import digest_of
from generator.measured.kept import MeasuredOperator, Selected, kept_path, read_kept, selected_entry
from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.whole_files import write_text
from specs.files.spec_folders import OWN_FOLDER

SELECTIONS_FILE = OWN_FOLDER / "small.json"
_FORMAT = "opcert-small/1"


def read_selection(operator: OperatorName, folders: Sequence[Path] = ()) -> tuple[Selected, ...]:
    """The cases of an operator version, those that notice most first; none where nothing was measured.

    Raises UserError where the file is damaged.
    """
    if folders:
        kept = read_kept(operator, folders[0])
        return () if kept is None else kept.selection
    try:
        return tuple(Selected(**entry) for entry in _read().get(str(operator), ()))
    except (TypeError, AttributeError) as error:
        raise _damaged(error) from error


def write_selection(kept: MeasuredOperator) -> None:
    """Write the line of an operator version that ships; the others stay."""
    entries = {**_read(), kept.operator: [selected_entry(selected) for selected in kept.selection]}
    lines = [
        f"{json.dumps(name)}: {json.dumps(entries[name], separators=(',', ':'), sort_keys=True)}"
        for name in sorted(entries)
    ]
    text = ",\n".join([f'"format": {json.dumps(_FORMAT)}', *lines])
    write_text(SELECTIONS_FILE, "{\n" + text + "\n}\n")


def selections_digest(operators: Sequence[OperatorName], folders: Sequence[Path] = ()) -> str | None:
    """The digest of the files that the selections of operators are read from; None where there are none."""
    paths = [kept_path(operator, folders[0]) for operator in operators] if folders else [SELECTIONS_FILE]
    there = [path for path in paths if path.is_file()]
    return digest_of(there) if there else None


def _read() -> dict[str, Any]:
    if not SELECTIONS_FILE.is_file():
        return {}
    try:
        found: dict[str, Any] = json.loads(SELECTIONS_FILE.read_text(encoding="utf-8"))
        if found.pop("format") != _FORMAT:
            raise ValueError("not of this format")
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise _damaged(error) from error
    return found


def _damaged(error: Exception) -> UserError:
    return UserError(
        "the cases of the size small cannot be read",
        got=str(error),
        expected=_FORMAT,
        where=Place(str(SELECTIONS_FILE)),
        remedy="Install opcert again, or take the file from its repository.",
    )
