"""Suites in the user's cache, each in a folder named by its digest."""

from __future__ import annotations

import atexit
import errno
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from conformance.processes.scratch_folders import make_scratch_folder, scratch_folder
from opcert.vocabulary.errors import unwritable
from opcert.vocabulary.file_locks import Holder, open_lock, wait_for_lock, write_holder
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.user_folders import cache_folder
from opcert.vocabulary.whole_files import place_bytes

LOCK = "suites.lock"
"""The file beside the suites that is locked while one is made; it says who holds it, and what for."""
_LONGEST = 200
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


@contextmanager
def one_at_a_time(what: str, tell: Callable[[str], object]) -> Iterator[None]:
    """Make suites one process after the other: who waits may find what it wants when it is let in.

    `what` is made, which others are told who wait for it. `tell` is told, once and after a second of
    waiting, which process is waited for, and what that makes.
    """
    path = suites_folder().with_name(LOCK)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = open_lock(path)
    except OSError:  # who writes the suite says better what is wrong
        yield
        return
    try:
        wait_for_lock(descriptor, lambda holder: tell(f"waiting for {told_maker(holder)} and holds {path}"))
        write_holder(descriptor, what)
        yield
        write_holder(descriptor, None)
    finally:
        os.close(descriptor)


def told_maker(holder: Holder | None) -> str:
    """`process 7, which makes the default suite`; of a holder that says nothing, no more than that."""
    if holder is None:
        return "another process, which makes a suite"
    return f"process {holder.process}, which makes {one_line(holder.what, _LONGEST)}"


def suite_of_sources(sources: str) -> Path | None:
    """The folder of the suite that was made of sources of this name and digest; None where it is not kept."""
    note = _note(sources)
    return kept_suite(note.read_text(encoding="ascii").strip()) if note.is_file() else None


def remember_sources(sources: str, digest: str) -> None:
    """Note beside the kept suites which one sources make; UserError where that cannot be written.

    Of a suite that is not kept, because the cache may only be read, nothing is noted.
    """
    if kept_suite(digest) is None:
        return
    note = _note(sources)
    try:
        note.parent.mkdir(parents=True, exist_ok=True)
        with scratch_folder("note", note.parent) as making:
            place_bytes(note, digest.encode("ascii"), making)
    except OSError as error:
        raise unwritable("the cache of suites", note.parent, error, "Set XDG_CACHE_HOME.") from error


def _note(sources: str) -> Path:
    return suites_folder() / "of-sources" / sources
