"""Units of a run: every case in one of them, in order, with all that it needs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.clusters import run_units
from conformance.clusters.cluster_run import UNKNOWN, MachineBook
from conformance.clusters.run_units import ToldRuntime, UnitAnswer, UnitMaker, deflated
from conformance.running.run_options import RunPlan
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.suites import Suite, open_suite
from opcert.vocabulary.errors import UserError
from tests.conformance.samples import echo_runtime, make_case, make_suite, sample


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    cases = [make_case(seed=each) for each in range(90)]
    cases.append(make_case(given=sample(1, (60, 60)), seed=90))
    cases += [
        make_case("raise", seed=100 + each, family="invalid", demand="refuse", valid_case=cases[each])
        for each in range(9)
    ]
    return open_suite(make_suite(tmp_path_factory.mktemp("suite"), cases))


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    done=st.sets(st.integers(0, 99)),
    paces=st.lists(st.floats(1e-6, 10), max_size=4),
    threads=st.integers(1, 8),
    largest=st.sampled_from([1, 5000, 1 << 20]),
)
def test_every_case_is_in_one_unit(
    suite: Suite, done: set[int], paces: list[float], threads: int, largest: int
) -> None:
    ids = suite.case_ids
    plan = RunPlan(suite, ids, ("inputs", "dynamic"), 1, done=frozenset(ids[each] for each in done))
    maker = UnitMaker(plan)
    before, run_units._LARGEST = run_units._LARGEST, largest
    seen: list[int] = []
    try:
        for number, unit in enumerate(maker.units()):
            seen += unit.positions
            check(suite, unit.positions, unit.suite("d"), unit.cases)
            if number < len(paces):
                maker.measured(len(unit.positions), paces[number] * len(unit.positions), threads)
    finally:
        run_units._LARGEST = before
    assert seen == [each for each in range(len(ids)) if each not in done]


def check(suite: Suite, positions: Sequence[int], small: Suite, cases: Sequence[str]) -> None:
    assert list(cases) == [suite.case_ids[position] for position in positions]
    for case_id in cases:
        case = small.case(case_id)
        assert small.golden(case_id) == suite.golden(case_id)
        if case.valid_case is not None:
            assert str(small.case(case.valid_case).id) == case.valid_case


def test_what_belongs_together_is_in_one_unit(suite: Suite) -> None:
    ids = suite.case_ids
    plan = RunPlan(suite, ids, ("inputs",), 1, done=frozenset(ids[3:7]))
    units = list(UnitMaker(plan, together=lambda name: name[-1]).units())
    assert len(units) > 1
    assert sorted(position for unit in units for position in unit.positions) == [
        *range(3),
        *range(7, len(ids)),
    ]
    where = {(ids[position][-1], number) for number, unit in enumerate(units) for position in unit.positions}
    assert len(where) == len({letter for letter, _ in where})


def test_units_become_small_towards_the_end(suite: Suite) -> None:
    maker = UnitMaker(RunPlan(suite, suite.case_ids, ("inputs",), 1))
    sizes = []
    for unit in maker.units():
        sizes.append(len(unit.positions))
        maker.measured(len(unit.positions), 1e-4, 2)
    assert sizes[0] == 32
    assert sizes[1:-1] == sorted(sizes[1:-1], reverse=True)
    assert sizes[-2] == 8


def test_rows_and_places_travel_together() -> None:
    answer = UnitAnswer({}, {}, deflated(b'{"a":1}\n{"b":2}\n'), b"", 0.0)
    with pytest.raises(ValueError, match="2 rows and 0 numbers of their places"):
        list(answer.rows())


def test_a_note_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    record = tmp_path / "run.jsonl"
    book = MachineBook(record)
    machine = {"name": "a", "system": "Linux", "machine": "x86_64", "features": ["avx"], "sources": "s"}
    assert not book.note(machine)
    assert not book.note(machine)
    assert book.note({**machine, "name": "b", "features": []})
    notes = tmp_path / ".run.jsonl.machines"
    notes.write_bytes(notes.read_bytes()[:-9])
    resumed = MachineBook(record, resume=True)
    resumed.count("a", 2)
    resumed.count("b", 1)
    told = resumed.told()
    assert [(each["name"], each["kind"], each["rows"]) for each in told] == [
        ("a", "Linux x86_64 avx", 2),
        ("b", UNKNOWN, 1),
    ]
    assert "sources" not in told[0]
    resumed.forget()
    assert not notes.exists()


def test_a_program_is_told_by_its_files_and_must_be_there(tmp_path: Path) -> None:
    told = ToldRuntime.of(find_runtime(echo_runtime("floats")), None)
    assert told.find().command == find_runtime(echo_runtime("floats")).command
    assert ToldRuntime.of(find_runtime("onnx"), "3.12") == ToldRuntime("onnx", "3.12")
    with pytest.raises(UserError, match="no such program on this machine"):
        ToldRuntime("exec:x", command=(str(tmp_path / "x"),)).find()
    with pytest.raises(UserError, match="no meaning for a program"):
        ToldRuntime(told.text, "3.12", told.command).find()
