"""A lock in a folder where nobody may write says that, and is not tried again and again."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from opcert.vocabulary.file_locks import let_go, lock_at, try_lock

_OPEN = os.open


def _may_not_make(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
    """Of the system, in a folder without the right to write."""
    if flags & os.O_CREAT and not Path(path).exists():
        raise PermissionError(errno.EACCES, "Permission denied", str(path))
    return _OPEN(path, flags, mode, dir_fd=dir_fd)


def test_a_folder_that_nobody_may_write_to_is_told_as_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "open", _may_not_make)
    with pytest.raises(PermissionError, match="Permission denied"):
        lock_at(tmp_path / "lock", try_lock)


def test_a_lock_that_is_let_go_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "lock"
    descriptor = lock_at(path, try_lock)
    assert path.is_file()
    let_go(path, descriptor)
    assert not path.exists()
