"""The examples of docs/examples: a runtime that is one worker file, and one that is one adapter file."""

from __future__ import annotations

import runpy
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from conformance.recording.records import Record
from conformance.running.harness import run_suite
from conformance.runtimes.adapter import WORKERS, Adapter
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.cases import Case, Expectation, ExpectedOutput
from conformance.suite.suites import open_suite
from opcert.vocabulary.tensors import Tensor, tensor
from tests.conformance.conversation import make_case
from tests.conformance.runtime_checks import assert_moved_unharmed, converse, numbers, rule_of
from tests.conformance.samples import IDENTITY, make_suite
from tests.conformance.samples import make_case as make_sample

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


def _crop(data: Tensor, wanted: list[int], expected: Tensor, axes: list[int] | None = None) -> Case:
    inputs = [("input_data", data), ("shape", tensor(wanted))]
    case = make_case("ai.onnx::CenterCropPad-18", inputs, None if axes is None else {"axes": ("ints", axes)})
    return replace(case, expectations=(Expectation((ExpectedOutput("Y", expected),)),))


CALLS = (
    _crop(tensor([[1, 2, 3], [4, 5, 6]]), [1, 5], tensor([[0, 1, 2, 3, 0]])),
    _crop(tensor([1, 2, 3, 4]), [3], tensor([1, 2, 3])),
    _crop(tensor([[1, 2]]), [3], tensor([[1, 2, 0]]), axes=[-1]),
    _crop(numbers((4,), "bfloat16"), [4], numbers((4,), "bfloat16")),
    _crop(numbers((3,), "string"), [3], numbers((3,), "string")),
    _crop(tensor([[1, 2]]), [3], tensor([[1, 2]]), axes=[5]),
)
"""Calls with their answers; the last has no such axis."""


def run_example(folder: Path, python: str = sys.executable) -> Record:
    """The calls on the worker of one file, copied as its first lines say."""
    for path in (*WORKERS.glob("w*.py"), EXAMPLES / "numpy_worker.py"):
        shutil.copy(path, folder)
    runtime = find_runtime(f"exec:{python} {folder / 'numpy_worker.py'}")
    foreign = make_sample(operator=IDENTITY)
    suite = open_suite(make_suite(folder, (*CALLS, foreign)))
    return run_suite(suite, runtime, folder / "run.jsonl")


def test_a_runtime_of_one_worker_file_answers(tmp_path: Path) -> None:
    record = run_example(tmp_path)
    found = {result.case: result.verdict for result in record.results}
    verdicts = [found.pop(str(call.id)) for call in CALLS]
    assert verdicts == ["pass"] * 5 + ["rejected_valid"]
    assert list(found.values()) == ["unsupported"]
    assert record.header["runtime"]["name"] == "numpy"


@pytest.fixture(scope="module")
def one_file() -> Adapter:
    adapter: Adapter = runpy.run_path(str(EXAMPLES / "onnxruntime_backend.py"))["ADAPTER"]
    return adapter


@pytest.mark.runtimes("onnxruntime")
def test_a_runtime_of_one_adapter_file_answers(one_file: Adapter) -> None:
    scales = ("scales", tensor(np.array([1, 1], np.float32)))
    lacking = make_case("ai.onnx::Resize-18", [("X", numbers((2, 2), "int16")), ("roi", None), scales])
    with converse(one_file, backend=one_file.options["backend"][0]) as conversation:
        assert_moved_unharmed(conversation, make_case("ai.onnx::Identity-16", [("X", numbers((3, 7)))]))
        assert rule_of(one_file, conversation, lacking) is one_file.unsupported[0]


def test_the_guide_shows_the_adapter_as_it_is() -> None:
    shown = (EXAMPLES.parents[1] / "CONTRIBUTING.md").read_text("utf-8")
    adapter = (EXAMPLES / "onnxruntime_backend.py").read_text("utf-8")
    assert "".join(f"    {line}".rstrip() + "\n" for line in adapter.splitlines()) in shown
