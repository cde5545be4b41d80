"""Parts of suites in the user's cache, each in a file named by the digest of what it was made from."""

from __future__ import annotations

import logging
import multiprocessing
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from conformance.processes.scratch_folders import scratch_folder
from conformance.suite.kept_suites import suites_folder, told_maker
from conformance.suite.suite_parts import SuitePart, part_bytes, read_part
from opcert.vocabulary.file_locks import (
    Holder,
    let_go,
    lock_at,
    remove_left_behind,
    wait_for_lock,
    write_holder,
)
from opcert.vocabulary.kept_files import remove_oldest
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.regular_files import read_regular
from opcert.vocabulary.whole_files import place_bytes

MOST_KEPT = 8
"""Of each operator version so many parts stay, those that were used last."""
_LARGEST = 1 << 30
_KEY = re.compile(r"[0-9a-f]{64}")


class DamagedPart(ValueError):
    """A kept part is not what was written; says what is wrong with it."""


def parts_folder(operator: OperatorName) -> Path:
    """Where the parts of an operator version are kept: beside the suites, in a folder of its own."""
    return suites_folder().with_name("parts") / operator.domain / operator.short


def kept_part(operator: OperatorName, key: str) -> SuitePart | None:
    """The part that was made before of what the key stands for; None where it is not kept.

    Raises DamagedPart where it is, and is not what was written.
    """
    path = parts_folder(operator) / key
    found = _read(operator, path)
    if found is not None:
        with suppress(OSError):
            os.utime(path)
    return found


def part_of_digest(operator: OperatorName, digest: str) -> SuitePart | None:
    """The kept part of an operator version with a digest, whatever it was made of; None where none has it."""
    folder = parts_folder(operator)
    names = sorted(each.name for each in folder.iterdir()) if folder.is_dir() else []
    for name in filter(_KEY.fullmatch, names):
        with suppress(DamagedPart):
            part = _read(operator, folder / name)
            if part is not None and part.digest == digest:
                return part
    return None


def _read(operator: OperatorName, path: Path) -> SuitePart | None:
    try:
        raw = read_regular(path, _LARGEST)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise DamagedPart(f"{path} cannot be read: {error.strerror}") from error
    try:
        found = read_part(raw)
        if found.operator != operator:
            raise ValueError(f"it is of {found.operator}")
    except Exception as error:  # whatever is in a file, it is made again
        raise DamagedPart(f"{path}: {error}") from error
    return found


def keep_part(part: SuitePart, key: str) -> None:
    """Keep a part, in the place of one that may be there, and remove the oldest ones of its operator.

    Whoever reads meanwhile has the one or the other whole. A cache that cannot be written keeps nothing.
    """
    folder = parts_folder(part.operator)
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        with scratch_folder("part", folder) as making:
            place_bytes(folder / key, part_bytes(part), making)
        _remove_oldest(folder)


def _remove_oldest(folder: Path) -> None:
    remove_oldest((each for each in folder.iterdir() if _KEY.fullmatch(each.name)), MOST_KEPT)
    for each in folder.glob("*.lock"):
        remove_left_behind(each)


def _tell(text: str) -> None:
    logging.getLogger("opcert").warning("opcert: %s", text)


@contextmanager
def one_maker(operator: OperatorName, key: str, tell: Callable[[str], object] = _tell) -> Iterator[None]:
    """Make a part one process at a time: who waited may find it when it is let in.

    `tell` is told after a second of waiting for whom, unless that works for the same process as this one.
    Where the cache cannot be written, nobody waits.
    """
    lock = parts_folder(operator) / f"{key}.lock"

    def waits(holder: Holder | None) -> None:
        if holder is None or holder.process != _main_process():
            tell(f"waiting for {told_maker(holder)} and holds {lock}")

    descriptor = None
    with suppress(OSError):
        descriptor = lock_at(lock, lambda opened: wait_for_lock(opened, waits))
    if descriptor is not None:
        write_holder(descriptor, f"the cases of {operator}", _main_process())
    try:
        yield
    finally:
        if descriptor is not None:
            let_go(lock, descriptor)


def _main_process() -> int:
    """The process that this one works for; itself where it is no worker."""
    parent = multiprocessing.parent_process()
    return (parent.pid if parent is not None else None) or os.getpid()
