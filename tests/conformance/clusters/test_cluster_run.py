"""A run on a cluster makes the record of one machine, and what goes wrong there is told with its machine."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conformance.clusters import run_worker
from conformance.clusters.cluster import Cluster
from conformance.clusters.cluster_run import run_suite_on
from conformance.clusters.run_units import RunOrder, ToldRuntime, UnitAnswer
from conformance.clusters.worker_answers import Lost
from conformance.recording.outputs import outputs_folder
from conformance.recording.records import Record, read_record
from conformance.recording.rows import Result
from conformance.running.harness import run_suite
from conformance.running.resuming import RecordPlace
from conformance.running.run_options import RunOptions, RunRequest
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.suites import open_suite
from opcert.commands.run_summary import exit_code, machine_lines
from opcert.vocabulary.errors import ExitCode, InternalError, RuntimeUnavailable, UserError
from tests.conformance.samples import echo_runtime, find_processes, make_case, make_suite, sample
from tests.conformance.test_resuming import cut

pytestmark = pytest.mark.slow


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    cases = [make_case(seed=each) for each in range(60)]
    cases += [make_case("ulp", seed=60), make_case("raise", seed=61)]
    cases += [make_case("zero", given=sample(1, (40, 40)), seed=62)]
    cases += [make_case("raise", seed=63, family="invalid", demand="refuse", valid_case=cases[0])]
    cases += [make_case("echo", seed=64, family="invalid", demand="refuse", valid_case=cases[61])]
    return make_suite(tmp_path, cases)


def run(suite: Path, path: Path, **options: Any) -> Record:
    with open_suite(suite) as opened:
        return run_suite(opened, find_runtime(echo_runtime()), path, RunOptions(**options))


def run_on(cluster: Cluster, suite: Path, path: Path, mode: str = "", **options: Any) -> Record:
    resume, python = options.pop("resume", False), options.pop("python", None)
    with open_suite(suite) as opened:
        runtime = find_runtime(echo_runtime(mode))
        request = RunRequest(opened, runtime, RunOptions(**options))
        return run_suite_on(cluster, request, RecordPlace(path, resume), python=python)


def essence(record: Record) -> list[Result]:
    return [replace(result, seconds=0.0, machine=None) for result in record.results]


def test_the_record_is_that_of_one_machine(cluster: Cluster, suite: Path, tmp_path: Path) -> None:
    one = run(suite, tmp_path / "one.jsonl", repeat=2, forms="all")
    many = run_on(cluster, suite, tmp_path / "many.jsonl", repeat=2, forms="all")
    assert essence(many) == essence(one)
    assert many == read_record(many.path)
    assert many.counts == one.counts
    assert many.faults == one.faults
    assert {each["rows"] for each in (many.footer or {})["machines"]} == {len(one.results)}
    assert all(result.machine for result in many.results)
    kept = [sorted(path.name for path in outputs_folder(record.path).iterdir()) for record in (one, many)]
    assert kept[0] == kept[1] != []
    assert not list(tmp_path.glob(".*"))
    assert exit_code(many) == ExitCode.DOES_NOT_HOLD


def test_options_choose_as_they_do_on_one_machine(cluster: Cluster, suite: Path, tmp_path: Path) -> None:
    one = run(suite, tmp_path / "one.jsonl", pattern="*/invalid/*", forms="sample")
    many = run_on(cluster, suite, tmp_path / "many.jsonl", pattern="*/invalid/*", forms="sample")
    assert essence(many) == essence(one)
    assert len(one.results) == 2


@pytest.mark.parametrize("rows", [0, 1, 31, 64])
def test_a_client_that_was_ended_goes_on(cluster: Cluster, suite: Path, tmp_path: Path, rows: int) -> None:
    path = tmp_path / "run.jsonl"
    whole = run_on(cluster, suite, path, repeat=2)
    cut(path, rows, b'{"case":"org.exa')
    resumed = run_on(cluster, suite, path, repeat=2, resume=True)
    assert essence(resumed) == essence(whole)
    assert (resumed.footer or {})["counts"] == (whole.footer or {})["counts"]
    assert sum(each["rows"] for each in (resumed.footer or {})["machines"]) == len(whole.results)
    assert len(resumed.header["resumed"]) == 1


def test_a_whole_record_is_left_alone(cluster: Cluster, suite: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    run_on(cluster, suite, path)
    before = path.read_bytes()
    run_on(cluster, suite, path, resume=True)
    assert path.read_bytes() == before


def test_one_machine_does_not_go_on_for_a_cluster(cluster: Cluster, suite: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    run(suite, path)
    cut(path, 3)
    with pytest.raises(UserError, match="of another run") as caught:
        run_on(cluster, suite, path, resume=True)
    assert "on a cluster" in str(caught.value)


class Changed(Cluster):
    """A cluster between whose workers and client somebody changes answers, by their number from 0."""

    def __init__(self, inner: Cluster, change: Callable[[int, Any], Any]) -> None:
        super().__init__(inner.client, inner.address, inner.tell)
        self._change = change
        self.number = 0

    def each(
        self, function: Callable[..., Any], units: Iterator[tuple[Any, tuple[Any, ...]]]
    ) -> Generator[tuple[Any, Any], None, None]:
        for unit, answer in super().each(function, units):
            if isinstance(answer, UnitAnswer):
                yield unit, self._change(self.number, answer)
                self.number += 1
            else:
                yield unit, answer


def test_cases_of_lost_workers_are_named_and_run_later(cluster: Cluster, suite: Path, tmp_path: Path) -> None:
    def lose(number: int, answer: UnitAnswer) -> Any:
        return Lost("its workers were lost again and again") if number == 0 else answer

    whole = run(suite, tmp_path / "one.jsonl", pattern="*/cover/*")
    path = tmp_path / "run.jsonl"
    left = run_on(Changed(cluster, lose), suite, path, pattern="*/cover/*")
    missing = left.counts["not_run"]
    # The unit whose answer comes first has as many: it is one of those with which the workers began.
    assert missing in (len(whole.verdicts) - 32, 32)
    assert (left.footer or {})["stopped"]["kind"] == "machines_lost"
    assert f"{missing} cases were left by lost workers" in (left.footer or {})["stopped"]["reason"]
    assert len(left.results) == len(whole.results)
    assert exit_code(left) == ExitCode.DOES_NOT_HOLD
    resumed = run_on(cluster, suite, path, pattern="*/cover/*", resume=True)
    assert essence(resumed) == essence(whole)


def test_what_lost_workers_left_is_no_success(cluster: Cluster, tmp_path: Path) -> None:
    suite = make_suite(tmp_path, [make_case(seed=each) for each in range(40)])
    lost = Changed(cluster, lambda number, answer: answer if number else Lost("lost"))
    assert exit_code(run_on(lost, suite, tmp_path / "run.jsonl")) == ExitCode.DOES_NOT_HOLD


def test_another_runtime_on_one_machine_ends_the_run(cluster: Cluster, suite: Path, tmp_path: Path) -> None:
    def other(number: int, answer: UnitAnswer) -> UnitAnswer:
        if number == 0:
            return answer
        machine = {**answer.machine, "name": "node7"}
        return replace(answer, machine=machine, runtime={**answer.runtime, "version": "1.1"})

    path = tmp_path / "run.jsonl"
    with pytest.raises(RuntimeUnavailable, match="another one on this machine") as caught:
        run_on(Changed(cluster, other), suite, path)
    assert "version 1.1 on node7" in str(caught.value)
    assert "1.0, as on" in str(caught.value)
    record = read_record(path)
    assert record.partial
    assert record.results


def test_machines_of_several_kinds_are_told_apart(cluster: Cluster, suite: Path, tmp_path: Path) -> None:
    def older(number: int, answer: UnitAnswer) -> UnitAnswer:
        if number == 0:
            return replace(answer, machine={**answer.machine, "name": "old", "features": ["avx"]})
        return replace(answer, machine={**answer.machine, "name": "new", "features": ["avx512f"]})

    path = tmp_path / "run.jsonl"
    record = run_on(Changed(cluster, older), suite, path)
    machines = {each["name"]: each for each in (record.footer or {})["machines"]}
    assert machines["old"]["kind"].endswith(" avx")
    assert machines["old"]["rows"] == sum(result.machine == "old" for result in record.results) == 32
    assert machines["new"]["rows"] == len(record.results) - 32
    assert " and " in record.header["platform"]["machine"]
    lines = machine_lines(record)
    assert any("several kinds" in line for line in lines)
    assert sum(" pass" in line for line in lines) == 2


def test_kinds_outlive_the_client(cluster: Cluster, suite: Path, tmp_path: Path) -> None:
    def then_fail(number: int, answer: UnitAnswer) -> UnitAnswer:
        if number == 1:
            raise KeyboardInterrupt
        return replace(answer, machine={**answer.machine, "name": "old", "features": ["avx"]})

    path = tmp_path / "run.jsonl"
    with pytest.raises(KeyboardInterrupt):
        run_on(Changed(cluster, then_fail), suite, path)
    record = run_on(cluster, suite, path, resume=True)
    kinds = {each["name"]: each["kind"] for each in (record.footer or {})["machines"]}
    assert kinds["old"].endswith(" avx")
    assert len(kinds) == 2


def test_a_machine_of_one_name_and_two_kinds_has_two_names(
    cluster: Cluster, suite: Path, tmp_path: Path
) -> None:
    def changing(number: int, answer: UnitAnswer) -> UnitAnswer:
        return replace(answer, machine={**answer.machine, "features": ["avx"] if number else ["sve"]})

    record = run_on(Changed(cluster, changing), suite, tmp_path / "run.jsonl")
    assert len({result.machine for result in record.results}) == 2


def test_a_full_disk_of_a_worker_names_the_machine(
    cluster: Cluster, suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(what: str) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device", "/scratch")

    monkeypatch.setattr(run_worker, "scratch_folder", full)
    with pytest.raises(UserError, match="cannot do the work") as caught:
        run_on(cluster, suite, tmp_path / "run.jsonl")
    assert "machine " in str(caught.value)
    assert "/scratch: No space left on device" in str(caught.value)
    assert "Make room" in str(caught.value)


def test_a_runtime_that_does_not_start_names_the_machine(
    cluster: Cluster, suite: Path, tmp_path: Path
) -> None:
    with pytest.raises(RuntimeUnavailable, match="did not start") as caught:
        run_on(cluster, suite, tmp_path / "run.jsonl", mode="exit")
    assert "no licence for this machine" in str(caught.value)
    assert str(caught.value).startswith("machine ")
    assert not (tmp_path / "run.jsonl").exists()


def test_an_interpreter_is_looked_for_on_the_machines(cluster: Cluster, suite: Path, tmp_path: Path) -> None:
    place = RecordPlace(tmp_path / "run.jsonl")
    with open_suite(suite) as opened:
        request = RunRequest(opened, find_runtime("a.b:C"))
        with pytest.raises(UserError, match="no such interpreter") as caught:
            run_suite_on(cluster, request, place, python="/nowhere/python")
    assert "machine " in str(caught.value)


def test_a_mistake_of_ours_on_a_worker_is_told_as_one(
    cluster: Cluster, suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(what: str) -> Any:
        raise AttributeError("there is no such thing")

    monkeypatch.setattr(run_worker, "scratch_folder", wrong)
    with pytest.raises(InternalError, match="fails on a worker") as caught:
        run_on(cluster, suite, tmp_path / "run.jsonl")
    assert "there is no such thing" in str(caught.value)


def test_a_runtime_that_nobody_asks_any_more_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_worker, "IDLE", 0.2)
    runtime = ToldRuntime.of(find_runtime(echo_runtime("nobody-asks")), None)
    order = RunOrder("idle", "suite", runtime, RunOptions())
    first = run_worker.take_standing(order)
    run_worker.give_back(first)
    assert run_worker.take_standing(order) is first
    run_worker.give_back(first)
    deadline = time.monotonic() + 60
    while find_processes("nobody-asks") and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not find_processes("nobody-asks")


def test_a_runtime_that_dies_ends_the_run(cluster: Cluster, tmp_path: Path) -> None:
    suite = make_suite(tmp_path, [make_case("SIGSEGV", seed=each) for each in range(30)])
    record = run_on(cluster, suite, tmp_path / "run.jsonl", max_deaths=2)
    assert (record.footer or {})["stopped"]["kind"] == "runtime_dies"
    assert exit_code(record) == ExitCode.RUNTIME_UNAVAILABLE


def test_failures_that_are_enough_end_the_run(cluster: Cluster, tmp_path: Path) -> None:
    suite = make_suite(tmp_path, [make_case("ulp", seed=each) for each in range(60)])
    record = run_on(cluster, suite, tmp_path / "run.jsonl", max_failures=3)
    assert (record.footer or {})["stopped"]["kind"] == "max_failures"
    assert sum(record.counts.values()) == 60
