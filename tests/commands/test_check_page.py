"""docs/check.md: its commands run as they stand, and its tables name what there is."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from opcert.commands.check_command import FORMATS
from reports.checked_models.call_answers import ANSWERS
from reports.checked_models.check_words import WORDS
from tests.commands.command_line import call
from tests.conftest import REPOSITORY

PAGE = REPOSITORY / "docs" / "check.md"


@pytest.mark.slow
@pytest.mark.runtimes("onnxruntime", "onnx")
def test_the_commands_run_as_they_stand(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").symlink_to(REPOSITORY / "docs")
    (block,) = re.findall(r"```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    for line in block.splitlines():
        program, *words = shlex.split(line)
        if program == "python":
            subprocess.run([sys.executable, *words], check=True)
            continue
        answer = call(capsys, *words)
        # Sigmoid is known to lose digits in ONNX Runtime; whether it still does is not what is asked here.
        assert answer.code in (0, 1), answer.err
    written = {path.name for path in (tmp_path / "out/check/small").iterdir()}
    assert {"index.html", "check.json", "check.sarif", "suite", "onnxruntime", "onnx"} <= written


def test_the_tables_have_every_answer_and_every_format() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for answer in ANSWERS:
        assert f"| {WORDS[answer]} |" in text
    for name in FORMATS:
        assert f"`{name}`" in text
