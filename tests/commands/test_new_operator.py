"""An operator that somebody adds to those that ship: what is not kept of it is found when it is needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.suite.suites import open_suite
from generator.making import discovery, operator_cases
from generator.making.calls_searched import search_calls
from opcert.vocabulary.names import OperatorName
from tests.commands.command_line import call

ABS = OperatorName.parse("ai.onnx::Abs-13")


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is kept of any operator but its declaration: no cores, draws or searches."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(discovery, "kept_cores_of", lambda *_: ())
    monkeypatch.setattr(operator_cases, "kept_draws_of", lambda *_: None)
    monkeypatch.setattr(operator_cases, "found_calls", lambda _: None)


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


@pytest.mark.usefixtures("bare")
def test_what_searches_find_of_it_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert search_calls(ABS).breaches
