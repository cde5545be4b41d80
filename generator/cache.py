"""Generated suites in the user's cache, each in a folder named by its digest."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from generator.lock import read_lock, sources_digest
from generator.suites import Progress, write_generated
from generator.workshop import Options
from opcert.errors import unwritable
from opcert.names import OperatorName

_DIGEST = re.compile(r"[0-9a-f]{64}")
PROCESSES = min(2, os.cpu_count() or 1)


def suites_folder() -> Path:
    """Where suites are kept: `opcert/suites` in XDG_CACHE_HOME, or in `.cache` of the home folder."""
    chosen = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(chosen) if chosen and Path(chosen).is_absolute() else Path.home() / ".cache"
    return base / "opcert" / "suites"


def cached_suite(
    operators: Sequence[OperatorName], options: Options, progress: Progress, folders: Sequence[Path] = ()
) -> Path:
    """Generate a suite into the cache and return its folder; raises UserError where it cannot be written.

    `folders` hold specs that stand in for those that ship with opcert.
    """
    folder = suites_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".making-", dir=folder) as making:
            made = Path(making) / "suite"
            digest = write_generated(made, operators, options, folders, PROCESSES, progress)
            try:
                made.rename(folder / digest)
            except OSError:
                # It is there already, or another process was faster: that folder holds the same bytes.
                if not (folder / digest).is_dir():
                    raise
    except OSError as error:
        remedy = "Set XDG_CACHE_HOME to a folder that can, or name a place with -o."
        raise unwritable("the cache of suites", folder, error, remedy) from error
    return folder / digest


def kept_suite(digest: str) -> Path | None:
    """The folder of a suite that was generated before; None where it is not kept, or the text no digest."""
    folder = suites_folder() / digest
    return folder if _DIGEST.fullmatch(digest) and (folder / "manifest.json").is_file() else None


def default_suite(progress: Progress) -> Path:
    """The folder of the default suite of the specs and the code that are there now, generated if need be.

    Says so where it is not the suite that `specs/suite.lock` names.
    """
    # Which suite these sources make is remembered beside the suites: a lock may be older than they are.
    note = suites_folder() / "of-sources" / sources_digest()
    digest = note.read_text(encoding="ascii").strip() if note.is_file() else ""
    kept = kept_suite(digest)
    if kept is not None:
        return kept
    progress("generating the default suite (once; this takes about a minute)")
    made = cached_suite((), Options(), progress)
    note.parent.mkdir(exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=note.parent, delete=False, encoding="ascii") as written:
        written.write(made.name)
    Path(written.name).replace(note)
    locked = read_lock().digest
    if made.name != locked:
        progress(
            f"the suite generated here ({made.name[:12]}) is not that of specs/suite.lock ({locked[:12]}); "
            "`opcert generate --check` says what changed"
        )
    return made
