"""Workers with many processes: looking at those that go meanwhile, and counting the memory of all."""

from __future__ import annotations

import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from conformance.processes.descendants import MemoryWatch, descendants
from conformance.processes.worker_limits import Limits
from conformance.recording.records import Record, read_record
from conformance.running.harness import run_suite
from conformance.running.run_options import RunOptions
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.suites import open_suite
from tests.conformance.samples import echo_runtime, make_case, make_suite

pytestmark = pytest.mark.slow

MIB = 1 << 20


def run(folder: Path, *deeds: str, memory: int = 4 << 30, mark: str = "") -> Record:
    runtime = find_runtime(echo_runtime(mark, "family_worker.py"))
    cases = [make_case(do, seed=seed) for seed, do in enumerate(deeds)]
    options = RunOptions(limits=Limits(case_seconds=60, resident_bytes=memory))
    with open_suite(make_suite(folder, cases)) as suite:
        return run_suite(suite, runtime, folder / "run.jsonl", options)


@pytest.mark.nightly
def test_a_worker_that_starts_hundreds_of_short_lived_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: set[int] = set()

    def look(*where: Any) -> list[int]:
        found = descendants(*where)
        seen.update(found)
        return found

    monkeypatch.setattr("conformance.processes.descendants._REST", 0)
    monkeypatch.setattr("conformance.processes.descendants.descendants", look)
    monkeypatch.setattr(
        "conformance.processes.worker_process.MemoryWatch", partial(MemoryWatch, every=0.0005)
    )
    record = run(tmp_path, *["hasty"] * 300)
    assert record.counts["pass"] == 300
    assert len(seen) > 100


def test_how_workers_end_is_told_whatever_the_caller_does_with_children(tmp_path: Path) -> None:
    suite = make_suite(tmp_path, [make_case("SIGSEGV"), make_case("echo")])
    out = tmp_path / "run.jsonl"
    command = [sys.executable, "-m", "opcert", "run", echo_runtime(), "-s", str(suite), "-o", str(out)]

    def forget_children() -> None:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)

    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=forget_children, check=False)
    assert done.returncode == 1, done.stderr
    found = {result.levels["do"]: result for result in read_record(out).results}
    assert (found["SIGSEGV"].verdict, found["SIGSEGV"].signal) == ("crash", "SIGSEGV")
    assert found["echo"].verdict == "pass"


def test_idle_children_that_share_all_memory_are_nothing_to_blame_a_worker_for(tmp_path: Path) -> None:
    record = run(tmp_path, "idle_children", "echo", memory=200 * MIB)
    assert [result.reason for result in record.results] == [None, None]


@pytest.mark.parametrize("do", ["eating_children", "rewriting_children", "share_with_children"])
def test_memory_that_children_really_have_counts(tmp_path: Path, do: str) -> None:
    record = run(tmp_path, do, "echo", memory=300 * MIB)
    found = {result.levels["do"]: result for result in record.results}
    assert found["echo"].verdict == "pass"
    assert found[do].verdict == "limit"
    assert "MiB of resident memory; the limit is 300 MiB" in (found[do].reason or "")
