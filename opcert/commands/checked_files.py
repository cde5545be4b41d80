"""The files of an earlier check go before another one begins, so that none speaks of another run."""

from __future__ import annotations

import re
from pathlib import Path

from opcert.vocabulary.errors import unwritable

WRITTEN = {
    "index.html": rb'<span class="brand">opcert check</span>',
    "check.json": rb'"format": "opcert-check/',
    "check.sarif": rb'"id": "opcert check/',
    "check.md": rb" nodes? makes? \S+ distinct calls? of ",
    "junit.xml": rb'<testsuites name="opcert check ',
}
"""The files that `check` writes, and what ours of that name hold."""


def remove_check(folder: Path) -> None:
    """Remove them from a folder; what is not ours stays. UserError where that cannot be done."""
    for name, mark in WRITTEN.items():
        path = folder / name
        try:
            if path.is_file() and not path.is_symlink() and re.search(mark, path.read_bytes()):
                path.unlink()
        except OSError as error:
            raise unwritable("what was made from an earlier check", path, error) from error
