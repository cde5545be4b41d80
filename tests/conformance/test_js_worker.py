"""The worker in JavaScript, with a package that misbehaves in the place of ONNX Runtime's."""

from __future__ import annotations

import io
import shutil
import subprocess
from typing import Any

import numpy as np
import pytest

from conformance.processes.worker_limits import Limits
from conformance.recording.rows import Result
from conformance.running.harness import run_suite
from conformance.running.run_options import RunOptions
from conformance.runtimes.adapter import WORKERS
from conformance.runtimes.runtimes import Runtime, find_runtime
from conformance.suite.suites import open_suite
from conformance.workers.worker_protocol import read_frame
from opcert.vocabulary.tensors import tensor
from tests.conformance.samples import FAKES, IDENTITY, make_case, make_suite

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is absent")

DEEDS = {
    "answers": 0,
    "traps": 1,
    "leaves": 2,
    "segfaults": 3,
    "hangs": 4,
    "prints": 5,
    "throws": 6,
    "throws text": 7,
    "reads": 8,
    "returns no tensor": 9,
    "returns nothing": 10,
}


def _runtime() -> Runtime:
    worker, package = WORKERS / "onnxruntime_js_worker.mjs", FAKES / "fake_ort" / "package.json"
    return find_runtime(f"exec:node {worker} {package}")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Result]:
    """What came of each deed, all of them in one run."""
    folder = tmp_path_factory.mktemp("js")
    cases = {
        name: make_case(given=tensor(np.array([deed, 0.5], np.float32)), operator=IDENTITY)
        for name, deed in DEEDS.items()
    }
    suite = open_suite(make_suite(folder, cases.values()))
    options = RunOptions(limits=Limits(case_seconds=1.0))
    record = run_suite(suite, _runtime(), folder / "run.jsonl", options)
    assert record.header["runtime"]["name"] == "fake-ort"
    assert record.header["runtime"]["version"] == "0.0.7"
    found = {result.case: result for result in record.results}
    return {name: found[str(case.id)] for name, case in cases.items()}


@pytest.mark.slow
def test_each_deed_has_its_verdict_and_costs_one_case(results: dict[str, Result]) -> None:
    assert {name: result.verdict for name, result in results.items()} == {
        "answers": "pass",
        "traps": "crash",
        "leaves": "crash",
        "segfaults": "crash",
        "hangs": "timeout",
        "prints": "pass",
        "throws": "rejected_valid",
        "throws text": "rejected_valid",
        "reads": "pass",
        "returns no tensor": "mismatch",
        "returns nothing": "mismatch",
    }


def test_a_trap_ends_the_worker_and_is_told(results: dict[str, Result]) -> None:
    # What WebAssembly left of its memory could answer anything.
    assert results["traps"].status == 3
    assert "RuntimeError: unreachable" in (results["traps"].stderr or "")
    assert results["segfaults"].signal == "SIGSEGV"


def test_refusals_carry_the_packages_own_words(results: dict[str, Result]) -> None:
    assert (results["throws"].error, results["throws"].message) == ("TypeError", "no such kernel")
    assert results["throws text"].message == "a string"


def _ask_raw(raw: bytes) -> tuple[dict[str, Any], int]:
    """The header of a worker's only answer to bytes and the end of its input, and its exit code."""
    finished = subprocess.run(_runtime().command, input=raw, capture_output=True, check=False, timeout=30)
    answers = io.BytesIO(finished.stdout)
    frame = read_frame(answers)
    assert frame is not None
    assert not answers.read()
    return frame[0], finished.returncode


def _prefixed(text: bytes) -> bytes:
    return len(text).to_bytes(4, "little") + text


@pytest.mark.parametrize(
    "raw",
    [
        _prefixed(b"nope"),
        _prefixed(b"[]"),
        _prefixed(b'{"blobs":[-1]}'),
        _prefixed(b'{"blobs":[9e15]}'),
        _prefixed(b'{"blobs":[1000]}') + b"ab",
        _prefixed(b'{"type":"hello"}')[:-1],
        b"\xff\xff\xff\xff",
        b"\x10\0",
    ],
)
def test_what_is_no_frame_is_answered_and_ends_the_worker(raw: bytes) -> None:
    header, code = _ask_raw(raw)
    assert (header["id"], header["class"], header["kind"], code) == (None, "internal", "BrokenFrame", 3)


@pytest.mark.parametrize(
    ("request_without_sense", "said"),
    [
        (b'{"type":"run","id":5}', "no hello yet"),
        (b'{"type":"hello","id":5,"protocol":2}', "protocol 2 is not spoken here"),
        (b'{"type":"constructor","id":5}', "unknown request type"),
        (b'{"type":["hello"],"id":5}', "unknown request type"),
        (b'{"id":5}', "unknown request type"),
    ],
)
def test_a_request_without_sense_is_an_internal_error(request_without_sense: bytes, said: str) -> None:
    header, code = _ask_raw(_prefixed(request_without_sense))
    assert (header["id"], header["class"], code) == (5, "internal", 0)
    assert said in header["message"]
