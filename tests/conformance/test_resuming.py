"""A run that was ended goes on where it stood, however it was ended."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

from conformance.recording.records import Record, read_record
from conformance.running.harness import run_suite
from conformance.running.run_options import RunOptions
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.canonical import canonical_json
from conformance.suite.suites import open_suite
from opcert.vocabulary.errors import UserError
from tests.commands.command_line import heed_signals
from tests.conformance.samples import echo_runtime, find_processes, make_case, make_suite

pytestmark = pytest.mark.slow


def run(suite: Path, path: Path, mode: str = "", **options: Any) -> Record:
    resume = options.pop("resume", True)
    with open_suite(suite) as opened:
        runtime = find_runtime(echo_runtime(mode))
        return run_suite(opened, runtime, path, RunOptions(**options), resume=resume)


def essence(record: Record) -> list[tuple[str, str, int, str, Any]]:
    return [
        (result.case, result.form, result.repeat, result.verdict, result.outputs) for result in record.results
    ]


def cut(path: Path, lines: int, part: bytes = b"") -> None:
    """Leave the header, so many rows, and a part of the next, as if the run was killed there."""
    raw = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(raw[: lines + 1]) + part)


def test_every_place_where_a_run_can_be_cut(tmp_path: Path) -> None:
    cases = [make_case(seed=each) for each in range(3)] + [
        make_case("ulp", seed=3),
        make_case("raise", seed=4),
    ]
    cases.append(make_case("raise", seed=9, family="invalid", demand="refuse", valid_case=cases[0]))
    suite, path = make_suite(tmp_path, cases), tmp_path / "run.jsonl"
    whole = run(suite, path, repeat=2)
    raw = path.read_bytes()
    assert len(whole.results) == 12
    for lines in range(13):
        path.write_bytes(raw)
        cut(path, lines, b'{"case":"ai.onn' if lines % 2 else b"")
        resumed = run(suite, path, repeat=2)
        assert essence(resumed) == essence(whole)
        assert (resumed.counts, resumed.faults) == (whole.counts, whole.faults)
        assert len(resumed.header["resumed"]) == 1
    path.write_bytes(raw[:40])
    assert essence(run(suite, path, repeat=2)) == essence(whole)
    path.unlink()
    assert essence(run(suite, path, repeat=2)) == essence(whole)


def test_a_clock_that_was_set_back_since_ends_no_run_before_it_began(tmp_path: Path) -> None:
    cases = [make_case(seed=each) for each in range(3)]
    suite, path = make_suite(tmp_path, cases), tmp_path / "run.jsonl"
    whole = run(suite, path)
    begun, row = path.read_bytes().splitlines(keepends=True)[:2]
    later = {"started": "2099-01-01T00:00:00Z", "resumed": ["2099-01-02T00:00:00Z"]}
    path.write_bytes(canonical_json({**json.loads(begun), **later}) + b"\n" + row)
    resumed = run(suite, path)
    assert essence(resumed) == essence(whole)
    assert resumed.footer is not None
    moments = [resumed.header["started"], *resumed.header["resumed"], resumed.footer["finished"]]
    assert len(moments) == 4
    assert moments == sorted(moments)
    assert whole.footer is not None
    assert moments[0] >= whole.footer["finished"]


def test_a_whole_record_is_left_as_it_is(tmp_path: Path) -> None:
    suite, path = make_suite(tmp_path, [make_case()]), tmp_path / "run.jsonl"
    run(suite, path)
    before = path.read_bytes()
    assert not run(suite, path).partial
    assert path.read_bytes() == before
    assert run(suite, path, resume=False).header.get("resumed") is None


def test_a_run_that_stopped_early_goes_on(tmp_path: Path) -> None:
    cases = [make_case("ulp", seed=each) for each in range(4)]
    suite, path = make_suite(tmp_path, cases), tmp_path / "run.jsonl"
    assert run(suite, path, max_failures=2).counts["not_run"] == 2
    record = run(suite, path)
    assert (record.counts["mismatch"], record.counts["not_run"]) == (4, 0)
    assert record.footer is not None
    assert "stopped" not in record.footer


def test_faults_are_those_of_the_whole_run(tmp_path: Path) -> None:
    suite, path = (
        make_suite(tmp_path, [make_case("differs_by_call"), make_case(seed=1)]),
        tmp_path / "run.jsonl",
    )
    faults = run(suite, path, repeat=2).faults
    assert [fault["kind"] for fault in faults] == ["repeats_differ"]
    rows = path.read_bytes().splitlines(keepends=True)
    last = json.loads(rows[2])["case"] != json.loads(rows[3])["case"]
    assert last
    cut(path, 3)
    assert run(suite, path, repeat=2).faults == faults


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"repeat": 2}, "option repeat: 1"),
        ({"pattern": "cover"}, "option pattern: None"),
        ({"mode": "other"}, "runtime source"),
    ],
)
def test_another_run_is_refused(tmp_path: Path, change: dict[str, Any], problem: str) -> None:
    suite, path = make_suite(tmp_path, [make_case(), make_case(seed=1)]), tmp_path / "run.jsonl"
    run(suite, path)
    cut(path, 1)
    before = path.read_bytes()
    with pytest.raises(UserError, match="of another run") as caught:
        run(suite, path, **change)
    assert problem in str(caught.value)
    assert path.read_bytes() == before


@pytest.mark.parametrize("flags", [["avx"], None])
def test_another_processor_is_refused_and_one_that_nobody_wrote_down_is_not(
    tmp_path: Path, flags: list[str] | None
) -> None:
    suite, path = make_suite(tmp_path, [make_case(), make_case(seed=1)]), tmp_path / "run.jsonl"
    run(suite, path)
    cut(path, 1)
    header, *rows = path.read_bytes().splitlines(keepends=True)
    told = json.loads(header)
    if flags is None:
        del told["processor"]
    else:
        told["processor"]["flags"] = flags
    path.write_bytes(canonical_json(told) + b"\n" + b"".join(rows))
    if flags is None:
        assert run(suite, path).counts["not_run"] == 0
    else:
        with pytest.raises(UserError, match="instruction sets"):
            run(suite, path)


def test_another_suite_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    (tmp_path / "other").mkdir()
    run(make_suite(tmp_path, [make_case()]), path)
    with pytest.raises(UserError, match="suite: "):
        run(make_suite(tmp_path / "other", [make_case(seed=1)]), path)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "number",
    [
        signal.SIGKILL,
        *(pytest.param(one, marks=pytest.mark.nightly) for one in (signal.SIGTERM, signal.SIGINT)),
    ],
)
def test_a_harness_that_is_killed_again_and_again_loses_nothing(tmp_path: Path, number: int) -> None:
    cases = [make_case("nap", seed=each) for each in range(24)]
    suite, path, marker = make_suite(tmp_path, cases), tmp_path / "run.jsonl", uuid.uuid4().hex
    command = [sys.executable, "-c", "from opcert.commands import main; main()", "run", echo_runtime(marker),
               "-s", str(suite), "-o", str(path), "--resume", "-j", "2"]  # fmt: skip
    rows = 0
    for _ in range(2):
        process = subprocess.Popen(
            command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, preexec_fn=heed_signals
        )
        end, wanted = time.monotonic() + 20, rows + 5
        while time.monotonic() < end and (not path.exists() or path.read_bytes().count(b"\n") < wanted):
            time.sleep(0.01)
        process.send_signal(number)
        process.wait(timeout=10)
        for left in find_processes(marker):
            with contextlib.suppress(ProcessLookupError):
                os.kill(left, signal.SIGKILL)
        now = len(read_record(path).results)
        assert now >= rows
        rows = now
    assert rows >= 8
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0
    record = read_record(path)
    assert not record.partial
    assert len(record.results) == len({result.case for result in record.results}) == 24
    assert record.counts["pass"] == 24
    assert len(record.header["resumed"]) == 2
