"""One command at a time writes what it writes: a lock on a folder or a file, held until the command ends.

The lock (`flock`) is on a file that is there as long as it is held: `.opcert.lock` in a folder, `.NAME.lock`
beside a file. The system lets go of it when the process ends, however it does; the file that a killed one
leaves is in nobody's way and goes with the next lock. Processes that a command starts do not have it.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import click

from opcert.vocabulary.errors import Place, UserError, unwritable
from opcert.vocabulary.file_locks import Holder, let_go, lock_at, read_holder, try_lock, write_holder
from opcert.vocabulary.harmless import for_shell, one_line
from opcert.vocabulary.whole_files import check_replaceable, is_stream

FOLDER_LOCK = ".opcert.lock"
RECORD = "run.jsonl"
"""The record that gives a folder its report and certificate: who writes it writes the folder."""

_UNLOCKABLE = frozenset({errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL})
"""What a file system answers that has no locks: then there is no protection, and no harm."""

_TRIES = 50
_NAP = 0.01
_LONGEST = 300


def lock_folder(folder: Path, what: str = "the folder") -> None:
    """Have a folder for this command alone, from here to its end; it is made where it is not there.

    UserError where another command writes into it, and where it cannot be written.
    """
    _hold([Path(os.path.realpath(folder)) / FOLDER_LOCK], folder, what)


def lock_file(path: Path, what: str = "the file") -> None:
    """Have a file, or a folder that takes its place by rename, for this command alone; as `lock_folder`."""
    _hold([_beside(place) for place in _places(path)], path, what)


def lock_record(path: Path) -> None:
    """Have a record for this command alone, and what is made from it; as `lock_folder`.

    UserError also where something that is no record stands there: a record is read again.
    """
    check_record(path)
    _hold(_locks_of_record(path), path, "the record")


@contextmanager
def locked_record(path: Path, command: str) -> Iterator[None]:
    """As `lock_record`, outside a command of ours; `command` is what another one is told of it."""
    check_record(path)
    with ExitStack() as held:
        for lock in _locks_of_record(path):
            held.enter_context(locked(lock, path, "the record", command))
        yield


def check_record(path: Path) -> None:
    """Raise UserError where something that is no record stands where one is to be written."""
    from conformance.recording.records import may_be_record

    try:
        check_replaceable(path)
        replaceable = may_be_record(path)
    except OSError as error:
        raise unwritable("the record", path, error, "It is read again: name a file with -o.") from error
    if not replaceable:
        raise UserError(
            "a file that is no record stands where the record should go",
            where=Place(str(path)),
            remedy="Name another file, or remove this one.",
        )


def _locks_of_record(path: Path) -> list[Path]:
    found = (
        place.with_name(FOLDER_LOCK) if place.name == RECORD else _beside(place) for place in _places(path)
    )
    return list(dict.fromkeys(found))


def _places(path: Path) -> list[Path]:
    """Where a file is written: in its folder, and, where it is a link to a file, at the end of that too.

    Nowhere where what stands there is no file: nobody has a device or a pipe alone.
    """
    if is_stream(path):
        return []
    end = Path(os.path.realpath(path))
    named = path.name not in ("", "..")
    place = Path(os.path.realpath(path.parent)) / path.name if named else end
    return [place, end] if end != place and end.is_file() else [place]


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.lock")


def _hold(locks: list[Path], path: Path, what: str) -> None:
    context = click.get_current_context()
    words = context.find_root().obj or ()
    held = context.meta.setdefault(__name__, set())
    for lock in locks:
        if lock in held:
            continue
        held.add(lock)
        context.with_resource(locked(lock, path, what, f"opcert {for_shell(words)}"))


@contextmanager
def locked(lock: Path, path: Path, what: str, command: str) -> Iterator[None]:
    """Hold a lock that is the file `lock`; `path`, `what` and `command` are what is said of it.

    UserError where another process holds it, naming that, and where the file cannot be written.
    """

    def take(descriptor: int) -> None:
        try:
            free = try_lock(descriptor)
        except OSError as error:
            if error.errno not in _UNLOCKABLE:
                raise
        else:
            if not free:
                raise _held(descriptor, path)

    made = _missing_folders(lock.parent)
    try:
        descriptor = lock_at(lock, take)
    except OSError as error:
        _remove_empty(made)
        raise unwritable(what, path, error) from error
    write_holder(descriptor, command)
    try:
        yield
    finally:
        let_go(lock, descriptor)
        _remove_empty(made)


def _missing_folders(folder: Path) -> list[Path]:
    """The folders that are to be made for one to be there, the innermost first."""
    return [parent for parent in (folder, *folder.parents) if not parent.exists()]


def _remove_empty(folders: list[Path]) -> None:
    with suppress(OSError):
        for folder in folders:
            folder.rmdir()


def _held(descriptor: int, path: Path) -> UserError:
    """The error of a lock that another has, which may just now be about to write who it is."""
    holder = read_holder(descriptor)
    for _ in range(_TRIES):
        if holder is not None and holder.alive:
            break
        time.sleep(_NAP)
        holder = read_holder(descriptor)
    return UserError(
        "another command writes there at this moment",
        got=None if holder is None else one_line(_told(holder), _LONGEST),
        where=Place(str(path)),
        remedy="Wait until it is through, or name another place with -o.",
    )


def _told(holder: Holder) -> str:
    return f"process {holder.process}, since {holder.since}: {holder.what}"
