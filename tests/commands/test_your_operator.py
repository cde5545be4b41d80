"""docs/your-operator.md does what it says: its files are written and its commands run outside the project."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.commands.command_line import call
from tests.conftest import REPOSITORY

pytestmark = pytest.mark.slow

PAGE = REPOSITORY / "docs" / "your-operator.md"
_BLOCK = re.compile(
    r"(?:^\*\*`(?P<file>[^`]+)`\*\*\n\n)?^(?P<fence>`{3,})(?P<kind>\w+)\n(?P<text>.*?)^(?P=fence)$",
    re.M | re.S,
)
_ANSWERS = re.compile(r"\s+# answers (\d)$")


@dataclass(frozen=True)
class Step:
    """A file to write, commands to run, or lines that the commands before them print."""

    kind: str
    text: str
    file: str | None


def steps() -> list[Step]:
    return [
        Step(each["kind"], each["text"], each["file"])
        for each in _BLOCK.finditer(PAGE.read_text(encoding="utf-8"))
    ]


def test_everything_on_the_page_is_so(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "outside"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    printed, commands = "", []
    for step in steps():
        if step.file is not None:
            Path(step.file).parent.mkdir(parents=True, exist_ok=True)
            Path(step.file).write_text(step.text, encoding="utf-8")
        elif step.kind == "sh":
            printed = ""
            for line in step.text.splitlines():
                words, code = split(line)
                answer = call(capsys, *words)
                assert answer.code == code, (line, answer.err)
                printed += answer.out
                commands.append(words[0])
        elif step.kind == "text":
            for line in step.text.splitlines():
                assert line in printed.splitlines(), printed
    assert commands == [
        "import", "lint", "list", "show", "generate", "adequacy", "run", "repro", "certify", "report",
        "verify",
    ]  # fmt: skip
    check_what_it_left(folder)


def split(line: str) -> tuple[list[str], int]:
    """The words of a command behind `opcert`, and the exit code that the page says it answers with."""
    wanted = _ANSWERS.search(line)
    words = shlex.split(_ANSWERS.sub("", line))
    assert words[0] == "opcert"
    return words[1:], int(wanted[1]) if wanted else 0


def check_what_it_left(folder: Path) -> None:
    assert "Survivors: none." in (folder / "adequacy" / "adequacy.md").read_text(encoding="utf-8")
    assert "EveryNth" in (folder / "report" / "index.html").read_text(encoding="utf-8")
    assert '"result":"PASSED"' in (folder / "out/my_runtime-Backend/certificate.json").read_text()
