"""Every tool and every benchmark says what it is for where somebody asks; none that a text names is gone."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from importlib.util import find_spec

import pytest

from tests.conftest import REPOSITORY

ELSEWHERE = ("benchmarks.bare_loop", "benchmarks.bare_tests")
"""Run by others in the environment of a runtime, with nothing to ask."""
NAMES = sorted(
    f"{package}.{path.stem}"
    for package in ("tools", "benchmarks")
    for path in (REPOSITORY / package).glob("*.py")
    if '__name__ == "__main__"' in path.read_text("utf-8")
)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ELSEWHERE])
def test_it_prints_its_help(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(name, run_name="__main__")
    assert ended.value.code in (0, None)
    assert capsys.readouterr().out.strip()


def test_every_module_that_a_command_names_is_there() -> None:
    pattern = r"(-m |`)(tools|benchmarks)\.[a-z_]+"
    places = ("*.py", "*.md", ".ci", "reports", ":!tests/documents/test_commands.py")
    words = ["git", "grep", "-hoE", pattern, "--", *places]
    found = subprocess.run(words, cwd=REPOSITORY, check=True, capture_output=True, text=True).stdout
    named = {re.sub("^(-m |`)", "", line) for line in found.splitlines()}
    assert len(named) > 15
    assert sorted(name for name in named if find_spec(name) is None) == []
