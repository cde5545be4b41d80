"""Suites in the user's cache, each in a folder named by its digest."""

from __future__ import annotations

import atexit
import errno
import re
from collections.abc import Callable
from pathlib import Path

from conformance.processes.scratch_folders import make_scratch_folder, scratch_folder
from conformance.suite.canonical import sha256
from conformance.suite.store import Store
from opcert.vocabulary.errors import unwritable
from opcert.vocabulary.user_folders import cache_folder

_MOST_NOTES = 1024
_DIGEST_BYTES = 64
_READ_ONLY = (errno.EROFS, errno.EACCES, errno.EPERM)
_DIGEST = re.compile(r"[0-9a-f]{64}")


def suites_folder() -> Path:
    """Where suites are kept: `opcert/suites` in XDG_CACHE_HOME, or in `.cache` of the home folder."""
    return cache_folder() / "suites"


def kept_suite(digest: str) -> Path | None:
    """The folder of a suite that was made before; None where it is not kept, or the text no digest."""
    folder = suites_folder() / digest
    return folder if _DIGEST.fullmatch(digest) and (folder / "manifest.json").is_file() else None


def keep_suite(write: Callable[[Path], str], *, to_stay: bool = False) -> Path:
    """Have a suite written into the cache and return its folder; UserError where it cannot be written.

    `write` is given a path that is not there yet, writes the suite to it, and returns its digest. Where the
    cache may only be read, the suite is written to a folder that stays as long as this process, unless it is
    `to_stay`.
    """
    folder = suites_folder()
    try:
        return _written_in(folder, write)
    except OSError as error:
        if to_stay or error.errno not in _READ_ONLY:
            remedy = "Set XDG_CACHE_HOME to a folder that can, or name a place with -o."
            raise unwritable("the cache of suites", folder, error, remedy) from error
    held = make_scratch_folder("suites")
    atexit.register(held.remove)
    try:
        return _written_in(held.path, write)
    except OSError as error:
        raise unwritable("a suite", held.path, error, "Set TMPDIR to a folder that can.") from error


def _written_in(folder: Path, write: Callable[[Path], str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    with scratch_folder("suite", folder) as making:
        made = making / "suite"
        digest = write(made)
        try:
            made.rename(folder / digest)
        except OSError:
            # It is there already, or another process was faster: that folder holds the same bytes.
            if not (folder / digest).is_dir():
                raise
    return folder / digest


def suite_made_of(
    sources: str, what: str, told: str, tell: Callable[[str], object], write: Callable[[Path], str]
) -> tuple[Path, bool]:
    """The folder of the suite that was made of sources of this digest, and whether that was just now.

    `write` makes it as for `keep_suite`, one process at a time: `what` names it to others that wait, and
    `told` is told before. Of one that is not kept, because the cache may only be read, nothing is noted.
    """
    notes, key = (
        Store(suites_folder() / "of-sources", _MOST_NOTES, largest=_DIGEST_BYTES),
        sha256(sources.encode()),
    )
    kept = _noted(notes, key)
    if kept is not None:
        return kept, False
    with notes.one_maker(key, what, tell):
        # Somebody else may have made it while this process waited.
        kept = _noted(notes, key)
        if kept is not None:
            return kept, False
        if told:
            tell(told)
        made = keep_suite(write)
        if kept_suite(made.name) is not None:
            notes.keep(key, made.name.encode("ascii"))
    return made, True


def _noted(notes: Store, key: str) -> Path | None:
    try:
        found = notes.find(key)
    except OSError:
        return None
    return None if found is None else kept_suite(found.decode("ascii", "replace"))
