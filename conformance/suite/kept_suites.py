"""Suites in the user's cache, each in a folder named by its digest."""

from __future__ import annotations

import fcntl
import json
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from conformance.processes.scratch_folders import scratch_folder
from opcert.vocabulary.errors import unwritable
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.user_folders import cache_folder
from opcert.vocabulary.whole_files import place_bytes

LOCK = "suites.lock"
"""The file beside the suites that is locked while one is made; it says who holds it, and what for."""
PATIENCE = 1.0
"""Seconds of waiting that nobody is told of."""
_NAP = 0.05
_MOST_TOLD = 1 << 12
_LONGEST = 200
_DIGEST = re.compile(r"[0-9a-f]{64}")


def suites_folder() -> Path:
    """Where suites are kept: `opcert/suites` in XDG_CACHE_HOME, or in `.cache` of the home folder."""
    return cache_folder() / "suites"


def kept_suite(digest: str) -> Path | None:
    """The folder of a suite that was made before; None where it is not kept, or the text no digest."""
    folder = suites_folder() / digest
    return folder if _DIGEST.fullmatch(digest) and (folder / "manifest.json").is_file() else None


def keep_suite(write: Callable[[Path], str]) -> Path:
    """Have a suite written into the cache and return its folder; UserError where it cannot be written.

    `write` is given a path that is not there yet, writes the suite to it, and returns its digest.
    """
    folder = suites_folder()
    try:
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
    except OSError as error:
        remedy = "Set XDG_CACHE_HOME to a folder that can, or name a place with -o."
        raise unwritable("the cache of suites", folder, error, remedy) from error
    return folder / digest


@contextmanager
def one_at_a_time(what: str, tell: Callable[[str], object]) -> Iterator[None]:
    """Make suites one process after the other: who waits may find what it wants when it is let in.

    `what` is made, which others are told who wait for it. `tell` is told, once and after `PATIENCE` seconds
    of waiting, which process is waited for, and what that makes.
    """
    path = suites_folder().with_name(LOCK)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    except OSError:  # who writes the suite says better what is wrong
        yield
        return
    try:
        if not locked_soon(descriptor):
            tell(f"waiting for {told_holder(read_holder(descriptor))} and holds {path}")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        write_holder(descriptor, what)
        yield
        write_holder(descriptor, None)
    finally:
        os.close(descriptor)


def locked_soon(descriptor: int) -> bool:
    """Lock the file of a descriptor; whether the lock was to be had before patience ended."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                return False
            time.sleep(_NAP)
        else:
            return True


def write_holder(descriptor: int, what: str | None, process: int | None = None) -> None:
    """Say in the file of a lock which process holds it (this one), and what that makes; or nothing."""
    with suppress(OSError):  # who it is, is a courtesy
        os.ftruncate(descriptor, 0)
        if what is not None:
            told = {"process": process or os.getpid(), "what": what}
            os.pwrite(descriptor, json.dumps(told).encode(), 0)


def read_holder(descriptor: int) -> tuple[int, str] | None:
    """The process that holds a lock, and what it makes; None of a file that does not say it."""
    try:
        told = json.loads(os.pread(descriptor, _MOST_TOLD, 0))
        return int(told["process"]), one_line(str(told["what"]), _LONGEST)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def told_holder(known: tuple[int, str] | None) -> str:
    """`process 7, which makes the default suite`; of a holder whose file says nothing, no more than that."""
    return f"process {known[0]}, which makes {known[1]}" if known else "another process, which makes a suite"


def suite_of_sources(sources: str) -> Path | None:
    """The folder of the suite that was made of sources of this name and digest; None where it is not kept."""
    note = _note(sources)
    return kept_suite(note.read_text(encoding="ascii").strip()) if note.is_file() else None


def remember_sources(sources: str, digest: str) -> None:
    """Note beside the kept suites which one sources make; UserError where that cannot be written."""
    note = _note(sources)
    try:
        note.parent.mkdir(parents=True, exist_ok=True)
        with scratch_folder("note", note.parent) as making:
            place_bytes(note, digest.encode("ascii"), making)
    except OSError as error:
        raise unwritable("the cache of suites", note.parent, error, "Set XDG_CACHE_HOME.") from error


def _note(sources: str) -> Path:
    return suites_folder() / "of-sources" / sources
