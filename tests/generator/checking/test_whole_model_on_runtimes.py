"""Whole models on runtimes that ship: what is known to be right is right, and an approximation is found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from conformance.checked_models.model_reading import read_model
from conformance.runtimes.runtimes import find_runtime
from generator.models.check.whole_model import InputSource, NumberLimits, check_numbers
from tests.conformance.checked_models.hand_made import given, graph_of, model_of

node = helper.make_node


@pytest.mark.slow
@pytest.mark.parametrize(
    "runtime",
    [pytest.param(each, marks=pytest.mark.runtimes(each)) for each in ("onnxruntime", "onnx", "openvino")],
)
def test_a_model_with_a_branch_is_right(runtime: str, tmp_path: Path) -> None:
    then = graph_of([node("Mul", ["m", "k"], ["t"]), node("Relu", ["t"], ["a"])], ["a"])
    other = graph_of([node("Neg", ["m"], ["b"])], ["b"])
    weights = numpy_helper.from_array(
        np.random.default_rng(3).standard_normal((4, 3)).astype(np.float32), "w"
    )
    graph = graph_of(
        [
            node("MatMul", ["x", "w"], ["m"]),
            node("If", ["c"], ["i"], then_branch=then, else_branch=other),
            node("Add", ["i", "m"], ["y"]),
        ],
        ["y"],
        [given("x"), given("c", (), TensorProto.BOOL)],
        [weights, numpy_helper.from_array(np.array([2, 3, 4], np.float32), "k")],
    )
    path = tmp_path / "model.onnx"
    path.write_bytes(model_of(graph).SerializeToString())
    facts = read_model(path)
    found = check_numbers(facts, path, find_runtime(runtime), InputSource(), NumberLimits(), lambda _: None)
    assert found.how == "whole"
    assert {each.verdict for each in found.nodes if each.why is None} == {"right"}
    assert set(found.passed_over) <= {"inside"}
    assert sum(each.verdict == "right" for each in found.nodes) in (3, 4)
