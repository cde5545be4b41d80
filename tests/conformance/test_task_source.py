"""Handing out cases to lanes: each once, neighbours that take little time together."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.running.harness import run_suite
from conformance.running.run_options import RunOptions, RunPlan, Task, TaskSource
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.cases import Case
from conformance.suite.suites import Suite, open_suite
from opcert.vocabulary.names import OperatorName
from tests.conformance.samples import IDENTITY, echo_runtime, make_case, make_suite

OTHER = OperatorName.parse("ai.onnx::Relu-14")


def some_cases() -> list[Case]:
    """Six calls of Echo, each another model, and six of Identity and of Relu, all of one model."""
    cases = [make_case(seed=each) for each in range(6)]
    cases += [make_case(seed=each, operator=IDENTITY) for each in range(6)]
    return cases + [make_case(seed=each, operator=OTHER) for each in range(6)]


@pytest.fixture
def suite(tmp_path: Path) -> Iterator[Suite]:
    with open_suite(make_suite(tmp_path, some_cases())) as opened:
        yield opened


def test_one_lane_takes_every_row_in_the_order_of_the_record(suite: Suite) -> None:
    plan = RunPlan(suite, suite.case_ids, ("inputs", "dynamic"), 2, frozenset(suite.case_ids[3:5]))
    orders = [task.order for task in TaskSource(plan).lane()]
    assert orders == sorted(orders)
    assert orders == [task.order for task in plan.tasks()]
    assert len(orders) == (18 - 2) * 4
    assert {order[0] for order in orders}.isdisjoint({3, 4})


@pytest.mark.parametrize("seconds", [0.001, 1.0])
def test_several_lanes_take_every_row_once_and_a_case_whole(suite: Suite, seconds: float) -> None:
    plan = RunPlan(suite, suite.case_ids, ("inputs", "dynamic"), 2)
    source = TaskSource(plan)
    taken: list[list[Task]] = [[], [], []]

    def work(mine: list[Task]) -> None:
        for each in source.lane():
            mine.append(each)
            source.measured(seconds)

    threads = [threading.Thread(target=work, args=(each,)) for each in taken]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    orders = [each.order for mine in taken for each in mine]
    assert sorted(orders) == [task.order for task in plan.tasks()]
    for mine in taken:
        cases = [each.order[0] for each in mine]
        assert all(cases.count(each) == plan.rows_of(plan.selected[each]) for each in set(cases))


def cases_read(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The cases that are read of a suite from now on."""
    read, read_case = list[str](), suite.case

    def counted(case_id: str) -> Case:
        read.append(case_id)
        return read_case(case_id)

    monkeypatch.setattr(suite, "case", counted)
    return read


def test_no_case_is_read_twice(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    read = cases_read(suite, monkeypatch)
    plan = RunPlan(suite, suite.case_ids, ("inputs", "dynamic"), 2)
    assert len([task.case for task in TaskSource(plan).lane()]) == 18 * 4
    assert sorted(read) == sorted(suite.case_ids)


def test_a_case_that_several_were_made_from_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    valid = make_case(seed=1)
    broken = [make_case("raise", seed=each, demand="refuse", valid_case=valid) for each in (2, 3, 4)]
    with open_suite(make_suite(tmp_path, [valid, *broken])) as opened:
        read = cases_read(opened, monkeypatch)
        plan = RunPlan(
            opened, [case_id for case_id in opened.case_ids if case_id != str(valid.id)], ("inputs",), 1
        )
        assert [task.valid_case_id for task in plan.tasks()] == [str(valid.id)] * 3
    assert sorted(read) == sorted(opened.case_ids)


def test_two_lanes_see_what_one_sees(tmp_path: Path) -> None:
    cases = [make_case("echo", seed=each) for each in range(12)] + [
        make_case("ulp", seed=each) for each in range(4)
    ]
    path = tmp_path / "run.jsonl"
    runtime = find_runtime(echo_runtime())
    with open_suite(make_suite(tmp_path, cases)) as opened:
        alone = run_suite(opened, runtime, path)
        together = run_suite(opened, runtime, path, RunOptions(jobs=2))
    said = [
        [(result.case, result.verdict, result.outputs) for result in record.results]
        for record in (alone, together)
    ]
    assert said[0] == said[1]


def test_neighbours_go_to_one_lane_together_as_long_as_they_take_little(suite: Suite) -> None:
    source = TaskSource(RunPlan(suite, suite.case_ids, ("inputs",), 1))
    lanes = [source.lane(), source.lane()]
    # What nobody knows yet goes one by one.
    assert [next(lane).case_id for lane in lanes] == list(suite.case_ids[:2])
    for _ in range(50):
        source.measured(0.001)
    assert [next(lanes[0]).case_id for _ in range(8)] == list(suite.case_ids[2:10])
    assert next(lanes[1], None) is None
    source = TaskSource(RunPlan(suite, suite.case_ids, ("inputs",), 1))
    lanes = [source.lane(), source.lane()]
    source.measured(0.5)
    assert [next(lanes[number]).case_id for number in (0, 1, 0, 1)] == list(suite.case_ids[:4])


def test_rows_that_take_no_time_may_be_ever_so_many(suite: Suite) -> None:
    source = TaskSource(RunPlan(suite, suite.case_ids, ("inputs",), 1))
    for _ in range(7_000):  # nine tenths of what went before, until it is less than 1e-308
        source.measured(0.0)
    assert [task.case_id for task in source.lane()] == list(suite.case_ids)
