"""What is made from a record goes before the record changes, so that nothing speaks of another one."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from opcert.vocabulary.errors import unwritable

CERTIFIED = {
    "certificate.json": rb'in-toto\.io/Statement|"payloadType":"application/vnd\.in-toto',
    "certificate-badge.json": rb'"label": "opcert certificate"',
    "certificate.html": rb'<span class="brand">opcert',
    "index.html": rb'<script type="application/json" id="directory">',
    "junit.xml": rb'<testsuites name="opcert ',
    "explanations.json": rb'"format":"opcert-explanations/',
}
"""The files that `certify` writes, and what ours of that name hold."""

_EXPERIMENTS = {"diagnosis.json": rb'"format":"opcert-diagnosis/'}
"""What a run writes beside its record where something fails."""


def remove_derived(folder: Path, *, ours: bool, but: Collection[str] = ()) -> None:
    """Remove from the folder of a record what was made from it; UserError where that cannot be done.

    Files with names in `but` stay.
    In a folder that is `ours` (nobody named it, or it was named for a certificate) whatever has the name of a
    file that `certify` writes goes; anything else only where what it holds shows that it is of opcert.
    """
    # Imported here, because whoever only asks for help needs no format.
    from reports.formats import read_marks

    for name, mark in {**CERTIFIED, **_EXPERIMENTS, **read_marks()}.items():
        if name in but:
            continue
        path = folder / name
        try:
            for begun in folder.glob(f".{name}.{'[a-z0-9_]' * 8}"):  # what a killed process was writing
                begun.unlink()
            if (ours and name in CERTIFIED) or _holds(path, mark):
                path.unlink(missing_ok=True)
        except OSError as error:
            raise unwritable("what was made from an earlier record", path, error) from error


def _holds(path: Path, mark: bytes) -> bool:
    try:
        return not path.is_symlink() and path.is_file() and bool(re.search(mark, path.read_bytes()))
    except OSError:
        return False
