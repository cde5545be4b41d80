"""Records: their schemas, their outputs, and what a run that was ended from outside leaves behind."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.judging.responses import Answered, ReturnedOther
from conformance.judging.verdicts import FAILING, VERDICTS, Verdict
from conformance.recording import outputs
from conformance.recording.outputs import OutputStore, outputs_folder, restore_output
from conformance.recording.records import RecordWriter, read_record
from conformance.recording.rows import Result, case_verdicts, count_verdicts, ran
from conformance.running.harness import run_suite
from conformance.running.run_options import RunOptions
from conformance.runtimes.runtimes import find_runtime
from conformance.schemas import load_schema
from conformance.suite.canonical import canonical_json, plain
from conformance.suite.suites import open_suite
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.tensors import Tensor, tensor
from tests.commands.command_line import heed_signals
from tests.conformance.samples import echo_runtime, expect, find_processes, make_case, make_suite, sample
from tests.conformance.test_harness import LIMITS, run
from tests.conformance.test_suites import tensors

HEADER: dict[str, Any] = {"suite": "0" * 64, "runtime": {}, "platform": {}, "options": {}, "started": "now"}


def row(case: str, verdict: Verdict = "pass", form: str = "inputs", repeat: int = 0) -> Result:
    return Result(case, "org.example::Echo-1", "cover", "float", form, repeat, verdict)


@pytest.mark.slow
def test_every_line_of_a_record_and_the_manifest_fit_their_schemas(tmp_path: Path) -> None:
    deeds = ("echo", "zero", "text", "double", "raise", "unsupported", "SIGSEGV", "sleep", "twice", "exit3")
    cases = [make_case(deed, seed=1) for deed in deeds]
    big = tensor(np.zeros(5000, dtype=np.float32))
    cases.append(
        make_case("echo", given=tensor(np.ones(5000, dtype=np.float32)), expectations=(expect(big),))
    )
    cases.append(make_case("raise", seed=2, family="invalid", demand="refuse", valid_case=cases[0]))
    cases.append(make_case("echo", seed=2, expectations=(expect(sample(2), np.ones((2, 3)), tie="up"),)))
    record = run(tmp_path, cases, max_failures=9)
    manifest = json.loads((tmp_path / "suite" / "manifest.json").read_text())
    jsonschema.validate(manifest, load_schema("manifest"))
    lines = [json.loads(line) for line in record.path.read_text().splitlines()]
    for line in lines:
        jsonschema.validate(line, load_schema(line["type"]))
    assert len(lines) == len(cases) + 2
    assert {"pass", "mismatch", "rejected_valid", "unsupported", "crash", "timeout"} <= {
        result.verdict for result in record.results
    }


def test_outputs_come_back_as_they_were(tmp_path: Path) -> None:
    given = tensor(np.arange(5000, dtype=np.float32))
    wanted = (expect(tensor(given.array + 1), way="a"), expect(given, way="b"))
    cases = [
        make_case("echo", given=given, expectations=wanted),
        make_case("zero", given=given),
        make_case("zero", seed=4),
        make_case("text", seed=4),
    ]
    record = run(tmp_path, cases)
    found: dict[str, Any] = {}
    with open_suite(tmp_path / "suite") as suite:
        for result in record.results:
            (entry,) = result.outputs
            restored = restore_output(entry, 0, suite.case(result.case), record.path)
            found[result.levels["do"] + str(result.elements)] = (entry, restored)
    entry, restored = found["echo5000"]
    assert (entry, restored) == ("golden:1", given)
    entry, restored = found["zero5000"]
    assert entry["file"] == f"{entry['sha256']}.bin"
    assert restored == tensor(np.zeros(5000, dtype=np.float32))
    entry, restored = found["zero6"]
    assert "data" in entry
    assert restored == tensor(np.zeros((2, 3), dtype=np.float32))
    assert found["textNone"][1] == ReturnedOther("str", "'not a tensor'")
    next(outputs_folder(record.path).iterdir()).write_bytes(b"other")
    big = next(result for result in record.results if "file" in result.outputs[0])
    with open_suite(tmp_path / "suite") as suite, pytest.raises(UserError, match="damaged"):
        restore_output(big.outputs[0], 0, suite.case(big.case), record.path)


def test_a_file_name_in_a_record_leads_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"\0\0\0\0")
    entry = {"element_type": "float", "shape": [1], "sha256": "0" * 64, "file": "../secret"}
    with pytest.raises(UserError, match="the file name"):
        restore_output(entry, 0, make_case(), tmp_path / "run.jsonl")


@given(tensors())
def test_any_output_survives_the_record(output: Tensor) -> None:
    entry = OutputStore(Path("nowhere") / "run.jsonl").keep(output, None)
    assert restore_output(json.loads(canonical_json(entry)), 0, make_case(), Path("run.jsonl")) == output


def test_a_new_run_removes_the_outputs_of_the_old_one_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    store = OutputStore(path)
    store.keep(tensor(np.zeros(5000)), None)
    (outputs_folder(path) / "notes.txt").write_text("mine")
    RecordWriter(path, HEADER).close()
    assert [each.name for each in outputs_folder(path).iterdir()] == ["notes.txt"]


def test_rows_are_put_into_suite_order_when_a_record_is_finished(tmp_path: Path) -> None:
    writer = RecordWriter(tmp_path / "run.jsonl", HEADER)
    for position in (2, 0, 1):
        writer.append(row(f"case{position}"), (position, 0, 0))
    assert [result.case for result in read_record(writer.path).results] == ["case2", "case0", "case1"]
    writer.finish(count_verdicts(["pass"] * 3), [])
    record = read_record(writer.path)
    assert [result.case for result in record.results] == ["case0", "case1", "case2"]
    assert not record.partial
    assert [path.name for path in tmp_path.iterdir()] == ["run.jsonl"]


def test_a_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    writer = RecordWriter(tmp_path / "run.jsonl", HEADER)
    for position in range(2):
        writer.append(row(f"case{position}"), (position, 0, 0))
    writer.close()
    raw = writer.path.read_bytes()
    writer.path.write_bytes(raw[:-5])
    record = read_record(writer.path)
    assert record.partial
    assert [result.case for result in record.results] == ["case0"]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (b'"pass"', b'"crash"', "digest"),
        (b'"rows":2', b'"rows":3', "2 results, and the footer counts 3"),
        (b'"pass":2', b'"pass":1', "counts are not those"),
        (b"opcert-run/1", b"opcert-run/9", "not a record"),
        (b'{"behaviour"', b'"behaviour"', "damaged"),
    ],
)
def test_a_record_that_was_changed_is_noticed(
    tmp_path: Path, before: bytes, after: bytes, words: str
) -> None:
    writer = RecordWriter(tmp_path / "run.jsonl", HEADER)
    for position in range(2):
        writer.append(row(f"case{position}"), (position, 0, 0))
    writer.finish(count_verdicts(["pass"] * 2), [])
    raw = writer.path.read_bytes()
    assert before in raw
    writer.path.write_bytes(raw.replace(before, after, 1))
    with pytest.raises(UserError, match=words):
        read_record(writer.path)


def test_what_is_no_record_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        read_record(tmp_path / "nowhere.jsonl")
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(UserError, match="not a record"):
        read_record(tmp_path / "empty")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\n")
    with pytest.raises(UserError, match="damaged"):
        read_record(tmp_path / "binary")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_run_that_is_ended_from_outside_leaves_a_partial_record(
    tmp_path: Path, number: int, jobs: str
) -> None:
    cases = [make_case(seed=each) for each in range(3)] + [make_case("sleep", family="survival")]
    suite, output = make_suite(tmp_path, cases), tmp_path / "run.jsonl"
    marker = uuid.uuid4().hex
    command = [sys.executable, "-c", "from opcert.commands import main; main()", "run", echo_runtime(marker)]
    (tmp_path / "temporary").mkdir()
    process = subprocess.Popen(
        [*command, "-s", str(suite), "-o", str(output), "-j", jobs],
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(tmp_path / "temporary")},
        preexec_fn=heed_signals,
    )
    end = time.monotonic() + 20
    while time.monotonic() < end and (not output.exists() or output.read_bytes().count(b"\n") < 4):
        time.sleep(0.02)
    process.send_signal(number)
    expected = -number if number == signal.SIGKILL else 130
    assert process.wait(timeout=10) == expected
    record = read_record(output)
    assert record.partial
    assert [result.verdict for result in record.results] == ["pass"] * 3
    if number != signal.SIGKILL:
        assert not find_processes(marker)
        assert not list((tmp_path / "temporary").iterdir())
    for left in find_processes(marker):
        with contextlib.suppress(ProcessLookupError):  # it may end by itself meanwhile
            os.kill(left, signal.SIGKILL)


def test_outputs_beyond_a_records_room_are_digests_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outputs, "TOTAL_BYTES", 60)
    cases = [make_case("echo", seed=each, expectations=(expect(sample(each + 1)),)) for each in range(4)]
    lines = run(tmp_path, cases).path.read_bytes().splitlines()
    assert sum(b"sha256" in line for line in lines) == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_record_is_not_written_to_a_device(tmp_path: Path) -> None:
    (tmp_path / "run.jsonl").symlink_to("/dev/full")
    with (
        open_suite(make_suite(tmp_path, [make_case()])) as suite,
        pytest.raises(UserError, match="got a device"),
    ):
        run_suite(suite, find_runtime(echo_runtime()), tmp_path / "run.jsonl", RunOptions(limits=LIMITS))


verdicts = st.sampled_from(VERDICTS)


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.sampled_from(["inputs", "dynamic"]), st.integers(0, 2), verdicts)
    )
)
def test_each_case_has_exactly_one_verdict_and_counts_add_up(
    rows: list[tuple[int, str, int, Verdict]],
) -> None:
    results = [row(f"case{case}", verdict, form, repeat) for case, form, repeat, verdict in rows]
    found = case_verdicts(results)
    counts = count_verdicts(found.values())
    assert sum(counts.values()) == len({result.case for result in results})
    assert set(counts) == set(VERDICTS)
    for case, verdict in found.items():
        of_case = [result.verdict for result in results if result.case == case]
        assert verdict in of_case
        assert verdict in FAILING or verdict == "harness_error" or not set(FAILING) & set(of_case)
        if verdict == "pass":
            assert set(of_case) == {"pass"}
    assert 0 <= ran(counts) <= sum(counts.values())
    assert found == case_verdicts(reversed(results)) or set(found) == set(case_verdicts(reversed(results)))


@given(
    st.recursive(
        st.none() | st.floats() | st.text() | st.integers(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=8,
    )
)
def test_canonical_json_is_read_back_as_what_json_can_hold(value: Any) -> None:
    raw = canonical_json(value)
    assert json.loads(raw) == plain(value)
    assert canonical_json(json.loads(raw)) == raw


def test_a_result_survives_its_line() -> None:
    before = replace(row("case"), readings={"tie": ("up", "down")}, worst={"ratio": 2.0}, wrong=0, status=0)
    assert Result.from_json(json.loads(canonical_json(before.to_json()))) == before
    assert Answered(()).seconds == 0.0
