"""Seals on what a cache keeps: who can write there, but has not this user's secret, cannot make one."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
from contextlib import suppress
from functools import cache
from pathlib import Path

from opcert.vocabulary.user_folders import state_folder
from opcert.vocabulary.whole_files import open_new, put_in_place

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
