"""Whatever becomes of a worker's frames: each case has its row, nothing wrong passes, nothing stays."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from conformance.processes.worker_limits import Limits
from conformance.running.harness import run_suite
from conformance.running.run_options import RunOptions
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.suites import open_suite
from tests.conformance.samples import echo_runtime, expect, find_processes, make_case, make_suite, sample

OPTIONS = RunOptions(jobs=2, limits=Limits(case_seconds=0.5), max_deaths=1 << 30)


@dataclass(frozen=True)
class Outcome:
    """Rows that are lost, that are there twice, and that pass falsely; processes left; seconds; verdicts."""

    lost: int
    doubled: int
    passed_falsely: int
    left_behind: int
    seconds: float
    verdicts: dict[str, int]


def ask_mutating(folder: Path, seed: int, cases: int) -> Outcome:
    """Ask a worker whose frames are changed; of every second case its own answer is the wrong one."""
    made = [
        make_case(seed=number, expectations=(expect(sample(number + number % 2)),))
        for number in range(seed * cases, (seed + 1) * cases)
    ]
    wrong = {str(case.id) for number, case in enumerate(made, seed * cases) if number % 2}
    marker = f"mutating-{seed}-{time.monotonic_ns()}"
    runtime = find_runtime(echo_runtime(f"{marker} {seed}", "mutating_worker.py"))
    begun = time.monotonic()
    with open_suite(make_suite(folder, made)) as suite:
        record = run_suite(suite, runtime, folder / "run.jsonl", OPTIONS)
    seconds = time.monotonic() - begun
    rows = Counter(result.case for result in record.results)
    passed = [result.case for result in record.results if result.verdict == "pass" and result.case in wrong]
    return Outcome(
        lost=sum(not rows[str(case.id)] for case in made),
        doubled=sum(row > 1 for row in rows.values()),
        passed_falsely=len(passed),
        left_behind=len(find_processes(marker)),
        seconds=seconds,
        verdicts=dict(Counter(result.verdict for result in record.results)),
    )


@pytest.mark.slow
def test_changed_frames_cost_no_row_and_pass_nothing(tmp_path: Path) -> None:
    found = ask_mutating(tmp_path, 0, 40)
    assert (found.lost, found.doubled, found.passed_falsely, found.left_behind) == (0, 0, 0, 0), found
    assert found.seconds < 60
    assert found.verdicts["pass"] > 5
    assert found.verdicts["crash"] > 5  # frames were changed indeed
