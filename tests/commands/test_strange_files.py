"""Pipes, sockets, devices and bombs that are named where a file should be: told, and read by nobody."""

from __future__ import annotations

import json
import os
import resource
import socket
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.suite.manifests import manifest_digest
from conformance.suite.suite_files import write_zip
from opcert.vocabulary.regular_files import open_regular, read_regular
from tests.commands.command_line import call, check_message, identity_suite

Capture = pytest.CaptureFixture[str]
GIGABYTE = 1 << 30


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the name of a socket may have 107 characters
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


def make_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


KINDS: dict[str, Callable[[Path], None]] = {"pipe": make_pipe, "socket": make_socket, "device": make_device}
WORDS: dict[str, list[str]] = {
    "record": ["report", "STRANGE", "-s", "suite"],
    "record to compare": ["compare", "STRANGE", "STRANGE", "-s", "suite"],
    "record to merge": ["merge", "STRANGE", "-o", "merged.jsonl"],
    "record to certify": ["certify", "exec:true", "--run", "STRANGE", "-s", "suite"],
    "certificate": ["verify", "STRANGE"],
    "profile": ["certify", "exec:true", "--profile", "STRANGE", "-s", "suite"],
    "key": ["certify", "exec:true", "--key", "STRANGE", "-s", "suite"],
    "suite": ["export", "STRANGE", "-o", "out"],
    "document": ["import", "STRANGE", "-o", "specs"],
    "page": ["lint", "STRANGE"],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", WORDS)
def test_what_is_no_file_is_not_waited_for(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, what: str
) -> None:
    monkeypatch.chdir(tmp_path)
    identity_suite(tmp_path)
    KINDS[kind](tmp_path / "strange")
    answer = call(capsys, *("strange" if word == "STRANGE" else word for word in WORDS[what]))
    assert answer.code == 2, answer.err
    assert "strange" in answer.err
    assert "Traceback" not in answer.err


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", ["manifest.json", "goldens/ai.onnx/Identity-13.pb"])
def test_a_part_of_a_suite_that_is_no_file(capsys: Capture, tmp_path: Path, kind: str, part: str) -> None:
    suite = identity_suite(tmp_path)
    (suite / part).unlink()
    if kind == "device":
        os.mkfifo(suite / part)  # a link leads outside, which is told before
    else:
        KINDS[kind](suite / part)
    answer = call(capsys, "export", suite, "-o", tmp_path / "out")
    check_message(answer, 2, "input", part, "and no file")


def test_a_pipe_among_the_calls_of_a_folder(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "calls").mkdir()
    os.mkfifo(tmp_path / "calls" / "a.json")
    answer = call(capsys, "export", tmp_path / "calls", "-o", tmp_path / "out")
    check_message(answer, 2, "input", "a.json", "and no file")


def test_regular_files_are_opened_and_bounded(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_regular(path, 5) == b"12345"
    with open_regular(path) as file:
        assert os.get_inheritable(file.fileno()) is False
    with pytest.raises(OSError, match="at most 4"):
        read_regular(path, 4)
    with pytest.raises(OSError, match="a folder, and no file"):
        open_regular(tmp_path)
    with pytest.raises(OSError, match="null"):
        open_regular(Path("a\0b"))


def ask(suite: Path, memory: int = GIGABYTE) -> subprocess.CompletedProcess[str]:
    """Ask for a suite to be exported by a process that may have so much address space."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    return subprocess.run(
        [sys.executable, "-m", "opcert", "export", str(suite), "-o", str(suite.with_name("out"))],
        capture_output=True, text=True, check=False, preexec_fn=limit, timeout=120,
    )  # fmt: skip


def check_bomb(suite: Path, *words: str) -> None:
    done = ask(suite)
    assert done.returncode == 2, done.stderr
    assert "opcert: input: " in done.stderr
    for word in words:
        assert word in done.stderr


def squeeze(path: Path, name: str, piece: bytes, times: int, first: bytes = b"") -> None:
    """A zip file with one file of pieces that are all the same."""
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open(name, "w", force_zip64=True) as file,
    ):
        file.write(first)
        for _ in range(times):
            file.write(piece)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("first", "piece"),
    [
        pytest.param(b"", b"[", id="brackets"),
        pytest.param(b"", b"0", id="digits", marks=pytest.mark.nightly),
        pytest.param(b"", b"[],", id="lists", marks=pytest.mark.nightly),
        pytest.param(b'{"cases":[', b'{"id":{}},', id="entries"),
        pytest.param(b'{"cases":["', b"x", id="a text", marks=pytest.mark.nightly),
    ],
)
def test_a_manifest_that_unpacks_to_gigabytes(tmp_path: Path, first: bytes, piece: bytes) -> None:
    squeeze(tmp_path / "suite.zip", "manifest.json", piece * ((1 << 20) // len(piece)), 450, first)
    assert (tmp_path / "suite.zip").stat().st_size < 3 << 20
    check_bomb(tmp_path / "suite.zip", "suite.zip")


@pytest.mark.nightly
@pytest.mark.parametrize("first", ['{"cases":[', "[", '{"cases":["x'])
def test_a_manifest_in_a_folder_has_a_limit_too(tmp_path: Path, first: str) -> None:
    suite = identity_suite(tmp_path)
    with (suite / "manifest.json").open("w") as file:
        file.write(first)
        for _ in range(64):
            file.write("[]," * (1 << 18))
    check_bomb(suite, "manifest.json")
    os.truncate(suite / "manifest.json", 1 << 40)
    check_bomb(suite, "manifest.json")


@pytest.mark.nightly
@pytest.mark.parametrize("bytes_", [1 << 40, -5, 10**30, True])
def test_a_golden_of_another_size_than_the_manifest_states(tmp_path: Path, bytes_: int) -> None:
    suite = identity_suite(tmp_path)
    manifest = json.loads((suite / "manifest.json").read_text())
    (golden,) = manifest["goldens"]
    manifest["goldens"][golden]["bytes"] = bytes_
    for entry in manifest["cases"]:
        entry["length"] = 1 << 39
    manifest["digest"] = manifest_digest(manifest)
    (suite / "manifest.json").write_text(json.dumps(manifest))
    check_bomb(suite, "damaged")


def test_too_many_files_and_other_ways_to_pack(capsys: Capture, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "many.zip", "w") as archive:
        for number in range(20_001):
            archive.writestr(str(number), b"")
    with zipfile.ZipFile(tmp_path / "other.zip", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("manifest.json", b"{}")
    for name, words in (("many.zip", "too many files"), ("other.zip", "compressed in a way")):
        answer = call(capsys, "export", tmp_path / name, "-o", tmp_path / "out")
        check_message(answer, 2, "input", name, words)


def test_a_compressed_suite_is_read_as_any_other(capsys: Capture, tmp_path: Path) -> None:
    suite = identity_suite(tmp_path)
    write_zip(suite, tmp_path / "deflated.zip")
    with zipfile.ZipFile(tmp_path / "stored.zip", "w") as archive:
        for path in sorted(suite.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(suite))
    assert (tmp_path / "deflated.zip").stat().st_size < (tmp_path / "stored.zip").stat().st_size / 2
    for name in ("stored", "deflated"):
        answer = call(capsys, "export", tmp_path / f"{name}.zip", "-o", tmp_path / name)
        assert answer.code == 0, answer.err


def test_a_record_of_one_endless_line(tmp_path: Path) -> None:
    suite = identity_suite(tmp_path)
    record = tmp_path / "run.jsonl"
    record.write_bytes(b'{"type":"header","format":"opcert-run/1","x":"')
    os.truncate(record, 1 << 40)
    words = [sys.executable, "-m", "opcert", "report", str(record), "-s", str(suite)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 2, done.stderr
    assert "a line of more than" in done.stderr
