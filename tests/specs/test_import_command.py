"""`opcert import`: files and folders, drift, and every mistake answered with a message and exit code 2."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from opcert.commands.import_command import command
from opcert.errors import SeveralErrors, UserError

FRAGMENT = "002_*=org.tensorflow::BatchToSpaceND-1"


def _run(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(each) for each in arguments], standalone_mode=False)


def test_a_folder_is_imported_and_checked(seeds: Path, tmp_path: Path) -> None:
    folder = tmp_path / "specs"
    result = _run(seeds, "-o", folder, "--operator", FRAGMENT)
    assert (result.exception, result.return_value) == (None, 0)
    assert "ai.onnx::Resize-18" in result.output
    assert "37 (37 with outputs)" in result.output
    checked = _run(seeds, "-o", folder, "--check")
    assert (checked.exception, checked.return_value) == (None, 0)
    assert "8 operator versions" in checked.output


def test_drift_is_shown_with_its_line(seeds: Path, tmp_path: Path) -> None:
    folder = tmp_path / "specs"
    page = seeds / "003_93eb874b53beb9d9.txt"
    _run(page, "-o", folder)
    path = folder / "org.openvino" / "ExtractImagePatches-3" / "imported.yaml"
    path.write_text(path.read_text().replace("same_lower", "same_lowest"))
    result = _run(page, "-o", folder, "--check")
    assert result.return_value == 1
    assert f"{path}:" in result.output
    assert "same_lowest" in result.output
    path.unlink()
    missing = _run(page, "-o", folder, "--check")
    assert missing.return_value == 1
    assert "is missing" in missing.output


def test_an_operator_that_a_document_no_longer_describes_is_drift(seeds: Path, tmp_path: Path) -> None:
    folder = tmp_path / "specs"
    page = tmp_path / "Resize.rst"
    shutil.copyfile(seeds / "004_461a3d04fa574ae4.txt", page)
    page.chmod(0o644)
    _run(page, "-o", folder)
    text = page.read_text()
    page.write_text(text[: text.index(".. _l-onnx-op-resize-10:")])
    result = _run(page, "-o", folder, "--check")
    assert result.return_value == 1
    assert "ai.onnx::Resize-10: Resize.rst no longer describes it" in result.output


def test_the_shipped_specs_are_checked_by_default(seeds: Path) -> None:
    result = _run(seeds, "--check")
    assert (result.exception, result.return_value) == (None, 0)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "empty"), (b"\xff\xd8\xff\xe0", "no text"), (b"Dear reader,\nhello.\n", "no operator page")],
)
def test_a_named_file_that_is_no_operator_page(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "page.rst"
    path.write_bytes(content)
    result = _run(path, "-o", tmp_path / "specs")
    assert isinstance(result.exception, UserError)
    assert result.exception.exit_code == 2
    assert message in str(result.exception)
    assert "page.rst" in str(result.exception)


def test_such_files_in_a_folder_are_listed_and_skipped(seeds: Path, tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    shutil.copyfile(seeds / "000_a879288b2471f5e3.txt", folder / "page.rst")
    (folder / "empty.rst").write_bytes(b"")
    (folder / "letter.txt").write_text("Dear reader")
    result = _run(folder, "-o", tmp_path / "specs")
    assert (result.exception, result.return_value) == (None, 0)
    assert "not read: empty.rst" in result.output
    assert "not read: letter.txt" in result.output


def test_all_wrong_files_are_reported_at_once(tmp_path: Path) -> None:
    (tmp_path / "empty.rst").write_bytes(b"")
    result = _run(tmp_path / "empty.rst", tmp_path / "missing.rst")
    assert isinstance(result.exception, SeveralErrors)
    assert len(result.exception.errors) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--operator", "file"], "FILE=domain"),
        (["--operator", "f=Resize"], "not an operator's name"),
        (["--dialect", "klingon"], "unknown dialect"),
    ],
)
def test_wrong_options(seeds: Path, tmp_path: Path, arguments: list[str], message: str) -> None:
    result = _run(seeds / "000_a879288b2471f5e3.txt", "-o", tmp_path / "specs", *arguments)
    assert isinstance(result.exception, UserError)
    assert message in str(result.exception)


def test_a_fragment_needs_its_operator(seeds: Path, tmp_path: Path) -> None:
    result = _run(seeds / "002_9bf136dd4443dc44.txt", "-o", tmp_path / "specs")
    assert isinstance(result.exception, UserError)
    assert "--operator 002_9bf136dd4443dc44.txt=" in str(result.exception)


def test_a_page_of_another_operator_is_refused(seeds: Path, tmp_path: Path) -> None:
    result = _run(seeds / "000_a879288b2471f5e3.txt", "-o", tmp_path / "specs",
                  "--operator", "000_*=ai.onnx::Resize-18")  # fmt: skip
    assert isinstance(result.exception, UserError)
    assert "names another operator" in str(result.exception)


def test_a_folder_that_cannot_be_written(seeds: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "specs"
    blocked.mkdir()
    (blocked / "ai.onnx").write_text("a file where a folder should be")
    result = _run(seeds / "000_a879288b2471f5e3.txt", "-o", blocked)
    assert isinstance(result.exception, UserError)
    assert "cannot be written" in str(result.exception)
