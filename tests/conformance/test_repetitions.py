"""Repetitions and thread counts: an answer that differs is a fault, which says what made the difference."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.processes.frames import BrokenProtocol
from conformance.recording.faults import FaultFinder, count_threads
from conformance.recording.merging import merge_records
from conformance.recording.records import Record
from conformance.recording.rows import Result
from conformance.running.harness import run_suite
from conformance.running.requests import read_offer
from conformance.running.run_options import RunOptions
from conformance.runtimes.adapter import load_adapter
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.case_selection import Shard
from conformance.suite.suites import open_suite
from opcert.commands.run_summary import format_summary
from opcert.vocabulary.tensors import tensor
from reports.causes.class_words import calls_of
from reports.certificates.rejudging import judge_again
from reports.results.case_results import put_together
from reports.single_cases.answer_views import view_answer
from tests.conformance.conversation import make_case as make_call
from tests.conformance.runtime_checks import converse, numbers
from tests.conformance.samples import echo_runtime, expect, make_case, make_suite, sample

ANYTHING = (expect(sample(0), np.full((2, 3), np.inf)),)
CASES = [make_case(each, expectations=ANYTHING) for each in ("differs_by_threads", "differs_by_call", "echo")]


def run(folder: Path, mode: str, **options: Any) -> Record:
    with open_suite(make_suite(folder, CASES)) as suite:
        runtime = find_runtime(echo_runtime(mode))
        return run_suite(suite, runtime, folder / "run.jsonl", RunOptions(**options))


def faults(record: Record) -> dict[str, list[str]]:
    """For each kind of fault what the cases do that it names."""
    deeds = {result.case: result.levels["do"] for result in record.results}
    return {fault["kind"]: [deeds[case["case"]] for case in fault["cases"]] for fault in record.faults}


def test_thread_counts_take_turns(tmp_path: Path) -> None:
    record = run(tmp_path, "threads", repeat=4)
    assert count_threads(record.header) == 2
    assert faults(record) == {
        "repeats_differ": ["differs_by_call"],
        "threads_differ": ["differs_by_call", "differs_by_threads"],
    }
    assert record.counts["pass"] == 3


def test_one_run_of_each_case_keeps_to_the_worker_s_own_count(tmp_path: Path) -> None:
    assert run(tmp_path, "threads").faults == ()


def test_a_worker_without_a_choice_is_not_asked(tmp_path: Path) -> None:
    assert faults(run(tmp_path, "", repeat=2)) == {"repeats_differ": ["differs_by_call"]}


def died(folder: Path, *deeds: str, **options: Any) -> Record:
    """A run of cases of these deeds, behind one that its worker answers."""
    cases = [make_case("echo", family="example"), *(make_case(do, seed=n) for n, do in enumerate(deeds))]
    with open_suite(make_suite(folder, cases)) as suite:
        runtime = find_runtime(echo_runtime())
        return run_suite(suite, runtime, folder / "run.jsonl", RunOptions(**options))


def test_a_case_that_kills_its_worker_now_and_then_is_told_as_unstable(tmp_path: Path) -> None:
    record = died(tmp_path, "dies_after_others", "SIGSEGV")
    again = {result.levels["do"]: result.again for result in record.results}
    assert again["echo"] == ()
    assert set(again["SIGSEGV"]) == {"crashed"}
    assert set(again["dies_after_others"]) == {"answered", "crashed"}
    (fault,) = record.faults
    assert fault["message"] == (
        "unstable: 1 case of org.example::Echo-1 killed the worker in one run and not in the next"
    )
    assert faults(record) == {"unstable": ["dies_after_others"]}
    assert record.counts["crash"] == 2
    with open_suite(tmp_path / "suite") as suite:
        results = put_together(suite, record)
        assert judge_again(results).problems == ()
        told = format_summary(results)
        (case,) = (result for result in results.cases if result.features["do"] == "dies_after_others")
        page = view_answer(results, case, suite.case(str(case.id)))
    assert fault["message"] in told
    assert f"opcert repro {case.id}" in told[told.index(fault["message"]) :]
    assert "unstable in 1 case: the worker was lost in one call and not in the next" in told
    crashed = 1 + again["dies_after_others"].count("crashed")
    assert page.sentence.partition("Unstable: 4 calls of it ")[2] in (
        f"crashed ({crashed}) and answered ({4 - crashed}).",
        f"answered ({4 - crashed}) and crashed ({crashed}).",
    )
    other = next(result for result in results.cases if result.features["do"] == "SIGSEGV")
    assert calls_of(other) == ()


def test_what_further_tries_came_to_cannot_be_made_up(tmp_path: Path) -> None:
    """A row that states them of a case that killed nobody, or a fault that no row shows, does not hold."""
    record = died(tmp_path, "SIGSEGV")
    assert record.faults == ()
    lost, echo = record.results[1], record.results[0]
    assert (lost.verdict, echo.verdict) == ("crash", "pass")
    with open_suite(tmp_path / "suite") as suite:
        for rows in ((echo, replace(lost, again=("answered",))), (replace(echo, again=("crashed",)), lost)):
            forged = replace(record, results=rows)
            assert judge_again(put_together(suite, forged)).problems


@pytest.mark.slow
def test_a_runtime_that_dies_of_many_cases_is_not_tried_again_for_each(tmp_path: Path) -> None:
    record = died(tmp_path, *["SIGSEGV"] * 9, "echo", *["SIGABRT"] * 6)
    tried = [len(result.again) for result in record.results if result.verdict == "crash"]
    assert sorted(tried) == [0] * 12 + [3] * 3
    assert record.counts["crash"] == 15
    assert record.footer is not None
    assert "stopped" not in record.footer


def test_repetitions_that_die_now_and_then_are_unstable_and_need_no_further_tries(tmp_path: Path) -> None:
    record = died(tmp_path, "dies_after_others", repeat=3)
    assert {fault["kind"] for fault in record.faults} == {"unstable"}
    assert not any(result.again for result in record.results)
    with open_suite(tmp_path / "suite") as suite:
        (case,) = (result for result in put_together(suite, record).cases if result.fails)
    assert sorted(set(calls_of(case))) == ["answered", "crashed"]


def test_faults_of_merged_records_are_those_of_the_whole(tmp_path: Path) -> None:
    whole = run(tmp_path / "whole", "threads", repeat=4)
    parts = [run(tmp_path / f"{each}", "threads", repeat=4, shard=Shard(each, 2)) for each in (1, 2)]
    assert faults(merge_records(parts, tmp_path / "merged.jsonl")) == faults(whole)


@pytest.mark.parametrize("stated", [0, "2", [0], [1.5], [True], [[2]], {"2": 2}])
def test_thread_counts_that_are_none(stated: Any) -> None:
    hello = {"type": "hello", "protocol": 1, "runtime": {"name": "x", "version": "1"}, "threads": stated,
             "domains": {"*": "onnx"}, "forms": ["inputs"]}  # fmt: skip
    with pytest.raises(BrokenProtocol, match="threads"):
        read_offer(hello)


@pytest.mark.runtimes("onnxruntime")
def test_onnxruntime_computes_with_as_many_threads_as_are_asked_for() -> None:
    case = make_call("ai.onnx::Identity-13", [("X", numbers((2, 3)))])
    with converse(load_adapter("onnxruntime")) as runtime:
        before = runtime.threads
        runtime.call(case, threads=1, forget=False)
        assert runtime.threads == before
        runtime.call(case, threads=2, forget=False)
        assert runtime.threads == before + 1


@pytest.mark.runtimes("openvino")
def test_openvino_loses_an_error_with_one_thread(tmp_path: Path) -> None:
    """2026.4.1 answers with whatever memory holds where it refuses with two threads."""
    shape = ("shape", tensor(np.array([2], np.int64)))
    call = make_call(
        "ai.onnx::CenterCropPad-18", [("input_data", numbers((2, 3))), shape], {"axes": ("ints", [5])}
    )
    with open_suite(make_suite(tmp_path, [call])) as suite:
        runtime = find_runtime("openvino")
        record = run_suite(suite, runtime, tmp_path / "run.jsonl", RunOptions(repeat=2))
    assert [fault["kind"] for fault in record.faults] == ["threads_differ"]
    assert [result.response for result in record.results] == ["refused", "answered"]


@given(order=st.permutations(range(8)), swapped=st.booleans())
def test_faults_do_not_depend_on_the_order_in_which_cases_come(order: list[int], swapped: bool) -> None:
    """Several lanes hand cases in as they are done; the record is in order, and so must its faults be."""

    def rows(number: int) -> list[Result]:
        case = f"org.example/Echo-1/cover/{number:012x}"
        options = ("left",) if number % 3 else ("right",)
        return [
            Result(
                case=case,
                operator="org.example::Echo-1",
                family="cover",
                element_type="float",
                form=form,
                repeat=0,
                verdict="pass" if form == "inputs" else "mismatch",
                readings={"side": options},
                outputs=("golden" if form == "inputs" else f"golden:{number}",),
            )
            for form in ("inputs", "dynamic")
        ]

    in_order, as_they_come = FaultFinder(), FaultFinder()
    for number in range(8):
        for row in rows(number):
            in_order.see(row)
        in_order.compare(rows(number))
    for number in order:
        for row in reversed(rows(number)) if swapped else rows(number):
            as_they_come.see(row, number)
        as_they_come.compare(rows(number), number)
    assert as_they_come.faults() == in_order.faults()
    assert {fault["kind"] for fault in in_order.faults()} == {"inconsistent_reading", "forms_differ"}


def test_a_run_on_several_lanes_is_judged_again_with_the_same_faults(tmp_path: Path) -> None:
    deeds = ("nap", "differs_by_form", "echo", "differs_by_form", "differs_by_form", "nap", "differs_by_form")
    cases = [make_case(do, seed=number) for number, do in enumerate(deeds * 3)]
    with open_suite(make_suite(tmp_path, cases)) as suite:
        runtime = find_runtime(echo_runtime())
        for _ in range(2):  # the second time the longest cases come first
            record = run_suite(suite, runtime, tmp_path / "run.jsonl", RunOptions(jobs=3, forms="all"))
        assert record.faults[0]["count"] == 12
        assert judge_again(put_together(suite, record)).problems == ()
