"""The harness on a fake runtime that does everything wrong, one case at a time."""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conformance.judging.verdicts import VERDICTS
from conformance.processes.worker_limits import Limits
from conformance.recording.records import Record, read_record
from conformance.recording.rows import Result
from conformance.running.harness import run_suite
from conformance.running.run_options import RunOptions
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.cases import Case, Expectation
from conformance.suite.suites import open_suite
from opcert.commands.run_summary import exit_code
from opcert.vocabulary.errors import ExitCode, NothingRan, RuntimeUnavailable, UserError
from tests.conformance.samples import echo_runtime, expect, make_case, make_suite, sample

MARKER = uuid.uuid4().hex
MEMORY = 200 << 20
LIMITS = Limits(start_seconds=20, case_seconds=1.5, resident_bytes=MEMORY, answer_bytes=64 << 20)


def run(folder: Path, cases: Sequence[Case], mode: str = "", **options: Any) -> Record:
    settings = RunOptions(**{"limits": LIMITS, **options})
    with open_suite(make_suite(folder, cases)) as suite:
        return run_suite(suite, find_runtime(echo_runtime(mode)), folder / "run.jsonl", settings)


def test_a_worker_that_eats_memory_is_killed(tmp_path: Path) -> None:
    limits = Limits(case_seconds=30, resident_bytes=MEMORY)
    record = run(tmp_path, [make_case("memory"), make_case("echo")], limits=limits)
    found = {result.levels["do"]: result for result in record.results}
    assert found["echo"].verdict == "pass"
    assert found["memory"].verdict == "limit"
    assert "MiB of resident memory; the limit is 200 MiB" in (found["memory"].reason or "")


def test_a_worker_sees_nothing_of_the_caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://secret@proxy")
    monkeypatch.setenv("SOME_TOKEN", "secret")
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    record = run(tmp_path, [make_case("environment")])
    told = dict(line.partition("=")[::2] for line in (record.results[0].message or "").splitlines())
    assert not {"HTTPS_PROXY", "SOME_TOKEN", "PYTHONPATH", "USER"} & set(told)
    assert told["HOME"] != os.environ.get("HOME")
    assert Path(told["cwd"]).parent == Path(told["HOME"]).parent
    assert not Path(told["HOME"]).exists()


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_cases_that_must_be_refused(tmp_path: Path, jobs: int) -> None:
    answered, refused = make_case("echo", seed=5), make_case("raise", seed=5)
    cases = [
        answered,
        refused,
        make_case("raise", seed=6, family="invalid", demand="refuse", valid_case=answered, word="refused"),
        make_case("raise", seed=7, family="invalid", demand="refuse", valid_case=refused, word="nothing"),
        make_case("echo", seed=8, family="invalid", demand="refuse", valid_case=answered, word="accepted"),
        make_case("SIGSEGV", seed=9, family="invalid", demand="refuse", valid_case=answered, word="crash"),
        make_case("raise", seed=3, family="invalid", demand="refuse", word="orphan"),
        make_case("raise", seed=1, family="survival", demand="survive", word="survived"),
        make_case("SIGFPE", seed=2, family="survival", demand="survive", word="died"),
    ]
    record = run(tmp_path, cases, jobs=jobs)
    found = {
        result.case.rpartition("/")[2].partition("-")[0]: result.verdict for result in record.results[2:]
    }
    assert found == {
        "refused": "pass",
        "nothing": "unsupported",
        "accepted": "accepted_invalid",
        "crash": "crash",
        "orphan": "unsupported",
        "survived": "observed",
        "died": "crash",
    }
    assert [result.case for result in record.results] == [
        result.case
        for result in sorted(record.results, key=lambda each: list(record.verdicts).index(each.case))
    ]


def test_a_valid_case_that_is_not_selected_is_asked_all_the_same(tmp_path: Path) -> None:
    valid = make_case("echo", seed=5)
    invalid = make_case("raise", seed=6, family="invalid", demand="refuse", valid_case=valid)
    record = run(tmp_path, [valid, invalid], pattern="/invalid/")
    assert [result.verdict for result in record.results] == ["pass"]


def test_answers_that_change_are_faults_unless_right_ones_do_in_another_form(tmp_path: Path) -> None:
    anything = (expect(sample(0), np.full((2, 3), np.inf)),)
    cases = [
        make_case("differs_by_call", expectations=anything),
        make_case("differs_by_form", expectations=anything),
        make_case("differs_by_form", seed=1),
        make_case("echo"),
    ]
    record = run(tmp_path, cases, forms="all", repeat=2)
    assert len(record.results) == 4 * 3 * 2
    assert record.counts["pass"] == 3
    kinds = {fault["kind"]: fault for fault in record.faults}
    assert set(kinds) == {"repeats_differ", "forms_differ"}
    assert kinds["repeats_differ"]["count"] == 1
    (differing,) = kinds["forms_differ"]["cases"]
    assert differing["case"] == str(cases[2].id)
    assert exit_code(record) is ExitCode.DOES_NOT_HOLD


def test_answers_of_which_nothing_is_demanded_may_change(tmp_path: Path) -> None:
    cases = [make_case("differs_by_form", family="survival", demand="survive")]
    record = run(tmp_path, cases, forms="all")
    assert (record.counts["observed"], record.faults) == (1, ())


def test_inconsistent_readings_are_a_fault(tmp_path: Path) -> None:
    first, second = sample(1), sample(2)

    def both(right: str) -> tuple[Expectation, ...]:
        left, other = (first, second) if right == "up" else (second, first)
        return (expect(left, ties="up"), expect(other, ties="even"))

    cases = [make_case("echo", seed=1, expectations=both("up"))]
    assert run(tmp_path / "one", cases).faults == ()
    cases.append(make_case("echo", seed=2, given=first, expectations=both("down")))
    record = run(tmp_path / "two", cases)
    assert [fault["kind"] for fault in record.faults] == ["inconsistent_reading"]
    assert record.counts["pass"] == 2
    assert exit_code(record) is ExitCode.DOES_NOT_HOLD


def test_a_worker_that_dies_while_it_forgets_a_model_blames_no_case(tmp_path: Path) -> None:
    record = run(tmp_path, [make_case("unload_segv"), *(make_case("echo", seed=each) for each in range(6))])
    assert record.counts["pass"] == 7
    (fault,) = record.faults
    (deed,) = (result.case for result in record.results if result.levels["do"] == "unload_segv")
    assert fault["kind"] == "unload_crash"
    assert fault["reasons"] == [f"killed by SIGSEGV after {deed}"]


@pytest.mark.slow
def test_a_runtime_that_never_survives_is_stopped(tmp_path: Path) -> None:
    record = run(tmp_path, [make_case("SIGSEGV", seed=each) for each in range(12)], max_deaths=3)
    assert record.counts["crash"] == 3
    assert record.counts["not_run"] == 9
    assert record.footer is not None
    assert record.footer["stopped"]["kind"] == "runtime_dies"
    assert exit_code(record) is ExitCode.RUNTIME_UNAVAILABLE


@pytest.mark.slow
def test_a_runtime_that_only_dies_on_some_cases_goes_on(tmp_path: Path) -> None:
    cases = [make_case("echo", seed=1, family="example"), make_case("echo", seed=2, family="survival")]
    cases += [make_case("SIGSEGV", seed=each) for each in range(7)]
    record = run(tmp_path, cases, max_deaths=3)
    assert record.counts["crash"] == 7
    assert record.counts["pass"] == 2


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [pytest.param(1, marks=pytest.mark.nightly), 2])
def test_a_fast_worker_that_dies_with_many_cases_before_it_loses_none_of_them(
    tmp_path: Path, jobs: int
) -> None:
    deeds = {17: "SIGSEGV", 120: "exit3", 121: "SIGABRT", 250: "sleep", 299: "SIGKILL"}
    cases = [make_case(deeds.get(seed, "echo"), seed=seed) for seed in range(300)]
    record = run(tmp_path, cases, jobs=jobs)
    assert [result.case for result in record.results] == list(open_suite(tmp_path / "suite").case_ids)
    expected = {"echo": "pass", "sleep": "timeout"}
    assert {result.verdict for result in record.results} == {"pass", "crash", "timeout"}
    assert all(result.verdict == expected.get(result.levels["do"], "crash") for result in record.results)


def test_the_run_ends_after_as_many_failures_as_were_allowed(tmp_path: Path) -> None:
    record = run(tmp_path, [make_case("zero", seed=each) for each in range(9)], max_failures=2)
    assert (record.counts["mismatch"], record.counts["not_run"]) == (2, 7)
    assert record.footer is not None
    assert record.footer["stopped"]["kind"] == "max_failures"
    assert exit_code(record) is ExitCode.DOES_NOT_HOLD


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("raise", "libecho.so: cannot open shared object file"),
        ("exit", "no licence for this machine"),
        ("sleep", "did not start within 1 s"),
    ],
)
def test_a_runtime_that_does_not_start_is_unavailable_and_no_record_is_written(
    tmp_path: Path, mode: str, words: str
) -> None:
    with pytest.raises(RuntimeUnavailable, match=words):
        run(tmp_path, [make_case()], mode, limits=Limits(start_seconds=1))
    assert not (tmp_path / "run.jsonl").exists()


def test_a_program_that_does_not_speak_the_protocol_is_unavailable(tmp_path: Path) -> None:
    with open_suite(make_suite(tmp_path, [make_case()])) as suite:
        for program, words in [("exec:cat", "broke the protocol"), ("exec:true", "exited with status 0")]:
            with pytest.raises(RuntimeUnavailable, match=words):
                run_suite(suite, find_runtime(program), tmp_path / "run.jsonl", RunOptions(limits=LIMITS))


def test_what_prints_at_its_start_is_heard_all_the_same(tmp_path: Path) -> None:
    assert run(tmp_path, [make_case()], "stdout").counts["pass"] == 1


def test_a_runtime_without_the_domain_supports_nothing(tmp_path: Path) -> None:
    record = run(tmp_path, [make_case()], "elsewhere")
    assert record.counts["unsupported"] == 1
    assert "does not offer operators of org.example" in (record.results[0].reason or "")
    assert exit_code(record) is ExitCode.NOTHING_RAN


def test_a_runtime_that_refuses_everything_rejects_what_is_valid(tmp_path: Path) -> None:
    record = run(tmp_path, [make_case(seed=each) for each in range(5)], "refuse_all")
    assert record.counts["rejected_valid"] == 5


def test_nothing_selected_is_nothing_ran(tmp_path: Path) -> None:
    with pytest.raises(NothingRan):
        run(tmp_path, [make_case()], pattern="nowhere")


def test_a_form_that_is_not_taken_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="does not run cases in this form"):
        run(tmp_path, [make_case()], forms="upside_down")


@pytest.mark.slow
def test_a_run_returns_the_record_that_it_wrote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deeds = ("echo", "ulp", "zero", "text", "double", "flat", "twice", "nothing", "raise", "SIGSEGV", "exit3")
    cases = [make_case(do, seed=1) for do in (*deeds, "differs_by_call", "unsupported", "unload_segv")]
    cases.append(make_case("raise", family="survival", demand="survive"))
    several = (expect(sample(1), ties="up"), expect(sample(2), ties="even"))
    cases.append(make_case("echo", seed=3, given=sample(2), expectations=several))
    for most in (5000, 3):
        monkeypatch.setattr("conformance.recording.records._MOST_KEPT", most)
        returned = run(tmp_path, cases, repeat=2)
        read = read_record(tmp_path / "run.jsonl")
        assert list(returned.results) == list(read.results)
        assert (returned.header, returned.footer, returned.counts) == (read.header, read.footer, read.counts)


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [2, pytest.param(5, marks=pytest.mark.nightly)])
def test_several_workers_give_the_same_record(tmp_path: Path, jobs: int) -> None:
    cases = [make_case(do, seed=1) for do in ("ulp", "SIGSEGV", "raise", "exit3")]
    cases += [make_case("echo", seed=each) for each in range(30)]
    alone = run(tmp_path / "alone", cases)
    together = run(tmp_path / "together", cases, jobs=jobs)
    assert [(result.case, result.verdict) for result in alone.results] == [
        (result.case, result.verdict) for result in together.results
    ]


def test_a_record_can_be_read_while_it_grows(tmp_path: Path) -> None:
    seen: list[int] = []
    path = tmp_path / "run.jsonl"

    class Reader:
        def note(self, sentence: str) -> None: ...

        def start(self, rows: int, cases: int) -> None: ...

        def advance(self, result: Result) -> None:
            growing = read_record(path)
            assert growing.partial
            seen.append(len(growing.results))

        def finish(self) -> None: ...

    with open_suite(make_suite(tmp_path, [make_case(seed=each) for each in range(4)])) as suite:
        record = run_suite(suite, find_runtime(echo_runtime()), path, RunOptions(), Reader())
    assert seen == [1, 2, 3, 4]
    assert not record.partial
    assert set(record.counts) == set(VERDICTS)
