"""A process of ours that the system ends, as it does where memory is short: a sentence, and no bug."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from opcert.vocabulary.errors import SystemFailed
from opcert.vocabulary.process_pools import process_pool


def _makers(parent: int) -> list[int]:
    """The processes that a process has started to share its work."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            ours = int(status.read_text().rsplit(")", 1)[1].split()[1]) == parent
            if ours and b"spawn_main" in status.with_name("cmdline").read_bytes():
                found.append(int(status.parent.name))
        except OSError:
            continue
    return found


def _ended(folder: Path, which: int, *words: str) -> subprocess.CompletedProcess[str]:
    """What a command said whose maker was ended by a signal."""
    command = [sys.executable, "-m", "opcert", *words]
    surroundings = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    with subprocess.Popen(
        command, env=surroundings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder
    ) as process:
        end = time.monotonic() + 120
        while not (makers := _makers(process.pid)):
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.01)
        os.kill(makers[0], which)
        out, err = process.communicate(timeout=120)
    return subprocess.CompletedProcess(command, process.returncode, out, err)


@pytest.mark.slow
@pytest.mark.parametrize("which", [signal.SIGKILL, signal.SIGTERM])
def test_who_makes_cases_is_ended(tmp_path: Path, which: signal.Signals) -> None:
    found = _ended(tmp_path, which, "generate", "Softmax", "LogSoftmax", "-o", "out")
    assert found.returncode == 2, found.stderr
    assert "opcert: system: a process that was making the cases of ai.onnx::" in found.stderr
    assert "Softmax" in found.stderr
    assert f"was ended by signal {which:d}; got {which.name}" in found.stderr
    assert ("where memory is short" in found.stderr) == (which is signal.SIGKILL)
    assert "one operator at a time" in found.stderr
    assert "bug" not in found.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
@pytest.mark.nightly
def test_who_tries_mutants_is_ended(tmp_path: Path) -> None:
    found = _ended(tmp_path, signal.SIGKILL, "adequacy", "Abs", "-j", "2")
    assert found.returncode == 2, found.stderr
    told = "system: a process that was trying mutants of ai.onnx::Abs-13 was ended by signal 9"
    assert told in found.stderr
    assert "-j 1" in found.stderr


def _end(which: int) -> None:
    os.kill(os.getpid(), which)


def _used(which: int) -> None:
    with process_pool(1, "trying", lambda: ["one", "other"]) as pool:
        pool.submit(_end, which).result()


def test_a_lost_process_is_told_with_what_was_under_way() -> None:
    with pytest.raises(SystemFailed, match="was trying one was ended by signal 9") as found:
        _used(signal.SIGKILL)
    assert found.value.remedy is not None


@pytest.mark.parametrize("end", [partial(_used, signal.SIGSEGV), partial(_used, signal.SIGABRT)])
def test_a_crash_of_code_is_a_bug(end: partial[None]) -> None:
    with pytest.raises(Exception, match="terminated abruptly"):
        end()
