"""The list of documents, how they are found by it, and what is said of those that lack or are others."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

import pytest

from opcert.commands.packages import package_document
from opcert.vocabulary.errors import UserError
from specs.files.spec_folders import OWN_FOLDER
from tests.documents import gathering
from tests.documents.__main__ import main
from tests.documents.docstrings import RELEASE, kept_package, write_docstrings
from tests.documents.docstrings import main as docstrings_main
from tests.documents.gathering import VARIABLE, AbsentDocuments, Documents, read_digests, read_sources

TEXTS = {"a/First.md": "first", "a/Second.md": "second", "b/c/Third.txt": "third"}
LEAVES_OUT = """
def test_that_reads_a_page(documents):
    assert documents.find("first-pages").is_dir()


def test_that_reads_another(documents):
    assert documents.find("onnx/Operators.md").is_file()


def test_without() -> None:
    pass
"""


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A list of three documents."""
    digests = tmp_path / "SHA256SUMS"
    rows = [f"{hashlib.sha256(text.encode()).hexdigest()}  {place}\n" for place, text in TEXTS.items()]
    digests.write_text("".join(rows))
    sources = tmp_path / "sources.yaml"
    sources.write_text(
        "sources:\n- {documents: '*', origin: Project 1, get: take it, compared: no matter, licence: MIT}\n"
    )
    monkeypatch.setattr(gathering, "DIGESTS", digests)
    monkeypatch.setattr(gathering, "SOURCES", sources)
    gathering.read_sources.cache_clear()


@pytest.fixture(autouse=True)
def _forget_sources() -> Iterator[None]:
    yield
    gathering.read_sources.cache_clear()


def test_every_document_has_one_source_and_a_name_of_its_own() -> None:
    digests, sources = read_digests(), read_sources()
    assert len(digests) == 1022
    for place, digest in digests.items():
        assert re.fullmatch(r"[0-9a-f]{64}", digest), place
        assert sum(fnmatchcase(place, source.documents) for source in sources) == 1, place
    assert len({PurePosixPath(place).name.lower() for place in digests}) == len(digests)
    for source in sources:
        assert any(fnmatchcase(place, source.documents) for place in digests), source
        for words in (source.origin, source.get, source.compared, source.licence):
            assert len(words) > 2, source


def test_the_digests_are_those_that_the_specs_were_made_from() -> None:
    """Two lists that were written at different times, by different programs."""
    row = re.compile(r'file: (\S+)\n.*?sha256: "?(\w{64})', re.DOTALL)
    stated: dict[str, str] = {}
    for path in OWN_FOLDER.rglob("imported*.yaml"):
        stated.update(row.findall(path.read_text(encoding="utf-8")))
    ours = {PurePosixPath(place).name: digest for place, digest in read_digests().items()}
    both = stated.keys() & ours.keys()
    assert len(both) > 120
    assert {name: stated[name] for name in both} == {name: ours[name] for name in both}


def _fill(folder: Path, texts: dict[str, str]) -> Path:
    for place, text in texts.items():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.mark.usefixtures("listed")
def test_documents_are_found_wherever_they_lie(tmp_path: Path) -> None:
    lying = {"x/y/First.md": "first", "Second.md": "second", "z/Third.txt": "third", "x/First.md": "another"}
    documents = Documents(
        _fill(tmp_path / "lying", {**lying, "README.md": "no document"}), tmp_path / "found"
    )
    found = documents.find(".")
    assert {str(path.relative_to(found)): path.read_text() for path in found.rglob("*.*")} == TEXTS
    assert documents.find("b") == found / "b"
    assert documents.find("a/Second.md").read_text() == "second"


@pytest.mark.usefixtures("listed")
def test_a_folder_has_the_documents_of_the_list_alone(tmp_path: Path) -> None:
    lying = _fill(tmp_path / "lying", {**TEXTS, "a/Fourth.md": "no document"})
    found = Documents(lying, tmp_path / "found").find("a")
    assert sorted(path.name for path in found.iterdir()) == ["First.md", "Second.md"]


@pytest.mark.usefixtures("listed")
def test_another_document_of_the_name_is_named(tmp_path: Path) -> None:
    lying = _fill(tmp_path / "lying", {**TEXTS, "a/Second.md": "of another release"})
    documents = Documents(lying, tmp_path / "found")
    assert documents.find("a/First.md").is_file()
    with pytest.raises(UserError) as caught:
        documents.find("a")
    assert not isinstance(caught.value, AbsentDocuments)
    for words in (
        str(lying / "a" / "Second.md"),
        hashlib.sha256(b"of another release").hexdigest(),
        hashlib.sha256(b"second").hexdigest(),
        "Project 1",
        "take it",
    ):
        assert words in str(caught.value)


@pytest.mark.usefixtures("listed")
@pytest.mark.parametrize("hidden", [False, True])
def test_an_absent_document_is_named(tmp_path: Path, hidden: bool) -> None:
    lying = _fill(
        tmp_path / "lying", {"a/First.md": "first", **({".git/Second.md": "second"} if hidden else {})}
    )
    with pytest.raises(AbsentDocuments, match=r"a/Second\.md is absent.*Project 1.*take it"):
        Documents(lying, tmp_path / "found").find("a")
    with pytest.raises(KeyError, match="d is not in"):
        Documents(lying, tmp_path / "found").find("d")


def test_a_folder_that_is_none_is_a_mistake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "none"))
    with pytest.raises(UserError, match=f"{VARIABLE} names no folder"):
        gathering.named_folder()
    assert main([]) == 2


@pytest.mark.usefixtures("listed")
def test_the_command_says_what_is_there_wrong_and_absent(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lying = _fill(tmp_path / "lying", {"First.md": "first", "Second.md": "another"})
    monkeypatch.setenv(VARIABLE, str(lying))
    assert main([str(tmp_path / "out")]) == 1
    said = capsys.readouterr().out
    assert "1 there, 1 wrong, 1 absent" in said
    assert str(lying / "Second.md") in said
    assert [path.name for path in (tmp_path / "out").rglob("*.*")] == ["First.md"]
    _fill(lying, TEXTS)
    assert main([]) == 0


@pytest.mark.usefixtures("listed")
@pytest.mark.parametrize("command", [main, docstrings_main])
def test_help_is_no_folder(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    command: Callable[[list[str]], int],
) -> None:
    monkeypatch.setenv(VARIABLE, str(_fill(tmp_path / "lying", TEXTS)))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        command(["--help"])
    assert ended.value.code == 0
    assert "FOLDER" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["lying"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("documents", "code", "said"),
    [
        (None, 0, "left out: 2 for want of any document (OPCERT_DOCUMENTS names"),
        (
            {},
            0,
            "left out: 1 for want of document first-pages/000_a879288b2471f5e3.txt, 1 for want of ",
        ),
        ({"Operators.md": "of another release"}, 1, "left out: 1 for want of document first-pages/"),
    ],
    ids=["without", "empty", "wrong"],
)
def test_tests_are_left_out_and_it_is_said(
    repository: Path, tmp_path: Path, documents: dict[str, str] | None, code: int, said: str
) -> None:
    """In CI, too: whoever clones the project has no documents."""
    (tmp_path / "conftest.py").write_text((repository / "tests" / "conftest.py").read_text("utf-8"))
    (tmp_path / "test_pages.py").write_text(LEAVES_OUT)
    environment = {**os.environ, "CI": "true", "PYTHONPATH": str(repository)}
    environment.pop(VARIABLE, None)
    if documents is not None:
        environment[VARIABLE] = str(_fill(tmp_path / "documents", documents) if documents else tmp_path)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    ended = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ended.returncode == code, ended.stdout
    assert said in ended.stdout.splitlines()[-1], ended.stdout
    assert ("not the document that is meant" in ended.stdout) == bool(documents)


GENERATED = '''
def twice(x, mode="a", name=None):
  r"""Doubles.

  Args:
    x: A `Tensor`.
  """
  return x
Twice = tf_export("raw_ops.Twice")(_ops.to_raw_op(twice))
'''
DOCSTRING = """# op: Twice
# source: tensorflow_cpu-2.21.0 tensorflow/python/gen_twice.py line 2
# signature: twice(x, mode, name) defaults=["'a'", 'None']

Doubles.

Args:
  x: A `Tensor`.
"""


def test_a_docstring_is_written_with_three_lines_before_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    digests = tmp_path / "SHA256SUMS"
    digests.write_text(f"{hashlib.sha256(DOCSTRING.encode()).hexdigest()}  tensorflow/docstrings/Twice.txt\n")
    monkeypatch.setattr(gathering, "DIGESTS", digests)
    package = _fill(tmp_path / "tensorflow", {"python/gen_twice.py": GENERATED})
    (written,) = write_docstrings(package, tmp_path / "out")
    assert written.read_text("utf-8") == DOCSTRING


@pytest.mark.slow
@pytest.mark.runtimes("tensorflow")
def test_the_docstrings_of_the_package_are_those_of_the_list(tmp_path: Path) -> None:
    package_document("tensorflow", print)
    package = kept_package()
    if package is None:
        pytest.skip(f"the package is not {RELEASE}")
    digests = read_digests()
    written = write_docstrings(package, tmp_path)
    assert len(written) == 876
    for path in written:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        assert digest == digests[f"tensorflow/docstrings/{path.name}"], path.name
