"""`opcert check` of models made to hurt: an answer for each, soon, within two gigabytes, and no bug."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conformance.checked_models.hostile_models import hostile_models

SEED, MODELS = 40, 66
MOST_SECONDS, MOST_MEBIBYTES = 90, 2048
"""A call may take 60 seconds of the processor, and the rest of a model has what is over."""
ANSWERS = (0, 1, 2, 5)


@pytest.mark.nightly
def test_every_hostile_model_has_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds are of the processor: what else the machine does says nothing of a model."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    odd = []
    for word, model in hostile_models(SEED, MODELS, tmp_path / "models"):
        code, seconds, mebibytes, said = _check(model)
        if code not in ANSWERS or seconds > MOST_SECONDS or mebibytes > MOST_MEBIBYTES:
            odd.append((model.parent.name, word, code, round(seconds), mebibytes, said[-300:]))
    assert not odd


def _check(model: Path) -> tuple[int, float, int, str]:
    """The exit code, seconds of the processor, the most memory of a process in MiB, and what was said."""
    options = ["--on", "checked_backends:Right", "--diagnose", "0", "--format", "json", "-j", "1"]
    words = [sys.executable, "-m", "opcert", "check", str(model), *options, "-o", str(model.parent / "out")]
    told = model.parent / "told"
    with told.open("wb") as file:
        process = subprocess.Popen(words, stdout=file, stderr=file, start_new_session=True)
        end = time.monotonic() + 20 * MOST_SECONDS
        while True:
            done, status, used = os.wait4(process.pid, os.WNOHANG)
            if done:
                break
            if time.monotonic() > end:
                os.killpg(process.pid, signal.SIGKILL)
            time.sleep(0.1)
    process.returncode = os.waitstatus_to_exitcode(status)
    text = told.read_text(encoding="utf-8", errors="replace")
    return process.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss >> 10, text
