"""Folders for a while: removed by whoever made them, and where that was killed, by the next who makes one.

Who makes one holds a lock (`flock`) on the folder itself, which the system lets go when the process ends,
however it does. A folder of ours that nobody holds has been left behind, together with processes that were
started in it.
"""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from conformance.processes.descendants import kill_left_behind
from opcert.vocabulary.file_locks import try_lock
from opcert.vocabulary.regular_files import is_still_at

_LOOKING = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LISTING = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_LEVELS = 200_000


def remove_folder(folder: Path) -> None:
    """Remove a folder with all that is in it, as far as the system lets us; nothing is raised.

    Folders inside folders are moved up before they are emptied, so that no depth is too much for it; who
    owns one and has taken the right away gets it back.
    """
    with suppress(OSError):
        top = open_folder(str(folder), None)
        try:
            # Who goes on writing there must not keep anybody here.
            for _ in range(_MOST_LEVELS):
                if not _remove_level(top):
                    break
        finally:
            os.close(top)
        folder.rmdir()


def _remove_level(top: int) -> bool:
    """Empty each folder in a folder, and remove what is no folder; whether anything changed."""
    changed = False
    free = (name for name in (f"moved-{number}" for number in count()) if not _is_there(name, top))
    for name in os.listdir(top):
        if _unlink(name, top):
            changed = True
            continue
        with suppress(OSError):
            inner = open_folder(name, top)
            try:
                for each in os.listdir(inner):  # noqa: PTH208
                    if _unlink(each, inner):
                        changed = True
                        continue
                    with suppress(OSError):
                        os.close(open_folder(each, inner))  # without rights a folder cannot be moved either
                        os.rename(each, next(free), src_dir_fd=inner, dst_dir_fd=top)
                        changed = True
            finally:
                os.close(inner)
            os.rmdir(name, dir_fd=top)
            changed = True
    return changed


def open_folder(name: str, inside: int | None = None) -> int:
    """The descriptor of a folder that is no link; of one of ours all rights are given back to us."""
    looking = os.open(name, _LOOKING, dir_fd=inside)
    try:
        if os.fstat(looking).st_uid == os.geteuid():
            with suppress(OSError):
                os.chmod(f"/proc/self/fd/{looking}", stat.S_IRWXU)  # noqa: PTH101 - of a descriptor
        return os.open(".", _LISTING, dir_fd=looking)
    finally:
        os.close(looking)


def _is_there(name: str, inside: int) -> bool:
    try:
        os.lstat(name, dir_fd=inside)
    except OSError:
        return False
    return True


def _unlink(name: str, inside: int) -> bool:
    """Whether something that is no folder was removed."""
    try:
        os.unlink(name, dir_fd=inside)
    except OSError:
        return False
    return True


_NAME = re.compile(r"\.?opcert-scratch-[a-z]+-[a-z0-9_]{8}")
_TRIES = 100
_looked_through: set[Path] = set()


@dataclass(frozen=True)
class ScratchFolder:
    """A folder of this process; `remove` ends it."""

    path: Path
    descriptor: int

    def remove(self) -> None:
        """Remove it with all that is in it, whoever took away the right to do so."""
        remove_folder(self.path)
        os.close(self.descriptor)


def make_scratch_folder(what: str, place: Path | None = None, *, hidden: bool = False) -> ScratchFolder:
    """A new folder that nobody else may enter, in `place` or where temporary files go; `what` is one word.

    What killed processes have left there is removed first, once a process. OSError where none can be made.
    """
    inside = Path(tempfile.gettempdir()) if place is None else place
    if inside not in _looked_through:
        _looked_through.add(inside)
        remove_leftovers(inside)
    for _ in range(_TRIES):
        path = Path(tempfile.mkdtemp(prefix=f"{'.' * hidden}opcert-scratch-{what}-", dir=inside.absolute()))
        # Before the lock is on it, another process may take it for one that was left behind.
        with suppress(FileNotFoundError):
            descriptor = open_folder(str(path))
            if _lock(descriptor, shared=True) is not False and is_still_at(path, descriptor):
                return ScratchFolder(path, descriptor)
            os.close(descriptor)
    raise OSError(f"no folder can be made in {inside}")


@contextmanager
def scratch_folder(what: str, place: Path | None = None, *, hidden: bool = False) -> Iterator[Path]:
    """A folder as `make_scratch_folder` makes it, for as long as the context lasts."""
    made = make_scratch_folder(what, place, hidden=hidden)
    try:
        yield made.path
    finally:
        made.remove()


def remove_leftovers(place: Path) -> None:
    """Remove the folders of killed processes, and kill the processes that were started in them.

    Only folders of this user that stand in `place` itself are looked at; links are not followed.
    """
    try:
        names = [name for name in os.listdir(place) if _NAME.fullmatch(name)]  # noqa: PTH208 - many files
    except OSError:
        return
    for name in names:
        with suppress(OSError):
            _remove_leftover(place.absolute() / name)


def _remove_leftover(path: Path) -> None:
    if path.lstat().st_uid != os.geteuid():
        return
    descriptor = open_folder(str(path))
    try:
        if _lock(descriptor) and is_still_at(path, descriptor):
            kill_left_behind(path.name)
            remove_folder(path)
    finally:
        os.close(descriptor)


def _lock(descriptor: int, *, shared: bool = False) -> bool | None:
    """Whether the lock could be had; None where the file system has no locks: there nothing is left over."""
    try:
        return try_lock(descriptor, shared=shared)
    except OSError:
        return None
