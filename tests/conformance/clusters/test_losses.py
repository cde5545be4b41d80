"""What a cluster loses during a run - workers, scheduler, client - costs no row and doubles none."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.processes.descendants import descendants
from conformance.recording.records import Record, read_record
from conformance.recording.rows import Result
from conformance.running.harness import run_suite
from conformance.running.run_options import RunOptions
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.suites import open_suite
from tests.conformance.clusters.services import Services, kill, worker_of
from tests.conformance.samples import echo_runtime, find_processes, make_case, make_suite

pytestmark = pytest.mark.nightly

_CASES = 1500
_WITHOUT_OPCERT = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("conformance", "opcert"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hidden())
"""
_OTHER_SOURCES = """
from conformance.clusters import worker_answers

found = {**worker_answers.machine_here(), "sources": "0" * 64, "name": "node7"}
worker_answers.machine_here = lambda: found
"""


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    words = ("echo", "echo", "ulp", "raise")
    cases = [make_case(words[each % 4], seed=each) for each in range(_CASES)]
    return make_suite(tmp_path_factory.mktemp("suite"), cases)


@pytest.fixture(scope="module")
def whole(suite: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Result]:
    with open_suite(suite) as opened:
        path = tmp_path_factory.mktemp("one") / "run.jsonl"
        return essence(run_suite(opened, find_runtime(echo_runtime()), path, RunOptions(jobs=2)))


def essence(record: Record) -> list[Result]:
    return [replace(result, seconds=0.0, machine=None) for result in record.results]


def client(suite: Path, address: str, record: Path, mode: str = "") -> subprocess.Popen[str]:
    words = ["run", echo_runtime(mode), "-s", suite, "--scheduler", address, "--resume", "-o", record]
    return subprocess.Popen(
        [sys.executable, "-m", "opcert", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def wait_for(what: Callable[[], object], seconds: float = 240) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def has_rows(record: Path) -> Callable[[], bool]:
    return lambda: record.exists() and record.read_bytes().count(b"\n") > 20


def test_a_worker_that_is_killed(
    services: Services, suite: Path, whole: list[Result], tmp_path: Path
) -> None:
    services.scheduler()
    nannies = [services.worker() for _ in range(2)]
    record = tmp_path / "run.jsonl"
    running = client(suite, services.address, record)
    wait_for(has_rows(record))
    victim = worker_of(nannies[0])
    assert victim is not None
    os.kill(victim, signal.SIGKILL)
    told, _ = running.communicate(timeout=240)
    assert running.returncode == 1, told
    assert essence(read_record(record)) == whole


def test_a_scheduler_that_is_killed(
    services: Services, suite: Path, whole: list[Result], tmp_path: Path
) -> None:
    services.scheduler()
    services.worker()
    record = tmp_path / "run.jsonl"
    running = client(suite, services.address, record)
    wait_for(has_rows(record))
    services.stop()
    told, _ = running.communicate(timeout=240)
    assert running.returncode == 2, told
    assert "the scheduler is not there any more" in told
    assert "a run with --resume" in told
    assert "Traceback" not in told
    assert 20 < len(read_record(record).results) < len(whole)
    services.started.clear()
    services.scheduler()
    services.worker()
    again = client(suite, services.address, record)
    told, _ = again.communicate(timeout=240)
    assert again.returncode == 1, told
    assert "rows are recorded already" in told
    assert essence(read_record(record)) == whole


def test_a_scheduler_that_stops_answering(
    services: Services, suite: Path, whole: list[Result], tmp_path: Path
) -> None:
    scheduler = services.scheduler()
    services.worker()
    record = tmp_path / "run.jsonl"
    running = client(suite, services.address, record)
    wait_for(has_rows(record))
    os.kill(scheduler.pid, signal.SIGSTOP)
    begun = time.monotonic()
    told, _ = running.communicate(timeout=240)
    assert time.monotonic() - begun < 75
    assert running.returncode == 2, told
    assert "the scheduler has said nothing for" in told
    assert "Traceback" not in told
    os.kill(scheduler.pid, signal.SIGCONT)
    again = client(suite, services.address, record)
    told, _ = again.communicate(timeout=240)
    assert again.returncode == 1, told
    assert essence(read_record(record)) == whole


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_client_that_is_ended(
    services: Services, suite: Path, whole: list[Result], tmp_path: Path, number: signal.Signals
) -> None:
    services.scheduler()
    services.worker()
    record = tmp_path / "run.jsonl"
    running = client(suite, services.address, record)
    wait_for(has_rows(record))
    os.kill(running.pid, number)
    told, _ = running.communicate(timeout=240)
    assert running.returncode == (-9 if number == signal.SIGKILL else 130), told
    assert "Traceback" not in told
    again = client(suite, services.address, record)
    told, _ = again.communicate(timeout=240)
    assert again.returncode == 1, told
    assert essence(read_record(record)) == whole


def test_workers_of_this_machine_go_with_the_client(suite: Path, tmp_path: Path) -> None:
    record, marker = tmp_path / "run.jsonl", f"marker-{os.getpid()}"
    running = client(suite, "local:2", record, marker)
    wait_for(has_rows(record))
    own = descendants(running.pid)
    assert find_processes(marker)
    os.kill(running.pid, signal.SIGKILL)
    running.communicate()
    wait_for(lambda: not find_processes(marker))
    wait_for(lambda: not [each for each in own if Path(f"/proc/{each}").exists()])


@pytest.mark.parametrize(
    ("preload", "words"),
    [
        (_WITHOUT_OPCERT, ["opcert is not installed", "Install this opcert"]),
        (_OTHER_SOURCES, ["node7 (tcp://", "has other sources: 000000000000"]),
    ],
)
def test_a_worker_with_another_opcert_or_none(
    services: Services, suite: Path, tmp_path: Path, preload: str, words: list[str]
) -> None:
    script = tmp_path / "preload.py"
    script.write_text(preload)
    services.scheduler()
    worker = services.worker(words=["--preload", str(script)], nanny=False)
    running = client(suite, services.address, tmp_path / "run.jsonl")
    told, _ = running.communicate(timeout=240)
    assert running.returncode == 2, told
    for word in words:
        assert word in told
    assert "Traceback" not in told
    kill(worker)
