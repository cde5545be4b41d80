"""Experiments that came to no end go on with `opcert run --resume`, and those that did are not made again."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.judging.kept_diagnosis import FILE
from generator.making.operators.workshop import Options
from generator.making.suites.operator_cases import generate_operator
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.strict_json import parse_json
from tests.commands.command_line import call
from tests.conformance.samples import FAKES, make_suite


@pytest.mark.slow
def test_experiments_go_on(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(FAKES))
    made = generate_operator(OperatorName.parse("ai.onnx::Not-1"), Options(size="small"))
    suite = make_suite(tmp_path, [each for each in made.cases if each.demand == "answer"][:2])
    run = ("run", "fake_backends:Raises", "-s", suite, "-o", tmp_path / "run.jsonl")
    first = call(capsys, *run, "--diagnose", "0.0001")
    assert "experiments stopped early (0.0001 s are over); --diagnose SECONDS" in first.err
    assert parse_json((tmp_path / FILE).read_bytes())["calls"] == []
    second = call(capsys, *run, "--resume", "--diagnose", "60")
    assert "beside 0 calls that were made before" in second.err
    whole = (tmp_path / FILE).read_bytes()
    assert parse_json(whole)["stopped"] is None
    assert parse_json(whole)["calls"] != []
    third = call(capsys, *run, "--resume", "--diagnose", "60")
    assert "experiments on the runtime" not in third.err
    assert (tmp_path / FILE).read_bytes() == whole
    assert [first.code, second.code, third.code] == [1, 1, 1]
