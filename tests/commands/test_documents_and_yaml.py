"""Documents, spec.yaml and profiles that are not what they should be."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from specs.files.spec_folders import OWN_FOLDER
from tests.commands.command_line import call, check_message, identity_suite

Capture = pytest.CaptureFixture[str]
OPERATOR = "com.microsoft::Pad-1"
DOCUMENTS = [
    (b"", "the document is empty"),
    (b" \n\n", "the document is empty"),
    (b"\x7fELF\x02\x01\x01\0\0\0", "the document is no text"),
    (b"\xff\xd8\xff\xe0", "the document is no text"),
    (b"Dear reader,\nhello.\n", "no operator page"),
]


@pytest.mark.parametrize(("content", "words"), DOCUMENTS)
def test_a_document_that_was_named(capsys: Capture, tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "page.rst"
    path.write_bytes(content)
    answer = call(capsys, "import", path, "-o", tmp_path / "specs")
    check_message(answer, 2, "input", words, str(path))
    assert not (tmp_path / "specs").exists()


def test_every_document_that_was_named_is_answered(capsys: Capture, tmp_path: Path) -> None:
    paths = []
    for number, (content, _) in enumerate(DOCUMENTS):
        paths.append(tmp_path / f"page{number}.rst")
        paths[-1].write_bytes(content)
    answer = call(capsys, "import", *paths, tmp_path / "missing.rst", "-o", tmp_path / "specs")
    check_message(answer, 2, "input", *(words for _, words in DOCUMENTS), "missing.rst")


def test_documents_in_a_folder_are_listed_and_skipped(capsys: Capture, tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    for number, (content, _) in enumerate(DOCUMENTS):
        (folder / f"page{number}.rst").write_bytes(content)
    answer = call(capsys, "import", folder, "-o", tmp_path / "specs")
    assert answer.code == 5, answer.err
    for number in range(len(DOCUMENTS)):
        assert f"/page{number}.rst\n" in answer.out
    assert "Traceback" not in answer.err


@pytest.fixture
def own_specs(tmp_path: Path) -> Path:
    """A folder of specs that holds one operator, to be damaged."""
    folder = tmp_path / "specs"
    shutil.copytree(OWN_FOLDER / "com.microsoft", folder / "com.microsoft")
    return folder


@pytest.mark.parametrize(
    ("added", "words"),
    [
        ("colour: red\n", ["spec.yaml:", "colour"]),
        ("readings: 7\n", ["spec.yaml:", "readings"]),
        ("constraints: [\n", ["spec.yaml:", "not YAML"]),
        ("? [a]\n: 1\n", ["spec.yaml:", "not YAML"]),
    ],
)
@pytest.mark.parametrize("command", ["show", "generate"])
def test_a_declaration_that_is_wrong(
    capsys: Capture, own_specs: Path, tmp_path: Path, command: str, added: str, words: list[str]
) -> None:
    path = own_specs / "com.microsoft" / "Pad" / "spec.yaml"
    lines = path.read_text().count("\n")
    path.write_text(path.read_text() + added)
    more = ["-o", tmp_path / "suite"] if command == "generate" else []
    answer = call(capsys, command, OPERATOR, "--specs", own_specs, *more)
    check_message(answer, 2, "input", str(path), *words)
    if added.startswith("colour"):
        assert f"spec.yaml:{lines + 1}:" in answer.err
    assert not (tmp_path / "suite").exists()


def test_a_file_of_imported_facts_that_is_wrong(capsys: Capture, own_specs: Path) -> None:
    path = own_specs / "com.microsoft" / "Pad" / "imported-1.yaml"
    path.write_text(path.read_text() + "colour: red\n")
    check_message(call(capsys, "show", OPERATOR, "--specs", own_specs), 2, "input", str(path), "colour")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("profile: mine\ndescription: d\noperators: [ai.onnx::Resize-18]\ncolour: red\n", [":4", "colour"]),
        (
            "profile: mine\ndescription: d\noperators: [Resize]\n",
            [":3", "operators", "not an operator's name"],
        ),
        ("profile: mine\n", ["description", "operators"]),
        ("profile: mine\nprofile: yours\n", [":2", "profile"]),
        ("- 1\n", ["not a profile", "one mapping"]),
        ("", ["not a profile", "one mapping"]),
        ("{", ["not YAML"]),
        ("\0", ["not YAML"]),
    ],
)
def test_a_profile_that_is_wrong(capsys: Capture, tmp_path: Path, text: str, words: list[str]) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    suite, out = identity_suite(tmp_path), tmp_path / "out"
    answer = call(capsys, "certify", "fake_backends:Good", "-s", suite, "--profile", path, "-o", out)
    check_message(answer, 2, "input", str(path), *words)
    assert not out.exists()
