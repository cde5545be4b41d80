"""An operator that somebody adds to those that ship: what is not kept of it is found when it is needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.suite.suites import open_suite
from generator.calls.declared import modelled
from generator.calls.declared.modelled import Searched
from generator.making.suites import operator_cases
from opcert.vocabulary.names import OperatorName
from tests.commands.command_line import call

ABS = OperatorName.parse("ai.onnx::Abs-13")


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is kept of any operator but its declaration: nothing that searches found."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for module in (modelled, operator_cases):
        monkeypatch.setattr(module, "searched_of", lambda *_: Searched())


@pytest.mark.usefixtures("bare")
def test_its_suite_is_made_and_is_the_one_of_what_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = call(capsys, "generate", str(ABS), "-o", str(tmp_path / "bare"))
    assert answer.code == 0, answer.err
    assert "bug" not in answer.err
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    assert call(capsys, "generate", str(ABS), "-o", str(tmp_path / "kept")).code == 0
    with open_suite(tmp_path / "bare") as bare_suite, open_suite(tmp_path / "kept") as kept_suite:
        assert len(bare_suite.case_ids) > 50
        assert bare_suite.digest == kept_suite.digest
