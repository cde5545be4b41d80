"""Workers that die, hang, answer nonsense or hold on to what is not theirs: each costs one case."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from conformance.processes.worker_limits import Limits
from conformance.recording.records import Record
from conformance.recording.rows import Result
from conformance.running.harness import run_suite
from conformance.running.run_options import RunOptions
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.cases import Case
from conformance.suite.suites import open_suite
from opcert.commands.run_summary import exit_code
from opcert.vocabulary.errors import ExitCode, RuntimeUnavailable
from tests.conformance.samples import echo_runtime, find_processes, make_case, make_suite

pytestmark = pytest.mark.slow

MARKER = uuid.uuid4().hex
LIMITS = Limits(start_seconds=20, case_seconds=1.5, resident_bytes=300 << 20, answer_bytes=64 << 20)

# For each fake what it does, the verdict that it must get, and a part of the reason.
DEEDS = {
    "echo_worker.py": {
        "ulp": ("mismatch", "elements wrong; worst Y["),
        "twice": ("mismatch", "2 outputs instead of 1"),
        "nothing": ("mismatch", "0 outputs instead of 1"),
        "text": ("mismatch", "no tensor but a str: 'not a tensor'"),
        "double": ("mismatch", "double instead of float"),
        "transposed": ("mismatch", "[3, 2] instead of [2, 3]"),
        "flat": ("mismatch", "[6] instead of [2, 3]"),
        "zero": ("mismatch", "6 of 6 elements wrong"),
        "raise": ("rejected_valid", "RuntimeError: shape inference failed"),
        "raise_unreadable": ("rejected_valid", "Unreadable: (the error has no readable message)"),
        "unsupported": ("unsupported", "no such kernel"),
        "stdout": ("pass", None),
        "stderr": ("pass", None),
        "SIGSEGV": ("crash", "SIGSEGV at run"),
        "SIGABRT": ("crash", "SIGABRT at run"),
        "SIGFPE": ("crash", "SIGFPE at run"),
        "SIGKILL": ("crash", "SIGKILL at run"),
        "SIGBUS": ("crash", "SIGBUS at run"),
        "load_segv": ("crash", "SIGSEGV at load"),
        "exit0": ("crash", "exited with status 0 at run"),
        "exit3": ("crash", "exited with status 3 at run"),
        "stderr_die": ("crash", "SIGABRT"),
        "child": ("crash", "exited with status 1"),
        "sleep": ("timeout", "no answer to run within 1.5 s"),
        "load_sleep": ("timeout", "no answer to load within 1.5 s"),
        "sleep_stubbornly": ("timeout", "no answer to run"),
        "slow": ("timeout", "no answer to run"),
        "wrong_id": ("crash", "broke the protocol with an answer to request 999999"),
        "no_id": ("crash", "broke the protocol with an answer to request None"),
        "garbage": ("crash", "broke the protocol with a header of 4294967295 bytes"),
        "half": ("crash", "exited with status 0"),
        "too_much": ("crash", "broke the protocol with an answer of 99999999999 bytes"),
        "remove_folder": ("pass", None),
    },
    "rogue_worker.py": {
        "native_hang": ("timeout", "no answer to run within 1.5 s"),
        "load_native_hang": ("timeout", "no answer to load within 1.5 s"),
        "stop": ("timeout", "no answer to run"),
        "dribble": ("timeout", "no answer to run"),
        "message_of_5_mb": ("rejected_valid", "KKKK"),
        "no_tensor_of_2_mb": ("mismatch", "no tensor but a TTTT"),
        "type_of_1_mb": ("crash", "broke the protocol with an answer to run of type 'yyyy"),
        "id_of_1_mb": ("crash", "broke the protocol with an answer to request '9999"),
        "outputs_of_200": ("crash", "broke the protocol with an answer of 200 outputs; at most 128"),
        "blobs_of_200": ("crash", "broke the protocol with a frame of 201 blobs; at most 128"),
        "blobs_without_end": ("crash", "broke the protocol with a frame of 4194305 blobs"),
        "negative_blob": ("crash", "broke the protocol with an output in blob -1, of 1"),
        "true_blob": ("crash", "broke the protocol with an output in blob True, of 2"),
        "blob_of_two": ("crash", "broke the protocol with an answer in which two outputs have one blob"),
        "huge_extents": ("crash", "broke the protocol with an output of shape [18446744073709551616, 0]"),
        "many_dimensions": ("crash", "broke the protocol with an output of shape [1, 1, 1"),
        "shape_of_1_mb": ("crash", "broke the protocol with an output of shape [1, 1, 1"),
        "strings_of_nothing": (
            "crash",
            "broke the protocol with an output of 1099511627776 strings",
        ),
        "strings_of_8_mb": ("crash", "broke the protocol with an output of 2097152 strings; at most"),
        "keys_twice": ("crash", "a header that is not JSON: the key 'type' stands twice"),
        "nan_literal": ("crash", "a header that is not JSON: NaN is no JSON"),
        "infinite_number": ("crash", "a header that is not JSON: 1e999 is greater than any number"),
        "nested_100_deep": ("crash", "a header that is not JSON: nested more than 64 deep"),
        "seconds_of_300_digits": ("mismatch", "0 outputs instead of 1"),
        "daemon": ("pass", None),
        "children": ("crash", "SIGSEGV at run"),
        "protocol_gigabyte": ("crash", "broke the protocol with a header of 1027423549 bytes"),
        "twice_answered": ("pass", None),
        "negative_shape": ("crash", "broke the protocol with an output of shape [-1, 6]"),
        "shape_of_others": ("crash", "broke the protocol with an output that cannot be read"),
        "endless_shape": ("crash", "broke the protocol with an output that cannot be read"),
        "shape_of_words": ("crash", "broke the protocol with an output"),
        "unknown_type": (
            "crash",
            "broke the protocol with an output that cannot be read: KeyError: 'float7'",
        ),
        "no_such_blob": ("crash", "broke the protocol with an output in blob 4, of 1"),
        "no_blob": ("crash", "broke the protocol with an output in blob None, of 1"),
        "not_json": ("crash", "broke the protocol with a header that is not JSON"),
        "deep_json": ("crash", "broke the protocol with a header that is not JSON"),
        "not_text": ("crash", "broke the protocol with a header that is not JSON"),
        "long_number": ("crash", "broke the protocol with a header that is not JSON"),
        "no_object": ("crash", "broke the protocol with a header that is no object"),
        "wrong_blobs": ("crash", "broke the protocol with a header that is no object, or whose blobs"),
        "too_large": ("crash", "broke the protocol with an answer of 83886080 bytes; at most 67108864"),
        "close_output": ("crash", "closed its output"),
        "lock_folders": ("pass", None),
    },
}
ALL = {do: expected for deeds in DEEDS.values() for do, expected in deeds.items()}


def run(
    folder: Path, cases: Sequence[Case], mode: str = MARKER, worker: str = "rogue_worker.py", **options: Any
) -> Record:
    settings = RunOptions(**{"limits": LIMITS, "max_deaths": 100, **options})
    with open_suite(make_suite(folder, cases)) as suite:
        return run_suite(suite, find_runtime(echo_runtime(mode, worker)), folder / "run.jsonl", settings)


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Record]:
    """A run of each fake in which every misdeed stands between two cases that must not suffer from it."""
    found = {}
    for worker, deeds in DEEDS.items():
        cases = [make_case(do, seed=1) for do in deeds]
        cases += [make_case("echo", seed=seed) for seed in range(len(deeds))]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("tempfile.tempdir", str(tmp_path_factory.mktemp("workers")))
            found[worker] = run(tmp_path_factory.mktemp("misdeeds"), cases, worker=worker, jobs=3)
            assert not list(tmp_path_factory.getbasetemp().glob("workers*/*"))
    return found


@pytest.fixture(scope="module")
def results(records: dict[str, Record]) -> dict[str, Result]:
    """The row of each misdeed."""
    return {row.levels["do"]: row for record in records.values() for row in record.results}


@pytest.mark.parametrize("do", ALL)
def test_a_misdeed_costs_its_own_case_and_has_its_reason(results: dict[str, Result], do: str) -> None:
    verdict, reason = ALL[do]
    found = results[do]
    assert found.verdict == verdict, found
    assert reason is None or reason in (found.reason or "")


def test_no_worker_s_words_make_a_row_long(records: dict[str, Record]) -> None:
    for record in records.values():
        lengths = {row.levels["do"]: len(row.to_line()) for row in record.results}
        assert max(lengths.values()) < 24_000, max(lengths, key=lambda length: lengths[length])


def test_a_message_that_was_cut_says_so(results: dict[str, Result]) -> None:
    message = results["message_of_5_mb"].message or ""
    assert len(message) == 4096
    assert message.startswith("begin xxx")
    assert " ... (cut, 5,242,890 characters) ... x" in message
    assert message.endswith("xxx end")
    assert len(results["message_of_5_mb"].error or "") == 1000


@pytest.mark.parametrize("worker", DEEDS)
def test_no_case_suffers_from_its_neighbour(records: dict[str, Record], worker: str) -> None:
    record = records[worker]
    echoes = [result.verdict for result in record.results if result.levels["do"] == "echo"]
    assert echoes == ["pass"] * len(DEEDS[worker])
    assert sum(record.counts.values()) == 2 * len(DEEDS[worker])
    assert exit_code(record) is ExitCode.DOES_NOT_HOLD


def test_misdeeds_that_are_over_with_their_case_are_no_faults(records: dict[str, Record]) -> None:
    assert records["echo_worker.py"].faults == ()


def test_a_second_answer_to_a_request_blames_no_case(records: dict[str, Record]) -> None:
    (fault,) = records["rogue_worker.py"].faults
    assert (fault["kind"], fault["count"]) == ("unload_crash", 1)
    assert "a second answer to request" in fault["reasons"][0]


def test_no_process_of_a_worker_is_left_behind(records: dict[str, Record]) -> None:
    assert records
    end = time.monotonic() + 20
    while find_processes(MARKER) and time.monotonic() < end:
        time.sleep(0.02)
    assert not find_processes(MARKER)


def test_a_crash_is_recorded_with_its_signal_and_the_last_lines(results: dict[str, Result]) -> None:
    assert results["SIGSEGV"].signal == "SIGSEGV"
    assert "about to die" in (results["SIGSEGV"].stderr or "")
    assert "the last line" in (results["stderr_die"].stderr or "")
    assert len(results["stderr_die"].stderr or "") < 4096
    assert results["exit3"].status == 3


def test_a_mismatch_says_where_and_how_far(results: dict[str, Result]) -> None:
    worst = results["zero"].worst
    assert worst is not None
    assert worst["index"] == [1, 2]
    assert (worst["got"], worst["expected"], worst["allowed"], worst["ratio"]) == (0.0, 5.125, None, None)
    assert results["zero"].pattern == "all elements are zero"
    assert results["transposed"].pattern == "the expected output with its axes in the order [1, 0]"


def test_the_memory_of_children_counts(tmp_path: Path) -> None:
    limits = Limits(case_seconds=60, resident_bytes=LIMITS.resident_bytes)
    record = run(tmp_path, [make_case("child_memory"), make_case("echo")], limits=limits)
    found = {result.levels["do"]: result for result in record.results}
    assert (found["child_memory"].verdict, found["echo"].verdict) == ("limit", "pass")
    assert "MiB of resident memory; the limit is 300 MiB" in (found["child_memory"].reason or "")


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_gigabyte_of_talk_is_heard_out(tmp_path: Path, stream: str) -> None:
    record = run(
        tmp_path, [make_case(f"{stream}_gigabyte"), make_case("echo")], limits=Limits(case_seconds=60)
    )
    assert [result.verdict for result in record.results] == ["pass", "pass"]
    assert not any(result.stderr for result in record.results)


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("native_hang", "did not start within 1 s"),
        ("memory", "MiB of resident memory; the limit is 300 MiB"),
        ("dies_at_start", "killed by SIGSEGV"),
    ],
)
def test_a_worker_that_never_starts(tmp_path: Path, mode: str, words: str) -> None:
    limits = Limits(start_seconds=20 if mode == "memory" else 1, resident_bytes=300 << 20)
    with pytest.raises(RuntimeUnavailable, match=words):
        run(tmp_path, [make_case()], mode, limits=limits)
    assert not (tmp_path / "run.jsonl").exists()


def test_a_runtime_that_dies_on_every_case_is_stopped_after_ten_restarts(tmp_path: Path) -> None:
    cases = [make_case(do, seed=each) for do in ("SIGSEGV", "exit0") for each in range(8)]
    record = run(tmp_path, cases, max_deaths=RunOptions().max_deaths)
    assert (record.counts["crash"], record.counts["not_run"]) == (10, 6)
    assert record.footer is not None
    assert record.footer["stopped"]["kind"] == "runtime_dies"
    assert "10 workers were lost in a row" in record.footer["stopped"]["reason"]
    assert exit_code(record) is ExitCode.RUNTIME_UNAVAILABLE
