"""The one store of what is kept between processes: folders of entries in the user's cache.

The name of an entry is the digest of all that it was made from, so that nothing in a folder is ever out of
date: what changed has another name, and what nobody asks for any more goes with the oldest. An entry appears
whole or not at all, whatever ends the process that writes it. Beside one that is being made lies its lock.
"""

from __future__ import annotations

import gzip
import hashlib
import hmac
import json
import multiprocessing
import os
import platform
import re
import secrets
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from conformance.processes.scratch_folders import scratch_folder
from conformance.suite.canonical import canonical_json, sha256
from opcert.vocabulary.file_digests import project_digest
from opcert.vocabulary.file_locks import (
    Holder,
    let_go,
    lock_at,
    remove_left_behind,
    wait_for_lock,
    write_holder,
)
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.regular_files import read_regular
from opcert.vocabulary.user_folders import cache_folder, state_folder
from opcert.vocabulary.whole_files import open_new, place_bytes, put_in_place

SEAL_BYTES = 32
_SECRET_BYTES = 32
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def seal(name: str, content: bytes) -> bytes:
    """The seal of what is kept under a name."""
    made = hashlib.blake2b(key=_secret(state_folder()), digest_size=SEAL_BYTES)
    made.update(len(name.encode()).to_bytes(8, "little"))
    made.update(name.encode())
    made.update(content)
    return made.digest()


def is_sealed(name: str, content: bytes, found: bytes) -> bool:
    """Whether a seal is the one of this content under this name."""
    return hmac.compare_digest(seal(name, content), found)


@cache
def _secret(folder: Path) -> bytes:
    """The user's secret, made where there is none; of this process alone where none can be kept.

    One that others may read or write is none: what it has sealed anybody may have made.
    """
    path = folder / "cache-secret"
    with suppress(OSError):
        found = _read(path)
        if found is None:
            _write(path)
            found = _read(path)
        if found is not None:
            return found
    return secrets.token_bytes(_SECRET_BYTES)


def _read(path: Path) -> bytes | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        status = os.fstat(descriptor)
        own = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & _OTHERS
        found = os.read(descriptor, _SECRET_BYTES + 1) if own else b""
    finally:
        os.close(descriptor)
    return found if len(found) == _SECRET_BYTES else None


def _write(path: Path) -> None:
    """Put a new secret in the place of one that is none; of two processes the later one's stays."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    made = path.with_name(f"{path.name}-{secrets.token_hex(8)}")
    try:
        with open_new(made, 0o600) as file:
            file.write(secrets.token_bytes(_SECRET_BYTES))
        put_in_place(made, path)
    except OSError:
        made.unlink(missing_ok=True)
        raise


MOST_KEPT = 1024
MOST_BYTES = 64 << 20
"""Of each kind so many pieces stay, of so many bytes together: those that were used last."""
_LARGEST = 16 << 20


class KeptWork:
    """The pieces of one kind: each is JSON, and found by the digest of everything that it hangs on.

    Any change of opcert's own code and facts is another key. A file that is damaged, or that this
    user's opcert has not written, is none, and nobody is told: what is worked out is the same without it.
    """

    def __init__(self, kind: str) -> None:
        folder = cache_folder() / "worked-out" / kind
        self.store = Store(folder, MOST_KEPT, MOST_BYTES, _LARGEST, sealed=True)

    def key(self, *parts: Any) -> str:
        """The key of what hangs on these parts, which are JSON, and on the code that is here."""
        return sha256(canonical_json([project_digest(), _versions(), *parts]))

    def find(self, key: str) -> Any:
        """What was kept under a key; None where nothing is."""
        try:
            packed = self.store.find(key)
            return None if packed is None else json.loads(gzip.decompress(packed))
        except (OSError, EOFError, ValueError, RecursionError, zlib.error):
            return None

    def keep(self, key: str, content: Any) -> None:
        """Keep what was worked out, in the place of what may be there."""
        self.store.keep(key, gzip.compress(canonical_json(content), 1, mtime=0))


@cache
def _versions() -> list[str]:
    """Of what opcert computes with."""
    packages = ("numpy", "onnx", "protobuf", "python-flint")
    return [platform.python_version(), *map(version, packages)]


_KEY = re.compile(r"[0-9a-f]{64}")
_LONGEST = 200


@dataclass(frozen=True)
class Store:
    """The entries of one kind, in a folder of their own; a folder that cannot be written keeps nothing.

    Of them so many stay, of so many bytes together: those that were used last. One that is larger than
    `largest` is not kept. Of a `sealed` store an entry that this user's opcert has not written (`seal`)
    is none.
    """

    folder: Path
    most: int
    most_bytes: int | None = None
    largest: int = 1 << 30
    sealed: bool = False

    def find(self, key: str) -> bytes | None:
        """What was kept under a key; None where nothing is, OSError where that cannot be read."""
        found = self._read(key)
        if found is not None:
            with suppress(OSError):
                os.utime(self.folder / key)
        return found

    def keep(self, key: str, content: bytes) -> None:
        """Keep an entry, in the place of what may be there, and remove the oldest ones.

        Whoever reads meanwhile has the one or the other whole.
        """
        if self.sealed:
            content = seal(self._seal_name(key), content) + content
        if len(content) > self.largest:
            return
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            with scratch_folder("kept", self.folder) as making:
                place_bytes(self.folder / key, content, making)
            self._remove_oldest()

    @property
    def is_empty(self) -> bool:
        return not self._entries()

    def contents(self) -> Iterator[bytes]:
        """What all entries hold that can be read."""
        for key in sorted(entry.name for entry in self._entries()):
            with suppress(OSError):
                found = self._read(key)
                if found is not None:
                    yield found

    @contextmanager
    def one_maker(self, key: str, what: str, tell: Callable[[str], object]) -> Iterator[None]:
        """Make an entry one process at a time: who waited may find it when it is let in.

        `what` is made, which others are told who wait for it. `tell` is told after a second of waiting for
        whom, unless that works for the same process as this one. Where the folder cannot be written, nobody
        waits.
        """
        lock = self.folder / f"{key}.lock"

        def waits(holder: Holder | None) -> None:
            if holder is None:
                tell(f"waiting for another process, which makes {what} and holds {lock}")
            elif holder.process != main_process():
                said = one_line(holder.what, _LONGEST)
                tell(f"waiting for process {holder.process}, which makes {said} and holds {lock}")

        descriptor = None
        with suppress(OSError):
            descriptor = lock_at(lock, lambda opened: wait_for_lock(opened, waits))
        if descriptor is not None:
            write_holder(descriptor, what, main_process())
        try:
            yield
        finally:
            if descriptor is not None:
                let_go(lock, descriptor)

    def _read(self, key: str) -> bytes | None:
        try:
            raw = read_regular(self.folder / key, self.largest)
        except (FileNotFoundError, NotADirectoryError):
            return None
        if not self.sealed:
            return raw
        content = raw[SEAL_BYTES:]
        return content if is_sealed(self._seal_name(key), content, raw[:SEAL_BYTES]) else None

    def _seal_name(self, key: str) -> str:
        return f"{self.folder.name}/{key}"

    def _entries(self) -> list[Path]:
        with suppress(OSError):
            return [path for path in self.folder.iterdir() if _KEY.fullmatch(path.name)]
        return []

    def _remove_oldest(self) -> None:
        """Keep the newest entries; that one stays whatever its size. Locks of killed processes go, too."""
        found = []
        for entry in self._entries():
            with suppress(FileNotFoundError):  # another process has removed it meanwhile
                status = entry.stat()
                found.append((status.st_mtime_ns, status.st_size, entry))
        size = 0
        for number, (_, length, each) in enumerate(sorted(found, reverse=True)):
            size += length
            if number >= self.most or (number and self.most_bytes is not None and size > self.most_bytes):
                each.unlink(missing_ok=True)
        for path in self.folder.glob("*.lock"):
            remove_left_behind(path)


def main_process() -> int:
    """The process that this one works for; itself where it is no worker."""
    parent = multiprocessing.parent_process()
    return (parent.pid if parent is not None else None) or os.getpid()
