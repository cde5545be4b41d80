"""Progress on standard error: bars with counts and time left on a terminal, plain lines elsewhere."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.command_line import call, identity_suite

pytestmark = pytest.mark.slow

Capture = pytest.CaptureFixture[str]


def on_a_terminal(*words: object) -> tuple[int, str]:
    """Exit code, and what a command shows on a terminal that is its standard error alone."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "opcert", *map(str, words)]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs, env=environment) as process:
        os.close(theirs)
        shown = b""
        try:
            while chunk := os.read(ours, 1 << 16):
                shown += chunk
        except OSError:  # Linux answers so when the other side is closed
            pass
        code = process.wait(timeout=30)
    os.close(ours)
    return code, re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())


def test_a_run_on_a_terminal_shows_a_bar(tmp_path: Path) -> None:
    suite = identity_suite(tmp_path)
    run = tmp_path / "run.jsonl"
    code, shown = on_a_terminal("run", "fake_backends:Raises", "-s", suite, "-o", run, "--diagnose", "0")
    assert code == 1, shown
    last = shown.strip().splitlines()[-1]
    assert "6/6" in last
    assert "0 pass, 6 failing, 0 other" in last
    assert re.search(r"\d:\d\d:\d\d", last)


def test_a_run_elsewhere_prints_lines(capsys: Capture, tmp_path: Path) -> None:
    suite = identity_suite(tmp_path)
    out = tmp_path / "run.jsonl"
    answer = call(capsys, "run", "fake_backends:Good", "-s", suite, "-o", out, "--forms", "inputs")
    assert answer.err.splitlines()[0] == "opcert: running 3 cases"
    assert re.fullmatch(
        r"opcert: 3 of 3 in \d+\.\d s \(3 pass, 0 failing, 0 other\)", answer.err.splitlines()[1]
    )
    assert "\r" not in answer.err
    assert "\x1b" not in answer.err + answer.out


def test_what_runs_more_than_once_is_not_counted_as_cases(capsys: Capture, tmp_path: Path) -> None:
    suite = identity_suite(tmp_path)
    out = tmp_path / "run.jsonl"
    answer = call(capsys, "run", "fake_backends:Good", "-s", suite, "-o", out, "--repeat", "2")
    begun, ended = answer.err.splitlines()[:2]
    assert begun == "opcert: running 3 cases, 12 runs of them with repeats and other forms"
    assert ended.startswith("opcert: 12 of 12 runs in ")


@pytest.mark.nightly
def test_generating_on_a_terminal_shows_how_far_it_is(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    words = ("generate", "CenterCropPad", "com.microsoft::Pad-1", "--size", "small", "-o")
    code, shown = on_a_terminal(*words, tmp_path / "one")
    assert code == 0, shown
    assert "generating" in shown
    assert re.search(r"2/2 operators, \d+ cases", shown)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    answer = call(capsys, *words, tmp_path / "two")
    assert [line.partition(":")[0] for line in answer.err.splitlines()] == ["ai.onnx", "com.microsoft"]
    assert answer.out.splitlines()[1].startswith("sha256 ")
    again = call(capsys, *words, tmp_path / "two")
    assert (again.out, again.err) == (answer.out, "2 of 2 operators kept from before\n")
