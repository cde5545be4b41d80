"""Repetitions and thread counts: an answer that differs is a fault, which says what made the difference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conformance.adapter import load_adapter
from conformance.faults import count_threads
from conformance.frames import BrokenProtocol
from conformance.harness import run_suite
from conformance.merging import merge_records
from conformance.records import Record
from conformance.requests import read_offer
from conformance.run_options import RunOptions
from conformance.runtimes import find_runtime
from conformance.shards import Shard
from conformance.suites import open_suite
from opcert.tensors import tensor
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
    deeds = {each.case: each.levels["do"] for each in record.results}
    return {each["kind"]: [deeds[case["case"]] for case in each["cases"]] for each in record.faults}


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
    assert [each["kind"] for each in record.faults] == ["threads_differ"]
    assert [each.response for each in record.results] == ["refused", "answered"]
