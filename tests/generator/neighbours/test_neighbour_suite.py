"""The suite of neighbours as a whole: the same every time, and right in its models."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from conformance.suite.suites import open_suite
from generator.models.neighbours.neighbour_suite import neighbour_cases, write_neighbours
from tests.conftest import REPOSITORY
from tests.generator.neighbours.fused_programs import passes

pytestmark = pytest.mark.slow
LEAST = 800
KNOWN_OF_THE_EVALUATOR = {"conv_transpose_bn", "pad_conv", "pad_pad", "quantised_max_pool"}
"""What onnx.reference is known to do wrong: groups of ConvTranspose, negative pads, uneven pads of a pool."""


def test_it_is_written_the_same_twice_and_reads_back(tmp_path: Path) -> None:
    first = write_neighbours(tmp_path / "first")
    assert write_neighbours(tmp_path / "second.zip") == first
    with open_suite(tmp_path / "first") as suite:
        cases = list(suite.cases())
    assert len(cases) >= LEAST
    page = (REPOSITORY / "docs/your-runtime.md").read_text(encoding="utf-8")
    assert f"# {len(cases)} cases" in page
    lengths = [len(onnx.ModelProto.FromString(each.model).graph.node) for each in cases if each.model]
    assert (min(lengths), max(lengths)) == (2, 13), "the page says two to thirteen nodes"
    assert {each.family for each in cases} == {"pair"}
    assert all(each.rule and each.levels["producer"] for each in cases)


@pytest.mark.nightly
def test_an_evaluator_without_optimisation_is_right() -> None:
    wrong = set()
    for case in neighbour_cases(21):
        assert case.model is not None
        model = onnx.ModelProto.FromString(case.model)
        onnx.checker.check_model(model, full_check=True)
        given = {name: np.asarray(each.array) for name, each in case.inputs if each is not None}
        try:
            with np.errstate(all="ignore"):
                answers = ReferenceEvaluator(model).run(None, given)
        except (RuntimeError, ValueError):
            wrong.add(case.id.word)
            continue
        shapes = [output.expected.shape for output in case.expectations[0].outputs]
        if [np.shape(answer) for answer in answers] != shapes or not passes(case, *answers):
            wrong.add(case.id.word)
    assert wrong <= KNOWN_OF_THE_EVALUATOR
