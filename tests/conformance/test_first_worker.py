"""A worker that starts before the run: taken by it, or killed."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from conformance.processes.worker_limits import Limits
from conformance.running.first_worker import first_worker
from conformance.running.harness import run_request
from conformance.running.resuming import RecordPlace
from conformance.running.run_options import RunRequest
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.suites import open_suite
from tests.conformance.samples import echo_runtime, find_processes, make_case, make_suite

LIMITS = Limits(start_seconds=20)


def test_the_run_takes_the_worker_that_was_started_before(tmp_path: Path) -> None:
    marker = uuid.uuid4().hex
    runtime = find_runtime(echo_runtime(marker))
    with first_worker(runtime, LIMITS) as first, open_suite(make_suite(tmp_path, [make_case()])) as suite:
        assert first is not None
        assert first.process is not None
        record = run_request(RunRequest(suite, runtime), RecordPlace(tmp_path / "run.jsonl"), first=first)
        assert first.process is None
    assert [result.verdict for result in record.results] == ["pass"]
    assert find_processes(marker) == []


def test_a_worker_that_nobody_took_is_killed() -> None:
    marker = uuid.uuid4().hex
    with first_worker(find_runtime(echo_runtime(marker)), LIMITS) as first:
        assert first is not None
    assert find_processes(marker) == []
    assert first.take() is None


def test_there_is_none_where_the_environment_is_still_to_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with first_worker(find_runtime("onnxruntime==0.0.1"), LIMITS) as first:
        assert first is None
    assert not (tmp_path / "opcert").exists()
