"""Output folders and files that cannot be written, and disks that are full."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.command_line import call, check_message, identity_suite

Capture = pytest.CaptureFixture[str]
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device")


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return identity_suite(tmp_path)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A regular file, below which nothing can be written, whoever one is."""
    path = tmp_path / "file"
    path.write_text("keep me")
    return path


def test_below_a_file(capsys: Capture, suite: Path, file: Path, tmp_path: Path) -> None:
    run = tmp_path / "run.jsonl"
    assert call(capsys, "run", "fake_backends:Good", "-s", suite, "-o", run).code == 0
    case = next(iter(run.read_text().splitlines()[1].split('"case":"')[1:])).split('"')[0]
    below = file / "out"
    commands: list[list[object]] = [
        ["certify", "fake_backends:Good", "-s", suite],
        ["run", "fake_backends:Good", "-s", suite],
        ["report", run, "-s", suite],
        ["export", suite],
        ["repro", case, "-s", suite],
        ["generate", "com.microsoft::Pad-1"],
    ]
    for words in commands:
        answer = call(capsys, *words, "-o", below)
        check_message(answer, 2, "input", str(below), "cannot be written", "-o")
    assert file.read_text() == "keep me"


def test_a_file_where_a_folder_should_go(capsys: Capture, suite: Path, file: Path) -> None:
    answer = call(capsys, "certify", "fake_backends:Good", "-s", suite, "-o", file)
    assert answer.code == 2
    assert str(file) in answer.err
    assert "is a file" in answer.err
    check_message(call(capsys, "export", suite, "-o", file), 2, "input", str(file), "cannot be written")
    check_message(call(capsys, "generate", "Pad-1", "-o", file), 2, "input", str(file), "no suite")
    assert file.read_text() == "keep me"


def test_a_folder_where_a_file_should_go(capsys: Capture, suite: Path, tmp_path: Path) -> None:
    answer = call(capsys, "run", "fake_backends:Good", "-s", suite, "-o", tmp_path)
    assert answer.code == 2
    assert "is a directory" in answer.err


def test_specs_below_a_file(capsys: Capture, first_pages: Path, file: Path) -> None:
    answer = call(capsys, "import", first_pages / "003_93eb874b53beb9d9.txt", "-o", file / "specs")
    check_message(
        answer, 2, "input", "cannot be written", str(file), "a file stands where a folder should be"
    )


def test_a_cache_below_a_file(capsys: Capture, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(file))
    answer = call(capsys, "generate", "com.microsoft::Pad-1", "--size", "small")
    check_message(answer, 2, "input", str(file), "cannot be written", "XDG_CACHE_HOME")
    answer = call(capsys, "certify", "onnxruntime==1.99", "-s", "nowhere")
    check_message(answer, 2, "input", "nowhere")


@needs_full
def test_a_record_that_is_a_device(capsys: Capture, suite: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "run.jsonl").symlink_to("/dev/full")
    answer = call(capsys, "certify", "fake_backends:Good", "-s", suite, "-o", tmp_path / "out")
    check_message(answer, 2, "input", "run.jsonl", "a device", "name a file with -o")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["run.jsonl"]
