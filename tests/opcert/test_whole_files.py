"""Files are written whole, over nothing but files, and by one module: the sources are looked at."""

from __future__ import annotations

import ast
import os
import socket
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from opcert.vocabulary.errors import UserError
from opcert.vocabulary.whole_files import open_anew, open_new, place_bytes, put_in_place, write_bytes
from tests.opcert.test_harmless_writers import FOREIGN, PACKAGES, name_of

NULL = os.makedev(1, 3)


def make_device(path: Path) -> None:
    """A device of our own that forgets what is written; where that is forbidden, a link to the machine's."""
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, NULL)
    except PermissionError:
        path.symlink_to("/dev/null")


def read_pipe(path: Path) -> tuple[threading.Thread, list[bytes]]:
    read: list[bytes] = []
    thread = threading.Thread(target=lambda: read.append(path.read_bytes()))
    thread.start()
    return thread, read


def test_a_file_is_replaced_by_one_that_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("before")
    with path.open() as reader:
        assert write_bytes(path, b"after") == path
        assert reader.read() == "before"
    assert path.read_text() == "after"
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert list(tmp_path.iterdir()) == [path]


def test_a_device_is_written_through_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "device"
    make_device(path)
    before = path.lstat().st_ino
    write_bytes(path, b"x" * 100)
    assert (path.lstat().st_ino, stat.S_ISCHR(path.stat().st_mode)) == (before, True)
    assert list(tmp_path.iterdir()) == [path]


def test_a_pipe_is_written_through_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    thread, read = read_pipe(path)
    write_bytes(path, b"x" * 200_000)
    thread.join(20)
    assert read == [b"x" * 200_000]
    assert stat.S_ISFIFO(path.lstat().st_mode)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("whole", [True, False])
def test_a_link_is_followed_and_stays(tmp_path: Path, whole: bool) -> None:
    (tmp_path / "there").mkdir()
    target, path = tmp_path / "there" / "file", tmp_path / "link"
    if whole:
        target.write_text("before")
    path.symlink_to(target)
    write_bytes(path, b"after")
    assert path.is_symlink()
    assert target.read_text() == "after"
    assert not target.is_symlink()
    assert list(target.parent.iterdir()) == [target]


def test_a_socket_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the name of a socket may have 107 characters
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("socket")
        with pytest.raises(UserError, match="cannot be written"):
            write_bytes(Path("socket"), b"x")
    assert stat.S_ISSOCK(Path("socket").lstat().st_mode)


@pytest.mark.parametrize("make", [make_device, os.mkfifo, Path.mkdir])
def test_nothing_else_takes_the_place_of_what_is_no_file(tmp_path: Path, make: object) -> None:
    assert callable(make)
    path, made = tmp_path / "strange", tmp_path / "made"
    make(path)
    before = path.lstat()
    made.write_text("made")
    for write in (
        lambda: put_in_place(made, path),
        lambda: open_anew(path),
        lambda: place_bytes(path, b"x", tmp_path.joinpath("making")),
    ):
        (tmp_path / "making").mkdir(exist_ok=True)
        with pytest.raises(OSError, match=r"(?i)device|directory"):
            write()
    assert (path.lstat().st_ino, path.lstat().st_mode) == (before.st_ino, before.st_mode)


def test_a_new_file_does_not_go_through_a_link_that_somebody_left(tmp_path: Path) -> None:
    other, path = tmp_path / "other", tmp_path / "new"
    other.write_text("keep me")
    path.symlink_to(other)
    with open_new(path) as file:
        file.write(b"new")
    assert other.read_text() == "keep me"
    assert path.read_text() == "new"
    assert not path.is_symlink()


WRITER = "opcert/vocabulary/whole_files.py"
OWN_FOLDER = "writes into a scratch folder that it has just made"
EXCEPTIONS = {
    "opcert/commands/failures.py": "a new file where temporary ones go, when all else may be broken",
    "opcert/commands/__init__.py": "standard output itself",
    "opcert/vocabulary/file_locks.py": "locks, which are opened and checked, and never renamed",
    "conformance/suite/kept_suites.py": "folders of suites, which take their place by rename",
    "conformance/clusters/cluster_run.py": "a list in a scratch folder, which is added to",
    "conformance/suite/suites.py": OWN_FOLDER + "; a folder takes its place by rename",
    "conformance/suite/suite_files.py": OWN_FOLDER,
    "conformance/suite/case_index.py": "a file without a name",
    "conformance/checked_models/type_inference.py": OWN_FOLDER,
    "conformance/checked_models/infer_types_script.py": "a process of its own, confined to its folder",
    "conformance/processes/scratch_folders.py": "moves aside what it removes",
    "conformance/processes/confine.py": "files of the system by which it confines itself",
    "conformance/checked_models/node_order.py": "`rename` is of a node",
    "generator/making/suites/suite_making.py": "a file without a name",
    "generator/making/families/cover.py": "`replace` is of a row",
    "reports/single_cases/reproduction/reproduce.py": "is copied out of opcert",
    "reports/single_cases/reproduction/on_tensorflow.py": "is copied out of opcert",
    "reports/single_cases/reproduction/on_onnx_models.py": "is copied out of opcert",
}
WRITES = {"write_text", "write_bytes", "touch"}
PLACES = {"os.replace", "os.rename", "shutil.move", "shutil.copy", "shutil.copy2", "shutil.copyfile",
          "shutil.copytree"}  # fmt: skip
MAKES = {
    "tempfile.mkstemp",
    "tempfile.NamedTemporaryFile",
    "tempfile.TemporaryFile",
    "tempfile.SpooledTemporaryFile",
    "np.save",
    "np.savez",
}


def _writes(mode: ast.expr | None) -> bool:
    return isinstance(mode, ast.Constant) and isinstance(mode.value, str) and bool({*mode.value} & {*"wax+"})


def detours(source: str) -> Iterator[str]:
    """The calls of a source that write, make or move a file."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name, words = name_of(node.func), {keyword.arg: keyword.value for keyword in node.keywords}
        last = name.rpartition(".")[2]
        method = isinstance(node.func, ast.Attribute)
        if last == "touch":  # of a file that was read: its time alone
            continue
        if (method and last in WRITES) or name in PLACES:
            yield f"line {node.lineno}: {name}"
        elif method and last in ("replace", "rename") and len(node.args) == 1 and not words:
            yield f"line {node.lineno}: {name}"  # that of a text takes two
        elif name == "zipfile.ZipFile":
            if _writes(words.get("mode", node.args[1] if node.args[1:] else None)):
                yield f"line {node.lineno}: {name}"
        elif name in MAKES:
            yield f"line {node.lineno}: {name}"
        elif last == "open" and name != "os.open":
            position = 0 if method and name not in ("io.open", "gzip.open") else 1
            given = node.args[position] if len(node.args) > position else None
            if _writes(words.get("mode", given)):
                yield f"line {node.lineno}: {name}"
        elif name == "os.open" and any(
            isinstance(each, ast.Attribute) and each.attr in ("O_CREAT", "O_WRONLY", "O_RDWR")
            for each in ast.walk(node)
        ):
            yield f"line {node.lineno}: {name}"


def found(repository: Path) -> dict[str, list[str]]:
    sources = [path for package in PACKAGES for path in sorted((repository / package).rglob("*.py"))]
    named = {path.relative_to(repository).as_posix(): path.read_text("utf-8") for path in sources}
    every = {name: [*detours(text)] for name, text in named.items() if not name.startswith(FOREIGN)}
    return {name: each for name, each in every.items() if each}


@pytest.mark.slow
def test_one_module_writes_files(repository: Path) -> None:
    every = found(repository)
    assert WRITER in every
    assert not {name: each for name, each in every.items() if name not in EXCEPTIONS and name != WRITER}


def test_what_goes_around_is_seen() -> None:
    wrong = [
        "path.write_text(x)",
        "made.replace(path)",
        "path.open('w+b')",
        "open(path, mode='a')",
        "os.replace(a, b)",
        "os.open(path, os.O_CREAT | os.O_WRONLY)",
        "shutil.copyfile(a, b)",
        "tempfile.mkstemp()",
        "zipfile.ZipFile(path, 'w')",
    ]
    assert len([*detours("\n".join(wrong))]) == len(wrong)
    assert not [*detours("text.replace('a', 'b')\npath.open('rb')\nopen(path)\nzipfile.ZipFile(path)\n")]
