"""Once a worker was lost the one behind the next is started as well, and nobody needs it to be there."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import pytest

from conformance.processes.worker_limits import Limits
from conformance.processes.worker_process import Launch, WorkerProcess
from conformance.recording.records import Record
from conformance.running import lane
from conformance.running.first_worker import begin_worker
from conformance.running.harness import run_suite
from conformance.running.run_options import RunOptions
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.suites import open_suite
from opcert.vocabulary.names import OperatorName
from tests.conformance.samples import echo_runtime, expect, make_case, make_suite, sample

ANYTHING = (expect(sample(0), np.full((2, 3), np.inf)),)


class Started(list[WorkerProcess]):
    """The workers of a run, in the order of their starts; those of `lost` are gone before they are needed."""

    def __init__(self, patch: pytest.MonkeyPatch, lost: tuple[int, ...] = ()) -> None:
        super().__init__()
        self._lost = lost
        patch.setattr(lane, "begin_worker", self._begin)

    def _begin(self, launch: Launch, limits: Limits) -> WorkerProcess:
        process = begin_worker(launch, limits)
        if len(self) in self._lost:
            os.kill(process._process.pid, signal.SIGKILL)
        self.append(process)
        return process


def ran(folder: Path, *deeds: str) -> Record:
    cases = [make_case(do, seed=number, expectations=ANYTHING) for number, do in enumerate(deeds)]
    with open_suite(make_suite(folder, cases)) as suite:
        return run_suite(suite, find_runtime(echo_runtime()), folder / "run.jsonl", RunOptions(jobs=1))


def test_a_runtime_that_survives_has_one_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = Started(monkeypatch)
    assert ran(tmp_path, "echo", "echo").counts["pass"] == 2
    assert len(started) == 1


def test_behind_a_lost_one_two_are_started_and_none_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = Started(monkeypatch)
    record = ran(tmp_path, "echo", "SIGSEGV", "echo")
    assert (record.counts["pass"], record.counts["crash"]) == (2, 1)
    # It dies once and in each further try; the last one goes on, and one waits.
    deaths = 1 + sum(result.again.count("crashed") for result in record.results)
    assert len(started) == deaths + 2
    assert not any(worker_process.alive for worker_process in started)


def test_one_that_is_gone_before_it_is_needed_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Started(monkeypatch, lost=(2, 4))
    record = ran(tmp_path, "echo", "SIGSEGV", "echo", "SIGSEGV", "echo")
    assert (record.counts["pass"], record.counts["crash"]) == (3, 2)
    assert (record.footer or {}).get("stopped") is None


@pytest.mark.slow
def test_the_first_cases_of_each_operator_that_kill_are_tried_again(tmp_path: Path) -> None:
    deadly = [make_case("SIGSEGV", seed=each, expectations=ANYTHING) for each in range(5)]
    other = OperatorName.parse("org.example::Echo-2")
    deadly += [make_case("SIGSEGV", seed=5, operator=other, expectations=ANYTHING)]
    cases = [make_case("echo", seed=9), *deadly]
    with open_suite(make_suite(tmp_path, cases)) as suite:
        record = run_suite(suite, find_runtime(echo_runtime()), tmp_path / "run.jsonl", RunOptions(jobs=1))
    tried = [(result.operator, len(result.again)) for result in record.results if result.verdict == "crash"]
    assert [number for operator, number in tried if operator == str(other)] == [3]
    assert sorted(number for operator, number in tried if operator != str(other)) == [0, 0, 3, 3, 3]
