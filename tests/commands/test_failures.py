"""What is nobody's input: bugs of ours, readers that go away, terminals that cannot show a letter, Ctrl-C."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conformance.recording.records import read_record
from opcert.commands.failures import program
from tests.commands.command_line import call, check_message, heed_signals, identity_suite

pytestmark = pytest.mark.slow

Capture = pytest.CaptureFixture[str]
OPCERT = [sys.executable, "-m", "opcert"]


def break_suites(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def open_suite(path: Path) -> None:
        raise error

    monkeypatch.setattr("conformance.suite.suites.open_suite", open_suite)


def test_a_bug_of_ours_is_told_as_one(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_suites(monkeypatch, KeyError("shape"))
    answer = call(capsys, "run", "fake_backends:Good", "-s", tmp_path / "a suite")
    check_message(answer, 3, "bug", "KeyError: 'shape'", "a mistake in opcert, not in what you gave")
    assert f"opcert run fake_backends:Good -s '{tmp_path / 'a suite'}'" in answer.err
    found = re.search(r"The traceback is in (\S+\.txt)", answer.err)
    assert found is not None
    kept = Path(found[1]).read_text()
    assert "Traceback (most recent call last)" in kept
    assert "KeyError: 'shape'" in kept
    assert "fake_backends:Good" in kept
    assert "Python 3" in kept


@pytest.mark.parametrize(
    ("inside", "begin"), [(True, "    uv run opcert repro "), (False, "    opcert repro ")]
)
def test_commands_to_copy_fit_the_shell_they_are_copied_into(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inside: bool, begin: str
) -> None:
    monkeypatch.delenv("UV_RUN_RECURSION_DEPTH", raising=False)
    if inside:
        monkeypatch.setenv("UV_RUN_RECURSION_DEPTH", "1")
    suite = identity_suite(tmp_path, 1)
    answer = call(capsys, "run", "fake_backends:Raises", "-s", suite, "-o", tmp_path / "run.jsonl")
    assert f"\n{begin}ai.onnx/Identity-13/cover/" in answer.out


def test_a_command_to_copy_installs_no_packages_that_were_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_RUN_RECURSION_DEPTH", "1")
    monkeypatch.setattr("opcert.commands.failures.find_spec", lambda name: None)
    assert program() == "uv run --no-sync opcert"


def test_a_bug_is_told_where_no_file_can_be_written_too(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_suites(monkeypatch, ValueError("\ud800 no text"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    answer = call(capsys, "export", "suite", "-o", tmp_path / "out")
    assert answer.code == 3
    assert "opcert: bug: ValueError" in answer.err
    assert "Traceback (most recent call last)" in answer.err
    assert "The traceback stands above" in answer.err


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (PermissionError(13, "Permission denied", "/a/file"), "/a/file: Permission denied"),
        (OSError(28, "No space left on device"), "No space left on device"),
        (MemoryError(), "out of memory"),
    ],
)
def test_what_the_system_refuses_is_no_bug(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, error: BaseException, words: str
) -> None:
    break_suites(monkeypatch, error)
    check_message(call(capsys, "export", "suite", "-o", "out"), 2, "system", words)


def test_ctrl_c_before_anything_runs(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    break_suites(monkeypatch, KeyboardInterrupt())
    answer = call(capsys, "export", "suite", "-o", "out")
    assert (answer.code, answer.err.strip()) == (130, "opcert: interrupted")


def test_ctrl_c_twice_is_no_bug(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second one comes while a lock is taken again after the first, and the lock says that it is free."""
    error = RuntimeError("release unlocked lock")
    error.__context__ = KeyboardInterrupt()
    break_suites(monkeypatch, error)
    answer = call(capsys, "export", "suite", "-o", "out")
    assert (answer.code, answer.err.strip()) == (130, "opcert: interrupted")


def test_the_harness_failing_is_a_bug_of_ours(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def encode_case(*_: object) -> None:
        raise ValueError("cannot be packed")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))  # where no earlier run has packed them
    monkeypatch.setattr("conformance.running.lane.encode_runs", encode_case)
    out = tmp_path / "out"
    answer = call(capsys, "certify", "fake_backends:Good", "-s", identity_suite(tmp_path), "-o", out)
    check_message(answer, 3, "bug", "the harness failed on 3 cases", "cannot be packed", "no certificate")
    assert [path.name for path in out.iterdir()] == ["run.jsonl"]


def test_a_reader_that_goes_away_ends_the_command_quietly() -> None:
    script = f"{sys.executable} -m opcert show ai.onnx::Resize-18 | head -n 1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert lines[0] == "ai.onnx::Resize-18"
    assert lines[1] == "0"
    assert done.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_standard_output_that_is_full() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*OPCERT, "list"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("opcert: system: ")
    assert "No space left on device" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_terminal_without_unicode(tmp_path: Path) -> None:
    (tmp_path / "größe-尺寸.txt").write_text("kein Operator")
    done = subprocess.run(
        [*OPCERT, "import", str(tmp_path / "größe-尺寸.txt")],
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        capture_output=True,
        encoding="latin-1",
        check=False,
    )
    assert done.returncode == 2
    assert "größe-\\u5c3a\\u5bf8.txt: the document is no operator page" in done.stderr


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGTERM,
        *(pytest.param(each, marks=pytest.mark.nightly) for each in (signal.SIGINT, signal.SIGHUP)),
    ],
)
def test_a_certification_that_is_ended_from_outside(
    capsys: Capture, tmp_path: Path, number: signal.Signals
) -> None:
    suite, out = identity_suite(tmp_path, 2), tmp_path / "out"
    assert call(capsys, "certify", "fake_backends:Good", "-s", suite, "-o", out).code == 0
    process = subprocess.Popen(
        [*OPCERT, "certify", "fake_backends:Sleeps", "-s", str(suite), "-o", str(out), "--timeout", "1"],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=heed_signals,
    )
    end = time.monotonic() + 20
    while time.monotonic() < end and (out / "run.jsonl").read_bytes().count(b"\n") != 2:
        time.sleep(0.02)
    process.send_signal(number)
    printed, told = process.communicate(timeout=10)
    assert (process.returncode, printed) == (130, "")
    assert told.rstrip().endswith("opcert: interrupted")
    assert f"are recorded in {out / 'run.jsonl'}" in told
    record = read_record(out / "run.jsonl")
    assert record.partial
    assert [result.verdict for result in record.results] == ["timeout"]
    # What the run before left speaks of a record that is gone.
    assert [path.name for path in out.iterdir()] == ["run.jsonl"]


def test_who_interrupts_the_making_of_a_suite_is_told_that_the_same_command_goes_on(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ended(*_: object) -> Path:
        raise KeyboardInterrupt

    monkeypatch.setattr("generator.making.suites.cache.default_suite", ended)
    answer = call(capsys, "run", "fake_backends:Good", "-o", tmp_path / "run.jsonl")
    assert answer.code == 130
    assert "the same command goes on from there\n" in answer.err
    assert answer.err.endswith("opcert: interrupted\n")


@pytest.mark.nightly
def test_a_suite_whose_making_is_ended_leaves_nothing(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*OPCERT, "generate", "CenterCropPad-18", "Resize-10"],
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)},
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=heed_signals,
    )
    assert process.stderr is not None
    assert "CenterCropPad" in process.stderr.readline()
    begun = list(tmp_path.glob("**/opcert-scratch-suite-*"))
    process.send_signal(signal.SIGTERM)
    printed, told = process.communicate(timeout=10)
    assert (len(begun), process.returncode, printed) == (1, 130, "")
    assert told.rstrip().endswith("opcert: interrupted")
    assert not list(tmp_path.glob("**/opcert-scratch-suite-*"))
