"""One command at a time writes what it writes: a lock on a folder or a file, held until the command ends.

The lock (`flock`) is on a file that is there as long as it is held: `.opcert.lock` in a folder, `.NAME.lock`
beside a file. The system lets go of it when the process ends, however it does; the file that a killed one
leaves is in nobody's way and goes with the next lock. Processes that a command starts do not have it.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import click

from opcert.vocabulary.errors import Place, UserError, unwritable
from opcert.vocabulary.harmless import for_shell, one_line
from opcert.vocabulary.regular_files import is_still_at
from opcert.vocabulary.whole_files import check_replaceable, is_stream

FOLDER_LOCK = ".opcert.lock"
RECORD = "run.jsonl"
"""The record that gives a folder its report and certificate: who writes it writes the folder."""

_OPENING = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_UNLOCKABLE = frozenset({errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL})
"""What a file system answers that has no locks: then there is no protection, and no harm."""

_TRIES = 50
_NAP = 0.01
_LONGEST = 300
_MOST_TOLD = 1 << 16


def lock_folder(folder: Path, what: str = "the folder") -> None:
    """Have a folder for this command alone, from here to its end; it is made where it is not there.

    UserError where another command writes into it, and where it cannot be written.
    """
    _hold([Path(os.path.realpath(folder)) / FOLDER_LOCK], folder, what)


def lock_file(path: Path, what: str = "the file") -> None:
    """Have a file, or a folder that takes its place by rename, for this command alone; as `lock_folder`."""
    _hold([_beside(each) for each in _places(path)], path, what)


def lock_record(path: Path) -> None:
    """Have a record for this command alone, and what is made from it; as `lock_folder`.

    UserError also where something that is no file stands there: a record is read again.
    """
    _check_record(path)
    _hold(_locks_of_record(path), path, "the record")


@contextmanager
def locked_record(path: Path, command: str) -> Iterator[None]:
    """As `lock_record`, outside a command of ours; `command` is what another one is told of it."""
    _check_record(path)
    with ExitStack() as held:
        for each in _locks_of_record(path):
            held.enter_context(locked(each, path, "the record", command))
        yield


def _check_record(path: Path) -> None:
    try:
        check_replaceable(path)
    except OSError as error:
        raise unwritable("the record", path, error, "It is read again: name a file with -o.") from error


def _locks_of_record(path: Path) -> list[Path]:
    found = (each.with_name(FOLDER_LOCK) if each.name == RECORD else _beside(each) for each in _places(path))
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
    for each in locks:
        if each in held:
            continue
        held.add(each)
        context.with_resource(locked(each, path, what, f"opcert {for_shell(words)}"))


@contextmanager
def locked(lock: Path, path: Path, what: str, command: str) -> Iterator[None]:
    """Hold a lock that is the file `lock`; `path`, `what` and `command` are what is said of it.

    UserError where another process holds it, naming that, and where the file cannot be written.
    """
    made = _missing_folders(lock.parent)
    try:
        descriptor = _acquire(lock, path, command)
    except OSError as error:
        _remove_empty(made)
        raise unwritable(what, path, error) from error
    try:
        yield
    finally:
        if is_still_at(lock, descriptor):
            with suppress(OSError):
                lock.unlink()
        os.close(descriptor)
        _remove_empty(made)


def _missing_folders(folder: Path) -> list[Path]:
    """The folders that are to be made for one to be there, the innermost first."""
    return [each for each in (folder, *folder.parents) if not each.exists()]


def _remove_empty(folders: list[Path]) -> None:
    with suppress(OSError):
        for each in folders:
            each.rmdir()


def _acquire(lock: Path, path: Path, command: str) -> int:
    """The descriptor of the locked file; OSError where that cannot be, UserError where another has it."""
    for _ in range(_TRIES):
        lock.parent.mkdir(parents=True, exist_ok=True)
        try:
            descriptor = _open(lock)
        except FileNotFoundError:  # who let go of it has removed the folder
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            error = _held(descriptor, path)
            os.close(descriptor)
            raise error from None
        except OSError as error:
            if error.errno not in _UNLOCKABLE:
                os.close(descriptor)
                raise
        if is_still_at(lock, descriptor):
            _write_holder(descriptor, command)
            return descriptor
        os.close(descriptor)  # who let go of it has removed the file
    raise OSError(errno.EAGAIN, "its lock changes too fast", str(lock))


def _open(lock: Path) -> int:
    """Open the file of a lock; where another user left one that nobody may write, in its place."""
    try:
        descriptor = os.open(lock, _OPENING, 0o644)
    except PermissionError:
        descriptor = os.open(lock, _OPENING & ~os.O_RDWR & ~os.O_CREAT)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EEXIST, "something that is no file stands where its lock should be", str(lock))
    return descriptor


@dataclass(frozen=True)
class Holder:
    """Who holds a lock: a process, the command that it runs, and since when."""

    process: int
    command: str
    since: str

    def __str__(self) -> str:
        return f"process {self.process}, since {self.since}: {self.command}"

    @property
    def alive(self) -> bool:
        try:
            os.kill(self.process, 0)
        except ProcessLookupError:
            return False
        except (OSError, OverflowError):
            return True
        return True


def _write_holder(descriptor: int, command: str) -> None:
    since = datetime.now(UTC).isoformat(" ", "seconds")
    holder = {"process": os.getpid(), "command": command, "since": since}
    with suppress(OSError):  # who it is, is a courtesy
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(holder).encode(), 0)


def _read_holder(descriptor: int) -> Holder | None:
    """What the holder of a lock wrote of itself; None where that makes no sense."""
    try:
        told = json.loads(os.pread(descriptor, _MOST_TOLD, 0))
        return Holder(int(told["process"]), str(told["command"]), str(told["since"]))
    except (OSError, ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None


def _held(descriptor: int, path: Path) -> UserError:
    """The error of a lock that another has, which may just now be about to write who it is."""
    holder = _read_holder(descriptor)
    for _ in range(_TRIES):
        if holder is not None and holder.alive:
            break
        time.sleep(_NAP)
        holder = _read_holder(descriptor)
    return UserError(
        "another command writes there at this moment",
        got=None if holder is None else one_line(str(holder), _LONGEST),
        where=Place(str(path)),
        remedy="Wait until it is through, or name another place with -o.",
    )
