"""Handing out cases to lanes: each once, the longest first, neighbours that share a model together."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.running.harness import run_suite
from conformance.running.longest_first import LongestFirst, earlier_times, share_model
from conformance.running.run_options import RunOptions
from conformance.running.task_source import RunPlan, TaskSource
from conformance.running.tasks import Task
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.cases import Case
from conformance.suite.suites import Suite, open_suite
from opcert.vocabulary.names import OperatorName
from tests.conformance.samples import IDENTITY, echo_runtime, make_case, make_suite, sample

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
    orders = [each.order for each in TaskSource(plan).lane()]
    assert orders == sorted(orders)
    assert orders == [each.order for each in plan.tasks()]
    assert len(orders) == (18 - 2) * 4
    assert {each[0] for each in orders}.isdisjoint({3, 4})


@pytest.mark.parametrize("known", [False, True])
def test_several_lanes_take_every_row_once_and_a_case_whole(suite: Suite, known: bool) -> None:
    times = {each: float(number % 5) for number, each in enumerate(suite.case_ids)} if known else {}
    plan = RunPlan(suite, suite.case_ids, ("inputs", "dynamic"), 2)
    source = LongestFirst(plan, times)
    taken: list[list[Task]] = [[], [], []]

    def work(mine: list[Task]) -> None:
        for each in source.lane():
            mine.append(each)
            source.measured(each, 0.001)

    threads = [threading.Thread(target=work, args=(each,)) for each in taken]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    orders = [each.order for mine in taken for each in mine]
    assert sorted(orders) == [each.order for each in plan.tasks()]
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


def test_looking_for_neighbours_of_one_model_reads_no_case_twice(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = cases_read(suite, monkeypatch)
    plan = RunPlan(suite, suite.case_ids, ("inputs", "dynamic"), 2)
    assert len([each.case for each in LongestFirst(plan).lane()]) == 18 * 4
    assert sorted(read) == sorted(suite.case_ids)


def test_a_case_that_several_were_made_from_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    valid = make_case(seed=1)
    broken = [make_case("raise", seed=each, demand="refuse", valid_case=valid) for each in (2, 3, 4)]
    with open_suite(make_suite(tmp_path, [valid, *broken])) as opened:
        read = cases_read(opened, monkeypatch)
        plan = RunPlan(opened, [each for each in opened.case_ids if each != str(valid.id)], ("inputs",), 1)
        assert [each.valid_case_id for each in plan.tasks()] == [str(valid.id)] * 3
    assert sorted(read) == sorted(opened.case_ids)


def test_several_lanes_take_what_took_longest_before_first(suite: Suite) -> None:
    echoes = [each for each in suite.case_ids if "/Echo-" in each]
    times = {each: float(number) for number, each in enumerate(suite.case_ids)}
    plan = RunPlan(suite, echoes, ("inputs",), 1)
    taken = [str(each.case.id) for each in LongestFirst(plan, times).lane()]
    assert taken == sorted(echoes, key=lambda each: -times[each])


def test_what_nobody_measured_comes_before_what_is_known_to_be_short(suite: Suite) -> None:
    echoes = [each for each in suite.case_ids if "/Echo-" in each]
    times = dict.fromkeys(echoes[1:], 5.0)
    first = next(LongestFirst(RunPlan(suite, echoes, ("inputs",), 1), times).lane())
    assert str(first.case.id) == echoes[0]


def test_without_earlier_times_the_operators_that_take_longest_in_this_run_come_first(tmp_path: Path) -> None:
    cases = [make_case(seed=each, family=family) for each in range(3) for family in ("example", "cover")]
    relus = [make_case(seed=each, operator=OTHER, given=sample(each, (each + 1,))) for each in range(6)]
    with open_suite(make_suite(tmp_path, cases + relus)) as opened:
        source = LongestFirst(RunPlan(opened, opened.case_ids, ("inputs",), 1))
        seen = []
        for task in source.lane():
            seen.append(task.case.operator.name)
            source.measured(task, 0.5 if task.case.operator.name == "Echo" else 0.1)
    # One of each operator to measure it, then all of the slow one, then the rest.
    assert seen == ["Relu", *["Echo"] * 6, *["Relu"] * 5]


def test_neighbours_that_share_a_model_go_to_one_lane_together(suite: Suite) -> None:
    source = LongestFirst(RunPlan(suite, suite.case_ids, ("inputs",), 1))
    lanes = [source.lane(), source.lane()]
    first, second = ([next(lane)] for lane in lanes)
    first += [next(lanes[0]) for _ in range(5)]
    assert len({each.case.operator for each in first}) == 1
    assert {each.case.operator for each in first}.isdisjoint({each.case.operator for each in second})


def test_cases_share_a_model_where_nothing_but_the_data_differs() -> None:
    assert share_model(make_case(seed=1, operator=IDENTITY), make_case(seed=2, operator=IDENTITY))
    assert not share_model(make_case(seed=1), make_case(seed=2))
    assert not share_model(make_case(seed=1, operator=IDENTITY), make_case(seed=1, operator=OTHER))
    wide = make_case(operator=IDENTITY, given=sample(0, (3, 2)))
    assert not share_model(make_case(operator=IDENTITY), wide)


def test_two_lanes_see_what_one_sees_also_with_the_times_of_an_earlier_run(tmp_path: Path) -> None:
    cases = [make_case("echo", seed=each) for each in range(12)] + [
        make_case("ulp", seed=each) for each in range(4)
    ]
    path = tmp_path / "run.jsonl"
    runtime = find_runtime(echo_runtime())
    with open_suite(make_suite(tmp_path, cases)) as opened:
        assert earlier_times(path, opened.digest, runtime.text) == {}
        alone = run_suite(opened, runtime, path)
        times = earlier_times(path, opened.digest, runtime.text)
        assert times.keys() == set(opened.case_ids)
        assert earlier_times(path, "another suite", runtime.text) == {}
        assert earlier_times(path, opened.digest, "another runtime") == {}
        together = run_suite(opened, runtime, path, RunOptions(jobs=2))
    said = [
        [(each.case, each.verdict, each.outputs) for each in record.results] for record in (alone, together)
    ]
    assert said[0] == said[1]


def test_neighbours_that_take_little_go_together_and_no_case_is_read_for_it(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    echoes = [each for each in suite.case_ids if "/Echo-" in each]
    source = LongestFirst(RunPlan(suite, echoes, ("inputs",), 1), dict.fromkeys(echoes, 0.02))
    monkeypatch.setattr(Suite, "case", lambda *_: pytest.fail("a case was read"))
    lanes = [source.lane(), source.lane()]
    first = [next(lanes[0]).case_id, next(lanes[0]).case_id]
    assert [next(lanes[1]).case_id, *first] == [echoes[2], echoes[0], echoes[1]]


@pytest.mark.parametrize(
    "line",
    [
        "",
        "[]",
        '{"type": "result"',
        "[" * 100_000,
        '{"type": "result", "case": [], "seconds": 1}',
        "\x00\xff",
    ],
)
def test_of_a_broken_record_times_are_those_before_the_place(line: str, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    head = '{"suite": "s", "runtime": {"source": "r"}}'
    row = '{"type": "result", "case": "a", "seconds": 0.5}'
    path.write_text("\n".join((head, row, row, line, row)), encoding="latin-1")
    assert earlier_times(path, "s", "r") == {"a": 1.0}
    assert earlier_times(tmp_path, "s", "r") == earlier_times(tmp_path / "none", "s", "r") == {}


def test_what_a_runtime_died_of_comes_last_the_next_time(suite: Suite, tmp_path: Path) -> None:
    echoes = [each for each in suite.case_ids if "/Echo-" in each]
    path = tmp_path / "run.jsonl"
    rows = [{"type": "result", "case": each, "seconds": 1.0, "verdict": "pass"} for each in echoes]
    rows[1] |= {"seconds": 9.0, "verdict": "crash"}
    rows.append({**rows[1], "seconds": 8.0, "verdict": "pass"})
    rows[2] |= {"seconds": 20.0, "verdict": "timeout"}
    head = {"suite": "s", "runtime": {"source": "r"}}
    path.write_text("\n".join(map(json.dumps, (head, *rows))), encoding="utf-8")
    source = LongestFirst(RunPlan(suite, echoes, ("inputs",), 1), earlier_times(path, "s", "r"))
    order = [each.case_id for each in source.lane()]
    assert (order[0], order[-1]) == (echoes[2], echoes[1])
    assert len(order) == len(echoes)
