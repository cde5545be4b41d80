"""Suites and records of any length: what is kept in little room is the same as what is kept whole."""

from __future__ import annotations

import gc
import json
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.judging.verdicts import VERDICTS, Verdict
from conformance.recording import records
from conformance.recording.records import RecordWriter, RowPlaces, read_record
from conformance.recording.rows import CaseVerdicts, Result, case_verdicts, count_verdicts
from conformance.recording.suite_ordered import RecordRows
from conformance.running.harness import run_suite
from conformance.running.run_options import RunOptions
from conformance.runtimes.runtimes import find_runtime
from conformance.suite import manifests
from conformance.suite.suites import open_suite
from opcert.commands import run_summary
from tests.conformance.samples import IDENTITY, echo_runtime, make_case, make_suite


@pytest.mark.slow
def test_a_long_record_reads_as_a_short_one_also_when_its_file_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = [make_case(do, seed=each) for each in range(4) for do in ("echo", "ulp", "raise")]
    path = tmp_path / "run.jsonl"
    with open_suite(make_suite(tmp_path, cases)) as suite:
        short = run_suite(suite, find_runtime(echo_runtime()), path, RunOptions(repeat=2))
    monkeypatch.setattr(records, "_MOST_KEPT", 5)
    long = read_record(path)
    path.unlink()
    assert isinstance(long.results, RecordRows)
    assert isinstance(short.results, tuple)
    assert tuple(long.results) == short.results
    assert len(long.results) == 24
    assert [long.results[3], long.results[-1]] == [short.results[3], short.results[-1]]
    assert long.results[4:7] == short.results[4:7]
    assert (long.counts, long.verdicts, long.faults) == (short.counts, short.verdicts, short.faults)
    with pytest.raises(IndexError):
        long.results[24]
    gc.collect()
    assert long.results[0] == short.results[0]


def test_a_run_keeps_its_rows_in_memory_up_to_a_number_of_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, runtime = tmp_path / "run.jsonl", find_runtime(echo_runtime())
    with open_suite(make_suite(tmp_path, [make_case("echo", seed=each) for each in range(9)])) as suite:
        short = run_suite(suite, runtime, path)
        monkeypatch.setattr(records, "_MOST_KEPT_BYTES", 1000)
        long = run_suite(suite, runtime, path)
    assert isinstance(short.results, tuple)
    assert isinstance(long.results, RecordRows)
    assert [(result.case, result.verdict) for result in long.results] == [
        (result.case, result.verdict) for result in short.results
    ]


@pytest.mark.parametrize(("most", "expected"), [(None, tuple), (9, tuple), (8, RecordRows)])
def test_a_writer_keeps_as_many_rows_in_memory_as_it_is_told(
    tmp_path: Path, most: int | None, expected: type
) -> None:
    path = tmp_path / "run.jsonl"
    with open_suite(make_suite(tmp_path, [make_case("echo", seed=each) for each in range(9)])) as suite:
        whole = run_suite(suite, find_runtime(echo_runtime()), path)
    writer = RecordWriter(tmp_path / "again.jsonl", whole.header, most_in_memory=most)
    for number, row in enumerate(whole.results):
        writer.append(row, (number, 0, 0))
    again = writer.finish(whole.counts, ())
    writer.close()
    assert isinstance(again.results, expected)
    assert [result.case for result in again.results] == [result.case for result in whole.results]


def test_a_long_record_goes_on_where_it_was_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [make_case("echo", seed=each) for each in range(9)]
    path, runtime = tmp_path / "run.jsonl", find_runtime(echo_runtime())
    monkeypatch.setattr(records, "_MOST_KEPT", 2)
    with open_suite(make_suite(tmp_path, cases)) as suite:
        whole = tuple(run_suite(suite, runtime, path).results)
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(lines[:6]) + lines[6][:20])
        again = run_suite(suite, runtime, path, resume=True)
    assert [(result.case, result.verdict) for result in again.results] == [
        (result.case, result.verdict) for result in whole
    ]
    assert not again.partial


@pytest.mark.parametrize("chunk", [64, 700, 1 << 18])
def test_a_manifest_is_the_same_however_it_is_cut_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    cases = [make_case(seed=each, operator=IDENTITY) for each in range(20)] + [make_case(seed=1)]
    path = make_suite(tmp_path, cases)
    monkeypatch.setattr(manifests, "_CHUNK", chunk)
    written = json.loads((path / "manifest.json").read_text())
    with open_suite(path) as streamed:
        assert [dict(streamed.entry(case_id)) for case_id in streamed.case_ids] == written["cases"]
        assert [streamed.position(case_id) for case_id in streamed.case_ids] == list(range(21))
        head = dict(streamed.manifest)
    assert head == {key: value for key, value in written.items() if key != "cases"}
    (path / "manifest.json").write_text(json.dumps(written, indent=1))
    with open_suite(path) as whole:
        assert [dict(whole.entry(case_id)) for case_id in whole.case_ids] == written["cases"]
        assert dict(whole.manifest) == head


@given(st.lists(st.tuples(st.integers(0, 20), st.sampled_from(VERDICTS)), max_size=60))
def test_verdicts_in_bytes_are_those_of_the_rows(rows: list[tuple[int, Verdict]]) -> None:
    kept = CaseVerdicts()
    seen: dict[int, Verdict] = {}
    for number, verdict in rows:
        before, now = kept.add(number, verdict)
        assert before == seen.get(number)
        seen[number] = now
    results = [Result(str(number), "o", "cover", "float", "inputs", 0, verdict) for number, verdict in rows]
    assert count_verdicts(kept) == count_verdicts(case_verdicts(results).values())


def test_rows_are_found_in_their_order_whatever_the_order_they_came_in() -> None:
    rows = [((0, 0, 0), 5), ((0, 1, 0), 7), ((2, 0, 1), 11)]
    for arrived in permutations(rows):
        places, text = RowPlaces(3), b"---"
        for order, length in arrived:
            places.add(order, length)
            text += bytes([48 + length]) * length
        read = [text[begin : begin + length] for begin, length in places.sorted_spans()]
        assert read == [bytes([48 + length]) * length for _, length in rows]
        assert places.orders() == {order for order, _ in rows}
        assert len(places) == 3


def test_the_summary_of_a_long_run_counts_every_case_and_says_what_it_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = [make_case("echo", seed=each) for each in range(20)] + [
        make_case("ulp", seed=each) for each in range(8)
    ]
    with open_suite(make_suite(tmp_path, cases)) as suite:
        record = run_suite(suite, find_runtime(echo_runtime()), tmp_path / "run.jsonl")
        whole = run_summary.summarise(suite, record, "s")
        monkeypatch.setattr(run_summary, "_MOST_ROWS", 10)
        monkeypatch.setattr(run_summary, "_MOST_CASES", 5)
        short = run_summary.summarise(suite, record, "s")
    tables = [
        next(word for word in told.split("\n\n") if word.startswith("operator")) for told in (whole, short)
    ]
    assert tables[0] == tables[1]
    assert whole != short
    assert "are of 10 cases: 5 of the 8 that fail" in short
    for told, least in ((whole, ""), (short, " at least, of some of its cases")):
        assert "71.4 % of 28 decided cases conform; 8 fail, from 1 cause." in told
        assert f"Causes{least}: 1 " in told
    assert "opcert repro" in short
