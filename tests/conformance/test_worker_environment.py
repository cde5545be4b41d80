"""What a worker finds around it: nothing of the caller's environment, and no way to install packages."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from uv import find_uv_bin

from conformance.processes.confinement import worker_environment


def test_nothing_of_the_caller_is_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "https_proxy",
        "AWS_SECRET_ACCESS_KEY",
        "PYTHONPATH",
        "VIRTUAL_ENV",
        "UV_PYTHON",
        "PYTHONHOME",
    ):
        monkeypatch.setenv(name, "secret")
    found = worker_environment(tmp_path, "/opt/runtime/bin/python", {})
    assert "secret" not in found.values()
    assert found["HOME"] == str(tmp_path / "home")


def test_the_worker_finds_its_own_programs_first_and_none_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, own = Path(sys.executable).parent, tmp_path / "bin"
    own.mkdir()
    for each in ("python", "pip"):
        (own / each).write_text("#!/bin/sh\n")
        (own / each).chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(ours), "/usr/bin", "/bin"]))
    path = worker_environment(tmp_path, str(own / "python"), {})["PATH"]
    assert path.split(os.pathsep) == [str(own), "/usr/bin", "/bin"]
    assert shutil.which("pip", path=path) == str(own / "pip")


def test_nothing_can_be_installed(tmp_path: Path) -> None:
    environment = worker_environment(tmp_path, sys.executable, {})
    target = tmp_path / "packages"
    command = [find_uv_bin(), "pip", "install", "--target", str(target), "colorama"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "colorama was not found" in done.stderr
    assert not list(target.glob("colorama*"))
