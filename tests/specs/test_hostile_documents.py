"""Documents made to hurt: bounded time and memory, nothing executed, opened or expanded, a clear answer."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.names import OperatorName
from specs import importers
from specs.documents.text.documents import Text
from specs.files.imported_files import write_imported
from specs.importers import import_text
from specs.importing import reading
from specs.importing.reading import Job, limited, read_one
from tests.growth import LINEAR, growth

pytestmark = pytest.mark.nightly

FRAGMENT = OperatorName.parse("org.tensorflow::BatchToSpaceND-1")
SINCE = "This version of the operator has been available since version 1 of the default ONNX operator set."
FRAMES = {
    "onnx-markdown": '### <a name="X"></a><a name="x">**X**</a>\n\n  %s\n\n#### Version\n\n'
    + SINCE
    + "\n\n%s\n",
    "onnx-sphinx-rst": ".. _l-onnx-doc-X:\n\n=\nX\n=\n\n.. _l-onnx-op-x-1:\n\nX - 1\n=====\n\n**Version**\n\n"
    "* **name**: `X (GitHub) <u>`_\n* **since_version**: **1**\n\n**Summary**\n\n%s\n\n%s\n",
    "openvino": "# X {#x}\n\n**Versioned name**: *X-1*\n\n**Category**: *c*\n\n"
    "**Short description**: %s\n\n%s\n",
    "tensorflow-docstring": "# op: X\n\nSummary %s\n\n"
    "Args:\n  x: A `Tensor`. %s\n\nReturns:\n  A `Tensor`.\n",
    "tensorflow-fragment": "crops\n|\nA Tensor . %s %s\n|\n",
}
"""A small document of each dialect, with a place in its prose and one behind its head."""

SIZE = 4_000
PIECES = {
    "one word": ("", "a", ""),
    "words": ("", "word ", ""),
    "backquotes": ("", "`", ""),
    "asterisks": ("", "*", ""),
    "bold words": ("", "**a** ", ""),
    "anchors": ("### ", '<a name="x">', ""),
    "brackets": ("", "[", ""),
    "pairs of brackets": ("", "[]", ""),
    "parentheses": ("", "(", ""),
    "numbers": ("", "[[1, 2], ", ""),
    "digits": ("", "1", ""),
    "spaces": ("x", " ", "x"),
    "line ends": ("", "\n", ""),
    "hyphens at line ends": ("", "a-\n", ""),
    "entities": ("", "&amp;", ""),
    "broken entities": ("", "&#", ""),
    "formulas": ("", "a = (b + ", ""),
    "conditions": ("", "if mode is ", ""),
    "modes": ("", "Supported modes: `a`, ", ""),
    "types": ("Must be one of the following types: ", "`a`, ", ""),
    "shapes": ("", "For the following input of shape [", ""),
    "headings": ("", "X - 1\n=====\n", ""),
    "fences": ("", "```python\nx\n```\n", ""),
    "open details": ("#### Examples\n\n", "<details>\n", ""),
    "open terms": ("#### Attributes\n\n<dl>\n", "<dt><tt>", ""),
    "open layers": ("**Example**\n\n```xml\n", "<layer>", "\n```\n"),
    "open comments": ("**Example**\n\n```xml\n", "<!-- ", "\n```\n"),
    "scripts": ("", "<script>alert(1)</script>\n", ""),
}
"""What stands before, what is repeated, what stands behind."""


def _piece(name: str, size: int) -> str:
    before, repeated, behind = PIECES[name]
    return before + repeated * (size // len(repeated)) + behind


def _import(content: str, dialect: str) -> str:
    """What is written of a document; empty where it was refused, but never for a limit that it met."""
    text = Text("hostile.txt", content, "00")
    try:
        with limited(Place(text.file)):
            found = import_text(text, FRAGMENT if dialect == "tensorflow-fragment" else None)
    except UserError as error:
        if "too " in error.problem:
            raise AssertionError(error.problem) from error
        return ""
    return write_imported([("d1", spec) for spec in found])


def _growth(dialect: str, size: int, made: Callable[[int], str]) -> float:
    """How much more work a document of twice the size is."""
    return growth(lambda size: partial(_import, made(size), dialect), size)


REPETITIONS = [
    pytest.param(piece, dialect, marks=() if number == place % len(FRAMES) else pytest.mark.nightly)
    for place, piece in enumerate(PIECES)
    for number, dialect in enumerate(FRAMES)
]
"""Every piece in every dialect at night; for a change each piece in one of them."""


@pytest.mark.nightly
@pytest.mark.parametrize(("piece", "dialect"), REPETITIONS)
def test_no_repetition_takes_long(piece: str, dialect: str) -> None:
    """Work grows in proportion to the document: with its square it would be four times as much."""

    def page(size: int) -> str:
        return FRAMES[dialect] % (_piece(piece, size), _piece(piece, size))

    def line(size: int) -> str:
        return (FRAMES[dialect] % ("", _piece(piece, size))).replace("\n", " ")

    assert _growth(dialect, SIZE, page) <= LINEAR
    # Of a line of a thousand versions each takes the line for its own.
    if dialect == "onnx-sphinx-rst" and piece != "headings":
        assert _growth(dialect, SIZE, line) <= LINEAR


@pytest.mark.nightly
@pytest.mark.parametrize("dialect", FRAMES)
def test_a_hundred_thousand_nested_lists(dialect: str) -> None:
    """Each line a level below the last, down to where a line has room for it, where lists are read at all."""

    def page(count: int) -> str:
        bullets = "".join(f"{' ' * min(depth, 20)}* *x*\n" for depth in range(count))
        return FRAMES[dialect] % ("", bullets)

    assert _growth(dialect, 50_000 if dialect in ("openvino", "onnx-markdown") else 5_000, page) <= LINEAR


@pytest.mark.parametrize("dialect", FRAMES)
def test_a_hundred_thousand_nested_arrays(dialect: str) -> None:
    def page(count: int) -> str:
        brackets = f"```python\nx = np.array({'[' * count}1{']' * count})\n```"
        details = f"#### Examples\n\n<details>\n<summary>a</summary>\n\n{brackets}\n\n</details>\n"
        return FRAMES[dialect] % ("", details)

    assert _growth(dialect, 50_000, page) <= LINEAR


BOMB = "".join(
    f'<!ENTITY e{level} "{f"&e{level - 1};" * 10 if level else "boom boom "}">' for level in range(12)
)


@pytest.mark.parametrize("dialect", FRAMES)
def test_entities_are_not_expanded(dialect: str) -> None:
    """Ten to the twelfth times the word; neither in an XML example nor in the page around it."""
    block = f'```xml\n<!DOCTYPE x [{BOMB}]>\n<layer type="X" name="&e11;"><data a="&e11;"/></layer>\n```\n'
    page = FRAMES[dialect] % ("&e11;", f"**Example**\n\n{block}")
    assert "boom boom boom" not in _import(page, dialect)
    assert "boom boom boom" not in _import(f"<!DOCTYPE x [{BOMB}]>\n{page}", dialect)


@pytest.mark.parametrize("dialect", FRAMES)
def test_directives_open_no_file(dialect: str, tmp_path: Path) -> None:
    """The file that they name is a pipe that nobody writes into: whoever opens it waits until time is up."""
    pipe = tmp_path / "secret.txt"
    os.mkfifo(pipe)
    directives = "\n".join(
        (
            f".. include:: {pipe}\n",
            f".. literalinclude:: {pipe}\n",
            f".. raw:: html\n   :file: {pipe}\n",
            f".. csv-table:: t\n   :file: {pipe}\n",
            f".. code-block:: xml\n\n   <!DOCTYPE x [<!ENTITY s SYSTEM 'file://{pipe}'>]>\n"
            "   <layer type='&s;'/>\n",
            f"[embed]: # ({pipe})\n\n{{% include '{pipe}' %}}\n\n```{{include}} {pipe}\n```\n",
        )
    )
    _import(FRAMES[dialect] % ("", directives), dialect)


CODE = [
    "import os\nos.system('touch {marker}')",
    "__import__('os').system('touch {marker}')",
    "x = open('{marker}', 'w')",
    "x = (lambda: open('{marker}', 'w'))()",
    "x = np.array([open('{marker}', 'w') for _ in range(1)])",
    "x = eval(\"open('{marker}', 'w')\")",
    "x = f\"{{open('{marker}', 'w')}}\"",
    "x = np.array([1]).tofile('{marker}')",
    "x = np.load('{marker}', allow_pickle=True)",
    "class A:\n    x = open('{marker}', 'w')",
    "x = np.zeros((1000000, 1000000))",
    "x = np.arange(10000000000000)",
    "x = [0] * 1000000000000",
    "x = 'a' * 1000000000000",
    "x = 10 ** 10 ** 10",
    "x = 1 << 100000000000",
    "x = np.ones((1, 1)).repeat(1000000000000)",
    "x = np.array([1]).reshape(1" + ", 1" * 20_000 + ")",
    "x = " + "-" * 50_000 + "1",
    "x = " + "1 + " * 50_000 + "1",
    "while True:\n    pass",
]


@pytest.mark.parametrize("code", CODE, ids=range(len(CODE)))
def test_example_code_is_read_and_never_run(code: str, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    body = code.replace("{marker}", str(marker)).replace("{{", "{").replace("}}", "}")
    body = f"node = onnx.helper.make_node('X', inputs=['x'], outputs=['y'])\n{body}\ny = x\n"
    body += "expect(node, inputs=[x], outputs=[y], name='test_x')"
    markdown = f"#### Examples\n\n<details>\n<summary>a</summary>\n\n```python\n{body}\n```\n\n</details>\n"
    indented = body.replace("\n", "\n    ")
    started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for written in (
        _import(FRAMES["onnx-markdown"] % ("", markdown), "onnx-markdown"),
        _import(
            FRAMES["onnx-sphinx-rst"] % ("", f"**Examples**\n\n**_a**\n\n::\n\n    {indented}\n"),
            "onnx-sphinx-rst",
        ),
    ):
        assert written.startswith("#")
        assert len(written) < 1_000_000
    assert not marker.exists()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - started < 300 * 1024


def test_raw_html_stays_out_of_the_facts() -> None:
    page = FRAMES["onnx-markdown"] % (
        "<script>alert(1)</script><img src=x onerror=alert(2)>",
        "#### Attributes\n\n<dl>\n<dt><tt>mode</tt> : string (default is <b>a</b>)</dt>\n"
        "<dd><script>alert(3)</script></dd>\n</dl>\n<iframe src='javascript:alert(4)'></iframe>\n",
    )
    written = _import(page, "onnx-markdown")
    assert "mode" in written
    assert "alert(" not in written


@pytest.mark.parametrize("name", ["...x", "../x", "a..b.x"])
def test_no_name_leads_out_of_the_folder(name: str) -> None:
    page = f'### <a name="x"></a><a name="x">**{name}**</a>\n\n{SINCE}\n'
    with pytest.raises(UserError, match=r"no operator|as none can be named"):
        import_text(Text("page.md", page, "00"))


def test_a_document_of_more_operators_than_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importers, "MOST_VERSIONS", 10)
    page = "".join(f'### <a name="X-{n}"></a>**X-{n}**</a>\n\n{SINCE}\n' for n in range(1, 12))
    with pytest.raises(UserError, match="too many operators; got 11"):
        import_text(Text("page.md", page, "00"))


def _forever() -> None:
    while True:
        pass


def _backtrack() -> None:
    re.match(r"(a+)+$", "a" * 60 + "b")


def _hoard() -> None:
    hoard = []
    while True:
        hoard.append(bytearray(2**20))


def _recurse() -> None:
    _recurse()


@pytest.mark.parametrize(
    ("work", "seconds", "problem"),
    [
        (_forever, 0.3, "too long"),
        (_backtrack, 0.3, "too long"),
        (_hoard, 60, "too much memory"),
        (_recurse, 60, "too deeply"),
    ],
)
def test_an_importer_that_would_not_end_is_ended(
    work: Callable[[], None], seconds: float, problem: str
) -> None:
    """The clock ends even one search of a regular expression; both limits are gone afterwards."""
    before = (signal.getsignal(signal.SIGPROF), resource.getrlimit(resource.RLIMIT_AS))
    with pytest.raises(UserError, match=problem), limited(Place("page.md"), seconds, 64):
        work()
    assert (signal.getsignal(signal.SIGPROF), resource.getrlimit(resource.RLIMIT_AS)) == before
    assert signal.getitimer(signal.ITIMER_PROF) == (0, 0)


def test_the_other_documents_of_a_folder_are_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A document that hits a limit is an outcome like any other."""
    path = tmp_path / "page.md"
    path.write_text("text")
    monkeypatch.setattr(reading, "import_text", lambda *_: _recurse())
    outcome = read_one(Job(path))
    assert str(outcome.error) == f"{path}: the document is nested too deeply to be read"


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/full"])
def test_what_never_ends_is_not_read_to_its_end(device: str) -> None:
    assert "a device, and no file" in str(read_one(Job(Path(device))).error)


@dataclass(frozen=True)
class Ended:
    """How a command ended: exit code, standard error, processor seconds, and peak memory in MiB."""

    code: int
    err: str
    seconds: float
    mebibytes: float


_MEASURED = """
import json, os, sys
silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=silent)
_, status, usage = os.wait4(child, 0)
seconds = usage.ru_utime + usage.ru_stime
print(json.dumps([os.waitstatus_to_exitcode(status), seconds, usage.ru_maxrss / 1024]))
"""
"""A child's peak memory is never below that of the process that started it: this one is small."""


def _opcert(*arguments: str) -> Ended:
    command = [sys.executable, "-S", "-E", "-c", _MEASURED, sys.executable, "-m", "opcert", *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    code, seconds, mebibytes = json.loads(ended.stdout)
    return Ended(code, ended.stderr, seconds, mebibytes)


def _import_line(folder: Path, letters: int) -> Ended:
    path = folder / f"line{letters}.md"
    path.write_bytes(b"### **a** " * (letters // 10))
    return _opcert("import", str(path), "-o", str(folder / "specs"))


def test_a_document_of_too_many_megabytes_is_not_read(tmp_path: Path) -> None:
    ended = _import_line(tmp_path, 100_000_000)
    assert (ended.code, "too large" in ended.err) == (2, True), ended.err
    assert ended.mebibytes < 500


def test_megabytes_of_one_line(tmp_path: Path) -> None:
    """What starting the program takes makes the growth less, never more."""
    quarter, whole = _import_line(tmp_path, 7_500_000), _import_line(tmp_path, 30_000_000)
    for ended in (quarter, whole):
        assert (ended.code, "no operator page" in ended.err) == (2, True), ended.err
    assert whole.seconds <= LINEAR**2 * quarter.seconds
    assert whole.mebibytes < 500
