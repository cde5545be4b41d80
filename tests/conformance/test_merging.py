"""Shards: every case is in one of them, and their records put together are the record of the whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.recording.merging import merge_records
from conformance.recording.records import Record, read_record
from conformance.running.harness import run_suite
from conformance.running.run_options import RunOptions
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.case_selection import Shard
from conformance.suite.suites import open_suite
from opcert.vocabulary.errors import UserError
from tests.commands.command_line import call, check_message
from tests.conformance.samples import echo_runtime, make_case, make_suite, sample
from tests.conformance.test_resuming import cut


@given(st.lists(st.text(min_size=1), unique=True, max_size=30), st.integers(1, 9))
def test_every_case_is_in_one_shard(names: list[str], count: int) -> None:
    shards = [Shard(number, count) for number in range(1, count + 1)]
    assert all(sum(shard.holds(name) for shard in shards) == 1 for name in names)
    assert [Shard.parse(str(shard)) for shard in shards] == shards


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "1/0", "a/b", "-1/2", "1/2/3", ""])
def test_no_shard(text: str) -> None:
    with pytest.raises(UserError, match="no shard"):
        Shard.parse(text)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    cases = [make_case(seed=each) for each in range(12)]
    cases += [make_case("ulp", seed=20), make_case("raise", seed=21), make_case("differs_by_call", seed=22)]
    cases += [make_case("zero", given=sample(1, (40, 40)), seed=23)]
    cases += [make_case("raise", seed=30, family="invalid", demand="refuse", valid_case=cases[0])]
    return make_suite(tmp_path, cases)


def run(suite: Path, path: Path, mode: str = "", **options: Any) -> Record:
    with open_suite(suite) as opened:
        return run_suite(opened, find_runtime(echo_runtime(mode)), path, RunOptions(repeat=2, **options))


def shards_of(suite: Path, folder: Path, count: int = 3) -> list[Record]:
    return [
        run(suite, folder / f"{number}" / "run.jsonl", shard=Shard(number, count))
        for number in range(1, count + 1)
    ]


def test_shards_put_together_are_the_whole(suite: Path, tmp_path: Path) -> None:
    whole = run(suite, tmp_path / "whole.jsonl")
    parts = shards_of(suite, tmp_path)
    assert all(parts)
    merged = merge_records(parts[::-1], tmp_path / "merged.jsonl")
    assert [result.case for result in merged.results] == [result.case for result in whole.results]
    same = [(result.case, result.repeat, result.verdict) for result in merged.results]
    assert same == [(result.case, result.repeat, result.verdict) for result in whole.results]
    assert merged.counts == whole.counts
    assert [fault["kind"] for fault in merged.faults] == [fault["kind"] for fault in whole.faults]
    assert merged.header["options"]["shard"] is None
    assert [each["shard"] for each in merged.header["merged"]["records"]] == ["3/3", "2/3", "1/3"]
    kept = sorted(path.name for path in (tmp_path / "merged.jsonl.outputs").iterdir())
    assert kept == sorted(path.name for path in (tmp_path / "whole.jsonl.outputs").iterdir())


def test_what_does_not_belong_together_is_refused(suite: Path, tmp_path: Path) -> None:
    first, second, third = shards_of(suite, tmp_path)
    path = tmp_path / "merged.jsonl"
    with pytest.raises(UserError, match="shards are missing") as caught:
        merge_records([first, third], path)
    assert "2/3" in str(caught.value)
    assert not path.exists()
    gaps = merge_records([first, third], path, allow_missing=True)
    assert gaps.header["merged"]["missing"] == ["2/3"]
    again = read_record(second.path)
    with pytest.raises(UserError, match="hold the same case"):
        merge_records([first, second, third, again], path)
    twice = merge_records([first, second, third, again], path, allow_overlap=True)
    assert len(twice.results) == len({(result.case, result.repeat) for result in twice.results}) == 34
    with pytest.raises(UserError, match="different counts"):
        merge_records([first, run(suite, tmp_path / "half.jsonl", shard=Shard(2, 2))], path)
    (tmp_path / "other").mkdir()
    other = make_suite(tmp_path / "other", [make_case()])
    with pytest.raises(UserError, match="suite: "):
        merge_records([first, run(other, tmp_path / "other.jsonl")], path)
    with pytest.raises(UserError, match="option pattern: Echo"):
        merge_records([first, run(suite, tmp_path / "some.jsonl", pattern="Echo")], path)
    cut(second.path, 2)
    with pytest.raises(UserError, match="not whole"):
        merge_records([first, read_record(second.path), third], path)


def test_another_runtime_version_or_option_is_refused(suite: Path, tmp_path: Path) -> None:
    first, second = shards_of(suite, tmp_path, 2)
    whole = second.path.read_text()
    header, rest = whole.split("\n", 1)
    changes: list[tuple[str, str, object]] = [
        ("runtime", "name", "another"),
        ("runtime", "version", "2.0"),
        ("runtime", "options", {"optimization": "none"}),
        ("options", "repeat", 3),
        ("options", "forms", ["dynamic"]),
        ("options", "timeout", 1.0),
        ("options", "memory", 1 << 30),
    ]
    for part, key, value in changes:
        changed = json.loads(header)
        changed[part][key] = value
        second.path.write_text(json.dumps(changed) + "\n" + rest)
        with pytest.raises(UserError, match="not of one run") as caught:
            merge_records([first, read_record(second.path)], tmp_path / "merged.jsonl")
        assert f"{part.removesuffix('s')} {key}: {value}" in str(caught.value)
        assert str(second.path) in str(caught.value)


def test_a_shard_stays_the_same_when_cases_are_added() -> None:
    before = [str(make_case(seed=each).id) for each in range(50)]
    added = [str(make_case("ulp", seed=each).id) for each in range(50)]
    for number in range(1, 5):
        shard = Shard(number, 4)
        chosen = set(filter(shard.holds, [*added, *before]))
        assert chosen & set(before) == set(filter(shard.holds, before))
        assert 5 <= len(chosen) <= 50


def test_the_command(suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [shard.path for shard in shards_of(suite, tmp_path)]
    merged = tmp_path / "merged.jsonl"
    answer = call(capsys, "merge", *paths, "-o", merged)
    assert (answer.code, answer.out.splitlines()[0]) == (1, "17 cases of 3 records")
    check_message(call(capsys, "merge", *paths[1:], "-o", merged), 2, "input", "shards are missing", "1/3")
    check_message(call(capsys, "merge", *paths, "-o", paths[0]), 2, "input", "take the place")
    check_message(call(capsys, "merge", tmp_path / "no.jsonl", "-o", merged), 2, "input", "cannot be read")
    check_message(call(capsys, "run", "onnx", "--shard", "3/2"), 2, "input", "no shard")
