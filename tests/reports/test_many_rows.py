"""Very many rows: what is held at once stays little, nothing is squared, and the result is that of few."""

from __future__ import annotations

import json
import shutil
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.made_suite import make_records, make_suite
from conformance.recording import records
from conformance.recording.merging import merge_records
from conformance.recording.records import Record, read_record
from conformance.recording.suite_ordered import RecordRows
from conformance.suite.canonical import canonical_json
from conformance.suite.manifests import manifest_digest
from conformance.suite.suites import Suite, open_suite
from reports.certificates.rejudging import MOST_NAMED, judge_again
from reports.comparisons.run_comparison import compare_runs
from reports.formats.html import render_report
from reports.formats.json import render as render_json
from reports.formats.junit import render as render_junit
from reports.results.case_results import Results, put_together
from tests.growth import LINEAR, count_calls
from tests.reports.sample import Maker, sample_cases

FEW, MANY = 100, 400
BYTES_A_ROW = 250
"""Of what is held of each row while records are merged or compared: where it lies, and its case's name."""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Suite]:
    with Maker(tmp_path_factory.mktemp("source")).make(list(sample_cases(9))).suite as suite:
        yield suite


@pytest.fixture(scope="module")
def folders(source: Suite, tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """By their number of rows a suite, its record, another one, and shards."""
    found = {}
    for rows in (FEW, MANY):
        found[rows] = folder = tmp_path_factory.mktemp(f"rows{rows}")
        made = make_suite(source, folder / "suite", rows)
        make_records(made, folder / "run.jsonl", 1, [folder / f"{each}.jsonl" for each in range(3)])
        make_records(made, folder / "later.jsonl", 2, version="1.21.0")
    return found


@pytest.fixture(autouse=True)
def long_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every record is a long one, whose rows are read when they are looked at."""
    monkeypatch.setattr(records, "_MOST_KEPT", 1)


def _peak(work: Callable[[], object]) -> int:
    """The most bytes that Python holds more while work is done."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _shards(folder: Path) -> list[Record]:
    return [read_record(folder / f"{each}.jsonl") for each in range(3)]


def test_rows_that_the_benchmark_makes_are_those_of_a_run(folders: dict[int, Path]) -> None:
    with open_suite(folders[FEW] / "suite") as suite:
        found = judge_again(put_together(suite, read_record(folders[FEW] / "run.jsonl")))
    assert found.problems == ()
    assert found.judged == FEW


def test_shards_are_merged_into_the_very_rows_of_the_whole(folders: dict[int, Path], tmp_path: Path) -> None:
    merged = merge_records(_shards(folders[FEW])[::-1], tmp_path / "merged.jsonl")
    whole = read_record(folders[FEW] / "run.jsonl")
    assert isinstance(merged.results, RecordRows)
    assert tuple(merged.results) == tuple(whole.results)
    assert merged.footer is not None
    assert whole.footer is not None
    assert merged.footer["digest"] == whole.footer["digest"]


def test_merging_holds_no_rows(folders: dict[int, Path], tmp_path: Path) -> None:
    def merge(rows: int) -> int:
        path = tmp_path / f"{rows}.jsonl"
        return _peak(lambda: merge_records(_shards(folders[rows]), path))

    merge(MANY)  # what is imported and kept once
    assert merge(MANY) - merge(FEW) <= BYTES_A_ROW * (MANY - FEW)


def test_comparing_holds_what_changed_alone(folders: dict[int, Path]) -> None:
    def compare(rows: int) -> int:
        before = folders[rows] / "run.jsonl"
        return _peak(lambda: compare_runs(read_record(before), read_record(before)))

    compare(FEW)
    assert compare(MANY) - compare(FEW) <= BYTES_A_ROW * (MANY - FEW)
    earlier, later = (read_record(folders[MANY] / f"{each}.jsonl") for each in ("run", "later"))
    found = compare_runs(earlier, later)
    assert found.both == MANY
    assert 0 < len(found.changes) < MANY


def test_records_compare_the_same_in_any_order(folders: dict[int, Path]) -> None:
    before, after = (read_record(folders[FEW] / f"{each}.jsonl") for each in ("run", "later"))
    turned = replace(after, results=tuple(after.results)[::-1], counted=None)
    ordered = compare_runs(before, after)
    assert compare_runs(before, turned).changes == ordered.changes


@pytest.mark.parametrize("render", [lambda one: render_report([one]), render_json, render_junit])
def test_what_is_kept_of_rows_is_all_that_reports_say(
    source: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, render: Callable[[Results], str]
) -> None:
    made = Maker(tmp_path).make(list(sample_cases(9)), skip=1)
    with made.suite as suite:
        long = put_together(suite, made.record)
        assert isinstance(made.record.results, RecordRows)
        monkeypatch.setattr(records, "_MOST_KEPT", 5000)
        short = put_together(suite, read_record(made.record.path))
        assert render(long) == render(short)


def test_a_report_calls_in_proportion_to_its_cases(folders: dict[int, Path], tmp_path: Path) -> None:
    calls = []
    for rows in (FEW, MANY):
        with open_suite(folders[rows] / "suite") as suite:
            results = put_together(suite, read_record(folders[rows] / "run.jsonl"))
            calls.append(count_calls(lambda found=results: render_json(found)))  # type: ignore[misc]
    assert calls[1] <= LINEAR / 2 * (MANY / FEW) * calls[0]


def test_what_a_manifest_says_of_a_case_is_held_against_it(folders: dict[int, Path], tmp_path: Path) -> None:
    folder = tmp_path / "suite"
    shutil.copytree(folders[FEW] / "suite", folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    entry = next(each for each in manifest["cases"] if each["element_type"] == "float")
    entry["element_type"] = "double"
    manifest["digest"] = manifest_digest(manifest)
    (folder / "manifest.json").write_bytes(canonical_json(manifest) + b"\n")
    record = read_record(folders[FEW] / "run.jsonl")
    told = replace(record, header={**record.header, "suite": manifest["digest"]})
    with open_suite(folder) as suite:
        found = judge_again(put_together(suite, told, bare=True))
    assert found.problems == (f"{entry['id']}: the suite's manifest says another element type or demand",)


def test_results_that_read_no_case_are_the_same_but_for_what_cases_say(folders: dict[int, Path]) -> None:
    record = read_record(folders[FEW] / "run.jsonl")
    with open_suite(folders[FEW] / "suite") as suite:
        whole, bare = put_together(suite, record), put_together(suite, record, bare=True)
    for one, other in zip(whole.cases, bare.cases, strict=True):
        told = (one.id, one.element_type, one.demand, one.verdict, one.row, one.rows)
        assert (other.id, other.element_type, other.demand, other.verdict, other.row, other.rows) == told
        assert not other.features


def test_of_many_rows_that_do_not_hold_some_are_named_and_all_counted(folders: dict[int, Path]) -> None:
    record = read_record(folders[FEW] / "run.jsonl")
    runtime = record.header["runtime"]
    nothing = {**runtime, "offer": {**runtime["offer"], "domains": {"org.nobody": "onnx"}}}
    told = replace(record, header={**record.header, "runtime": nothing})
    with open_suite(folders[FEW] / "suite") as suite:
        found = judge_again(put_together(suite, told, bare=True))
    rows = [problem for problem in found.problems if "does not offer operators of" in problem]
    assert len(rows) == MOST_NAMED
    assert f"and {FEW - MOST_NAMED} further rows do not hold" in found.problems
