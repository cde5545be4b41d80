"""`opcert import`: files and folders, drift, and every mistake answered with a message and exit code 2."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from opcert.commands import import_table
from opcert.commands.import_command import command
from opcert.vocabulary.errors import SeveralErrors, UserError
from specs.importing import reading
from specs.importing.importing import read_documents
from specs.importing.reading import ReadingStep
from tests.documents.gathering import Documents

FRAGMENT = "002_*=org.tensorflow::BatchToSpaceND-1"


def _run(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments], standalone_mode=False)


def test_a_folder_is_imported_and_checked(first_pages: Path, tmp_path: Path) -> None:
    folder = tmp_path / "specs"
    result = _run(first_pages, "-o", folder, "--operator", FRAGMENT)
    assert (result.exception, result.return_value) == (None, 0)
    assert "ai.onnx::Resize-18" in result.output
    assert "37 (37 with outputs)" in result.output
    checked = _run(first_pages, "-o", folder, "--check")
    assert (checked.exception, checked.return_value) == (None, 0)
    assert "8 operator versions" in checked.output


def test_drift_is_shown_with_its_line(first_pages: Path, tmp_path: Path) -> None:
    folder = tmp_path / "specs"
    page = first_pages / "003_93eb874b53beb9d9.txt"
    _run(page, "-o", folder)
    path = folder / "org.openvino" / "ExtractImagePatches" / "imported-3.yaml"
    path.write_text(path.read_text().replace("same_lower", "same_lowest"))
    result = _run(page, "-o", folder, "--check")
    assert result.return_value == 1
    assert f"{path}:" in result.output
    assert "same_lowest" in result.output
    path.unlink()
    missing = _run(page, "-o", folder, "--check")
    assert missing.return_value == 1
    assert "is missing" in missing.output


def test_an_operator_that_a_document_no_longer_describes_is_drift(first_pages: Path, tmp_path: Path) -> None:
    folder = tmp_path / "specs"
    page = tmp_path / "Resize.rst"
    shutil.copyfile(first_pages / "004_461a3d04fa574ae4.txt", page)
    page.chmod(0o644)
    _run(page, "-o", folder)
    text = page.read_text()
    page.write_text(text[: text.index(".. _l-onnx-op-resize-10:")])
    result = _run(page, "-o", folder, "--check")
    assert result.return_value == 1
    assert "ai.onnx::Resize-10: Resize.rst no longer describes it" in result.output


def test_the_shipped_specs_are_checked_by_default(first_pages: Path) -> None:
    result = _run(first_pages, "--check")
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


def test_such_files_in_a_folder_are_listed_and_skipped(first_pages: Path, tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    shutil.copyfile(first_pages / "000_a879288b2471f5e3.txt", folder / "page.rst")
    (folder / "empty.rst").write_bytes(b"")
    (folder / "letter.txt").write_text("Dear reader")
    result = _run(folder, "-o", tmp_path / "specs")
    assert (result.exception, result.return_value) == (None, 0)
    assert f"not read, the document is empty:\n  {folder / 'empty.rst'}\n" in result.output
    assert "not read, the document is no operator page; expected one of the dialects" in result.output
    assert f"\n  {folder / 'letter.txt'}\n" in result.output


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
def test_wrong_options(first_pages: Path, tmp_path: Path, arguments: list[str], message: str) -> None:
    result = _run(first_pages / "000_a879288b2471f5e3.txt", "-o", tmp_path / "specs", *arguments)
    assert isinstance(result.exception, UserError)
    assert message in str(result.exception)


def test_a_fragment_needs_its_operator(first_pages: Path, tmp_path: Path) -> None:
    result = _run(first_pages / "002_9bf136dd4443dc44.txt", "-o", tmp_path / "specs")
    assert isinstance(result.exception, UserError)
    assert "--operator 002_9bf136dd4443dc44.txt=" in str(result.exception)


def test_a_page_of_another_operator_is_refused(first_pages: Path, tmp_path: Path) -> None:
    result = _run(first_pages / "000_a879288b2471f5e3.txt", "-o", tmp_path / "specs",
                  "--operator", "000_*=ai.onnx::Resize-18")  # fmt: skip
    assert isinstance(result.exception, UserError)
    assert "names another operator" in str(result.exception)


def test_a_folder_that_cannot_be_written(first_pages: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "specs"
    blocked.mkdir()
    (blocked / "ai.onnx").write_text("a file where a folder should be")
    result = _run(first_pages / "000_a879288b2471f5e3.txt", "-o", blocked)
    assert isinstance(result.exception, UserError)
    assert "cannot be written" in str(result.exception)


def _copy(first_pages: Path, folder: Path, *names: str) -> None:
    """The page of CenterCropPad under names of ours."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((first_pages / "000_a879288b2471f5e3.txt").read_bytes())


def test_a_pattern_takes_the_files_that_it_fits(first_pages: Path, tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    _copy(first_pages, folder, "a/one.rst", "a/b/two.rst", "a/.hidden/three.rst", "a/four.txt")
    (folder / "a" / "letter.rst").write_text("Dear reader")
    result = _run(folder / "**" / "*.rst", "-o", tmp_path / "specs")
    assert (result.exception, result.return_value) == (None, 0)
    found = re.findall(r"^(\w+\.\w+) ", result.output, re.MULTILINE)
    assert found == ["one.rst", "two.rst"]
    assert "letter.rst" in result.output


def test_a_file_whose_name_looks_like_a_pattern_is_named(first_pages: Path, tmp_path: Path) -> None:
    _copy(first_pages, tmp_path, "page[1].rst")
    result = _run(tmp_path / "page[1].rst", "-o", tmp_path / "specs")
    assert (result.exception, result.return_value) == (None, 0)


def test_a_pattern_that_fits_nothing(tmp_path: Path) -> None:
    result = _run(tmp_path / "*.rst", "-o", tmp_path / "specs")
    assert isinstance(result.exception, UserError)
    assert "no file fits the pattern" in str(result.exception)


def test_the_same_document_twice_counts_once_and_another_of_its_name_is_refused(
    first_pages: Path, tmp_path: Path
) -> None:
    _copy(first_pages, tmp_path, "a/page.rst", "b/page.rst")
    result = _run(tmp_path / "a", tmp_path / "b", "-o", tmp_path / "specs")
    assert (result.exception, result.return_value) == (None, 0)
    text = (tmp_path / "specs" / "ai.onnx" / "CenterCropPad" / "imported-18.yaml").read_text()
    assert text.count("page.rst") == 1
    other = tmp_path / "b" / "page.rst"
    other.write_text(other.read_text() + "\n\n")
    result = _run(tmp_path / "a", tmp_path / "b", "-o", tmp_path / "specs")
    assert isinstance(result.exception, UserError)
    assert "two documents of this name describe ai.onnx::CenterCropPad-18" in str(result.exception)
    assert str(other) in str(result.exception)


@pytest.mark.slow
def test_processes_change_nothing(documents: Documents, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file is told of, and the result is the same."""
    monkeypatch.setattr(reading, "WORTH_PROCESSES", 0)
    monkeypatch.setattr(reading, "BATCH_BYTES", 16_384)
    pages = [documents.find("openvino/movement")]
    steps: list[ReadingStep] = []
    alone = read_documents(pages)
    together = read_documents(pages, processes=2, progress=steps.append)
    assert together == alone
    assert list(together.layers) == list(alone.layers)
    last = steps[-1]
    assert [step.documents for step in steps] == list(range(1, last.of_documents + 1))
    assert last.size == last.of_size > 2 * reading.BATCH_BYTES


def test_the_table_adds_up(documents: Documents, tmp_path: Path) -> None:
    result = _run(
        documents.find("openvino/movement"),
        documents.find("first-pages"),
        "-o",
        tmp_path / "specs",
        "--operator",
        FRAGMENT,
    )
    assert (result.exception, result.return_value) == (None, 0)
    lines = result.output.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("document "))
    end = next(number for number, line in enumerate(lines) if line.startswith("findings: "))
    rows = [re.split(r"  +", line) for line in lines[start + 1 : end]]
    *each, total = rows
    assert total[0] == f"all {len(list((documents.find('openvino/movement')).iterdir())) + 5}"
    numbers = [[int(cell.split(" ")[0]) for cell in row[-5:]] for row in each]
    for position, cell in enumerate(total[-5:]):
        if position > 1:  # an operator and its version can stand in several documents
            assert int(cell.split(" ")[0]) == sum(row[position] for row in numbers)
    codes = re.findall(r" (\d+)", lines[end].removeprefix("findings:"))
    assert sum(map(int, codes)) == int(total[-1])


def test_a_row_for_each_operator_version_where_asked(
    first_pages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_table, "_MOST_VERSIONS", 3)
    page = first_pages / "004_461a3d04fa574ae4.txt"
    assert "ai.onnx::Resize-11" not in _run(page, "-o", tmp_path / "specs").output
    assert "ai.onnx::Resize-11" in _run(page, "-o", tmp_path / "specs", "--each").output


SINCE = "This version of the operator has been available since version 1 of the default ONNX operator set."


def _markdown(*names: str) -> str:
    return "\n".join(f'### <a name="{name}"></a><a name="x">**{name}**</a>\n\n{SINCE}\n' for name in names)


def test_declared_operators_take_no_new_document(tmp_path: Path) -> None:
    folder, first, second = tmp_path / "specs", tmp_path / "first.md", tmp_path / "second.md"
    first.write_text(_markdown("A", "B"))
    second.write_text(_markdown("A", "B"))
    _run(first, "-o", folder)
    (folder / "ai.onnx" / "A" / "spec.yaml").write_text("{}\n")
    result = _run(second, "-o", folder, "--keep-declared")
    assert (result.exception, result.return_value) == (None, 0)
    assert "second.md" not in (folder / "ai.onnx" / "A" / "imported-1.yaml").read_text()
    assert "second.md" in (folder / "ai.onnx" / "B" / "imported-1.yaml").read_text()
    assert _run(first, second, "-o", folder, "--keep-declared", "--check").return_value == 0
    assert _run(second, "-o", folder, "--check").return_value == 1


def test_a_document_that_no_longer_describes_an_operator_leaves_the_others(tmp_path: Path) -> None:
    folder, first, second = tmp_path / "specs", tmp_path / "first.md", tmp_path / "second.md"
    first.write_text(_markdown("A", "B"))
    second.write_text(_markdown("A"))
    _run(first, second, "-o", folder)
    first.write_text(_markdown("B"))
    assert _run(first, second, "-o", folder, "--check").return_value == 1
    _run(first, second, "-o", folder)
    text = (folder / "ai.onnx" / "A" / "imported-1.yaml").read_text()
    assert ("first.md" in text, "second.md" in text) == (False, True)


def test_what_was_not_asked_for_is_not_gone(tmp_path: Path) -> None:
    """One operator of a page with many: the others keep what they have of it."""
    folder, page = tmp_path / "specs", tmp_path / "page.md"
    page.write_text(_markdown("A", "B"))
    _run(page, "-o", folder)
    result = _run(page, "-o", folder, "--operator", "page.md=ai.onnx::A-1", "--check")
    assert (result.exception, result.return_value) == (None, 0)
    assert "1 operator version" in result.output


def test_filling_adds_to_nothing_that_is_there(tmp_path: Path) -> None:
    folder, first, second = tmp_path / "specs", tmp_path / "first.md", tmp_path / "second.md"
    first.write_text(_markdown("A"))
    second.write_text(_markdown("A", "B", "C"))
    _run(first, "-o", folder)
    result = _run(second, "-o", folder, "--fill", "--only", "*::A-*", "--only", "ai.onnx::B-1")
    assert (result.exception, result.return_value) == (None, 0)
    assert "second.md" not in (folder / "ai.onnx" / "A" / "imported-1.yaml").read_text()
    assert "second.md" in (folder / "ai.onnx" / "B" / "imported-1.yaml").read_text()
    assert not (folder / "ai.onnx" / "C-1").exists()
    assert _run(second, "-o", folder, "--fill", "--only", "*::B-1", "--check").return_value == 0
    assert _run(second, "-o", folder, "--fill", "--check").return_value == 1
    assert _run(second, "-o", folder, "--only", "none").return_value == 5
