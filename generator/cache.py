"""Generated suites in the user's cache, each in a folder named by its digest."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from generator.lock import read_lock
from generator.suites import Progress, write_generated
from generator.workshop import Options
from opcert.errors import Place, UserError
from opcert.names import OperatorName

PROCESSES = min(2, os.cpu_count() or 1)


def suites_folder() -> Path:
    """Where suites are kept: `opcert/suites` in XDG_CACHE_HOME, or in `.cache` of the home folder."""
    chosen = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(chosen) if chosen and Path(chosen).is_absolute() else Path.home() / ".cache"
    return base / "opcert" / "suites"


def cached_suite(operators: Sequence[OperatorName], options: Options, progress: Progress) -> Path:
    """Generate a suite into the cache and return its folder; raises UserError where it cannot be written."""
    folder = suites_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".making-", dir=folder) as making:
            made = Path(making) / "suite"
            digest = write_generated(made, operators, options, processes=PROCESSES, progress=progress)
            try:
                made.rename(folder / digest)
            except OSError:
                # It is there already, or another process was faster: that folder holds the same bytes.
                if not (folder / digest).is_dir():
                    raise
    except OSError as error:
        raise UserError(
            "the cache of suites cannot be written",
            got=error.strerror or str(error),
            where=Place(str(folder)),
            remedy="Set XDG_CACHE_HOME to a folder that can, or name a place with -o.",
        ) from error
    return folder / digest


def default_suite(progress: Progress) -> Path:
    """The folder of the default suite, generated first where the cache lacks the one that the lock names."""
    locked = read_lock().digest
    found = suites_folder() / locked
    if (found / "manifest.json").is_file():
        return found
    progress("generating the default suite")
    made = cached_suite((), Options(), progress)
    if made.name != locked:
        progress(
            f"the suite generated here ({made.name[:12]}) is not that of specs/suite.lock ({locked[:12]}); "
            "`opcert generate --check` says what changed"
        )
    return made
