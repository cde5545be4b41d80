"""Every built-in runtime through the harness: its own environment, its worker, three cases."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from conformance.running.harness import run_suite
from conformance.runtimes.runtimes import find_runtime, list_runtimes
from conformance.suite.cases import Case, Expectation, ExpectedOutput
from conformance.suite.suites import open_suite
from opcert.vocabulary.tensors import tensor
from tests.conformance import conversation
from tests.conformance.samples import IDENTITY, make_case, make_suite


def _batches() -> Case:
    blocks = tensor(np.arange(4, dtype=np.float32).reshape(4, 1, 1, 1))
    inputs = [("input", blocks), ("block_shape", tensor([2, 2])), ("crops", tensor([[0, 0], [0, 0]]))]
    found = conversation.make_case("org.tensorflow::BatchToSpaceND-1", inputs)
    whole = ExpectedOutput("output", tensor(blocks.array.reshape(1, 2, 2, 1)))
    return replace(found, expectations=(Expectation((whole,)),))


UNKNOWN = conversation.make_case("com.microsoft::Frobnicate-1", [("X", tensor([1.0]))])
ASKED = {"Identity": make_case(operator=IDENTITY), "BatchToSpaceND": _batches(), "Frobnicate": UNKNOWN}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(runtime, marks=pytest.mark.runtimes(runtime)) for runtime in list_runtimes()]
)
def test_a_built_in_runtime_runs(tmp_path: Path, name: str) -> None:
    suite = open_suite(make_suite(tmp_path, ASKED.values()))
    record = run_suite(suite, find_runtime(name), tmp_path / "run.jsonl")
    verdicts = {
        result.operator.partition("::")[2].partition("-")[0]: result.verdict for result in record.results
    }
    answers = "BatchToSpaceND" if name == "tensorflow" else "Identity"
    assert verdicts == {**dict.fromkeys(ASKED, "unsupported"), answers: "pass"}
    assert record.header["runtime"]["name"] == name
    assert record.header["runtime"]["environment"]["packages"]
