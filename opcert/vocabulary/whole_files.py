"""Files written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from opcert.vocabulary.errors import unwritable


def write_text(path: Path, text: str) -> Path:
    """Write UTF-8 text by rename; raises UserError where that cannot be done."""
    return write_bytes(path, text.encode("utf-8", "backslashreplace"))


def write_bytes(path: Path, raw: bytes, what: str = "the file") -> Path:
    """Write bytes by rename; raises UserError, which says `what` they are, where that cannot be done."""
    made: str | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, made = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
        Path(made).chmod(0o644)
        Path(made).replace(path)
    except OSError as error:
        if made is not None:
            Path(made).unlink(missing_ok=True)
        raise unwritable(what, path, error) from error
    return path
