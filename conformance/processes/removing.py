"""Removing folders that somebody else filled: however deep, without rights, and never through a link."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from itertools import count
from pathlib import Path

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
