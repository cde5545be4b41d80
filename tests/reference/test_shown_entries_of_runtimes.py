"""No shipped entry about wrong answers of a runtime is refuted wherever it can be tried."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.processes.worker_limits import Limits
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.suites import Suite
from generator.exploring.diagnosis.claims import point
from generator.exploring.diagnosis.entry_trials import trials_by_asking, untried
from generator.exploring.fuzzing.workers import RunningRuntime
from opcert.commands.entry_claims import trials_by_answers
from reference.readings.disagreements import load_disagreements
from tests.reference.test_disagreements_of_runtimes import run, suite

__all__ = ["suite"]

pytestmark = [pytest.mark.slow, pytest.mark.nightly]


def check(suite: Suite, name: str, folder: Path) -> None:
    record = run(suite, name, folder)
    pointing = point(suite, record, load_disagreements())
    trials = trials_by_answers(suite, record, pointing, keep=False)
    with RunningRuntime(find_runtime(name), Limits(), print) as running:
        further, stopped = trials_by_asking(suite, untried(pointing, trials), running.ask, 3600)
    assert stopped is None
    found = pointing.claims([*trials, *further])
    shown = {known_cause.id for known_cause in found.explaining}
    shown |= {
        cause.id
        for suspicion in found.suspected
        for cause in suspicion.causes
        if suspicion.kind != "suspected"
    }
    assert shown
    cause_of = {disagreement.id: disagreement.same_as or disagreement.id for disagreement in pointing.known}
    refuted = {cause_of[trial.entry] for trial in (*trials, *further) if trial.result == "refuted"}
    left = sorted(refuted - shown)
    assert not left, f"{name} does not do what these entries say: {', '.join(left)}"


@pytest.mark.runtimes("onnxruntime")
def test_onnxruntime(suite: Suite, tmp_path: Path) -> None:
    check(suite, "onnxruntime", tmp_path)


@pytest.mark.runtimes("onnx")
def test_onnx(suite: Suite, tmp_path: Path) -> None:
    check(suite, "onnx", tmp_path)


@pytest.mark.runtimes("openvino")
def test_openvino(suite: Suite, tmp_path: Path) -> None:
    check(suite, "openvino", tmp_path)


@pytest.mark.runtimes("opencv")
def test_opencv(suite: Suite, tmp_path: Path) -> None:
    check(suite, "opencv", tmp_path)


@pytest.mark.runtimes("tract")
def test_tract(suite: Suite, tmp_path: Path) -> None:
    check(suite, "tract", tmp_path)
