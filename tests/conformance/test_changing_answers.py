"""Workers that are right at first, or answer late: what is wrong once is wrong, what is late is lost."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from conformance.processes.worker_limits import Limits
from conformance.recording.records import Record
from conformance.running.harness import run_suite
from conformance.running.run_options import RunOptions
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.cases import Case
from conformance.suite.suites import open_suite
from tests.conformance.samples import echo_runtime, make_case, make_suite

pytestmark = pytest.mark.slow

LATE = Limits(start_seconds=60, case_seconds=1.0)


def ask(
    folder: Path, cases: Sequence[Case], options: RunOptions | None = None, mode: str = "",
    fake: str = "echo_worker.py",
) -> Record:  # fmt: skip
    with open_suite(make_suite(folder, cases)) as suite:
        return run_suite(suite, find_runtime(echo_runtime(mode, fake)), folder / "run.jsonl", options)


def test_who_is_right_the_first_time_alone_fails_where_cases_are_repeated(tmp_path: Path) -> None:
    cases = [make_case("right_once", seed=each) for each in range(4)]
    record = ask(tmp_path, cases, RunOptions(repeat=3))
    assert set(record.verdicts.values()) == {"mismatch"}
    assert [result.verdict for result in record.results[:3]] == ["pass", "mismatch", "mismatch"]
    assert {fault["kind"] for fault in record.faults} == {"repeats_differ"}


def test_who_is_right_the_first_time_alone_fails_in_its_other_forms(tmp_path: Path) -> None:
    cases = [make_case("right_once", seed=each) for each in range(4)]
    record = ask(tmp_path, cases, RunOptions(forms="all"))
    assert set(record.verdicts.values()) == {"mismatch"}


def test_who_is_right_for_a_while_passes_no_case_behind_it(tmp_path: Path) -> None:
    cases = [make_case("right_for_a_while", seed=each) for each in range(8)]
    record = ask(tmp_path, cases)
    assert [result.verdict for result in record.results] == ["pass"] * 3 + ["mismatch"] * 5


def test_an_answer_behind_the_limit_is_a_timeout_and_no_answer_of_the_next(tmp_path: Path) -> None:
    cases = [make_case("slow", seed=0), make_case(seed=1), make_case("slow", seed=2), make_case(seed=3)]
    record = ask(tmp_path, cases, RunOptions(limits=LATE))
    by_deed = {(result.levels["do"], result.verdict) for result in record.results}
    assert by_deed == {("slow", "timeout"), ("echo", "pass")}


def test_answers_under_the_number_of_an_earlier_request_end_the_run(tmp_path: Path) -> None:
    """They are told as what they are, and nothing is asked for ever."""
    begun = time.monotonic()
    cases = [make_case(seed=each) for each in range(12)]
    record = ask(tmp_path, cases, RunOptions(max_deaths=3), "late", "sloppy_worker.py")
    assert time.monotonic() - begun < 60
    assert {result.verdict for result in record.results} == {"crash", "not_run"}
    assert "a second answer to request" in (record.results[0].reason or "")
    assert record.footer is not None
    assert record.footer["stopped"]["kind"] == "runtime_dies"
