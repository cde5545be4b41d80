"""Suites with a missing or damaged file, in a folder and in a zip file."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.suite.suite_files import write_zip
from tests.commands.command_line import call, check_message, identity_suite

Capture = pytest.CaptureFixture[str]
GOLDEN = Path("goldens/ai.onnx/Identity-13.pb")
MANIFEST = Path("manifest.json")


def remove(path: Path) -> None:
    path.unlink()


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-5])


def change_one_byte(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(bytes(raw))


def empty(path: Path) -> None:
    path.write_bytes(b"")


DAMAGES: list[Callable[[Path], None]] = [remove, cut_off, change_one_byte, empty]
COMMANDS = ["run", "certify", "export"]


@pytest.mark.parametrize("packed", [False, True], ids=["folder", "zip"])
@pytest.mark.parametrize("file", [GOLDEN, MANIFEST], ids=["golden", "manifest"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_suite(
    capsys: Capture, tmp_path: Path, damage: Callable[[Path], None], file: Path, packed: bool
) -> None:
    suite = identity_suite(tmp_path)
    damage(suite / file)
    if packed:
        write_zip(suite, tmp_path / "suite.zip")
        suite = tmp_path / "suite.zip"
    # Which of the commands that read a suite is asked makes no difference, so each damage asks one.
    command = COMMANDS[DAMAGES.index(damage) % len(COMMANDS)]
    words = [command, suite] if command == "export" else [command, "fake_backends:Good", "-s", suite]
    answer = call(capsys, *words, "-o", tmp_path / "out")
    what = "missing" if damage is remove else "manifest" if file == MANIFEST else "damaged"
    check_message(answer, 2, "input", str(suite / file), what, "Generate the suite again")
    assert not (tmp_path / "out").exists()


def test_a_zip_file_that_was_cut_off(capsys: Capture, tmp_path: Path) -> None:
    whole = tmp_path / "suite.zip"
    write_zip(identity_suite(tmp_path), whole)
    cut_off(whole)
    answer = call(capsys, "certify", "fake_backends:Good", "-s", whole, "-o", tmp_path / "out")
    check_message(answer, 2, "input", str(whole), "no zip file", "Generate the suite again")


def test_files_that_are_no_suite(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("hello.txt", "hello")
    (tmp_path / "folder").mkdir()
    for name, words in (("text", "no zip file"), ("other.zip", "missing"), ("folder", "missing")):
        answer = call(capsys, "report", tmp_path / "run.jsonl", "-s", tmp_path / name)
        check_message(answer, 2, "input", "run.jsonl")  # the record is looked at first
        answer = call(capsys, "run", "fake_backends:Good", "-s", tmp_path / name)
        check_message(answer, 2, "input", str(tmp_path / name), words)


def test_a_suite_in_a_zip_file_does_as_well(capsys: Capture, tmp_path: Path) -> None:
    write_zip(identity_suite(tmp_path), tmp_path / "suite.zip")
    answer = call(
        capsys, "certify", "fake_backends:Good", "-s", tmp_path / "suite.zip", "-o", tmp_path / "out"
    )
    assert answer.code == 0, answer.err
