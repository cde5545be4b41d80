"""Every benchmark says what it is for where somebody asks."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
ELSEWHERE = ("bare_loop", "bare_tests")
"""Run by others in the environment of a runtime, with nothing to ask."""
NAMES = sorted(
    each.stem for each in FOLDER.glob("*.py") if '__name__ == "__main__"' in each.read_text("utf-8")
)


@pytest.mark.parametrize("name", [each for each in NAMES if each not in ELSEWHERE])
def test_it_prints_its_help(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    monkeypatch.delitem(sys.modules, f"benchmarks.{name}", raising=False)
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(f"benchmarks.{name}", run_name="__main__")
    assert ended.value.code in (0, None)
    assert capsys.readouterr().out.strip()
