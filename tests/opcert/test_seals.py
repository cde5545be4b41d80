"""The secret of the user's own that seals what the cache keeps: one that others can have seals nothing."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

SEALS = "from conformance.suite.store import seal; print(seal('x', b'content').hex())"


def sealed(folder: Path) -> str:
    """The seal that a process with this folder of state makes."""
    environment = {**os.environ, "XDG_STATE_HOME": str(folder)}
    done = subprocess.run([sys.executable, "-c", SEALS], env=environment, capture_output=True, text=True,
                          check=True)  # fmt: skip
    return done.stdout


def test_each_user_has_a_secret_that_nobody_else_reads(tmp_path: Path) -> None:
    first = sealed(tmp_path / "one")
    assert sealed(tmp_path / "one") == first
    assert sealed(tmp_path / "two") != first
    (secret,) = (tmp_path / "one" / "opcert").iterdir()
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600


def read_by_others(secret: Path) -> None:
    secret.chmod(0o640)


def short(secret: Path) -> None:
    secret.write_bytes(b"")


def linked(secret: Path) -> None:
    secret.rename(secret.with_name("elsewhere"))
    secret.symlink_to("elsewhere")


@pytest.mark.parametrize("change", [read_by_others, short, linked])
def test_a_secret_that_others_may_have_is_believed_no_more(tmp_path: Path, change: object) -> None:
    first = sealed(tmp_path)
    assert callable(change)
    change(tmp_path / "opcert" / "cache-secret")
    second = sealed(tmp_path)
    assert second != first
    assert (sealed(tmp_path) == second) == (change is not linked)


def test_without_a_place_for_it_each_process_has_its_own(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    assert sealed(tmp_path / "file") != sealed(tmp_path / "file")
