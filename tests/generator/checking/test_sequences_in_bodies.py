"""Loops and branches that carry, take and give sequences and optionals, as exporters write them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto
from onnx.checker import check_model
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator

from conformance.checked_models.model_reading import read_model
from conformance.models.case_models import build_model
from conformance.suite.cases import Case
from generator.models.check.making import cases_of_call
from tests.generator.checking.faulty_runtime import FaultyRuntime
from tests.generator.checking.test_bodies_of_models import given_to
from tests.generator.checking.test_whole_outputs import run
from tests.generator.neighbours.fused_programs import passes

TENSOR_LIST = """
<ir_version: 8, opset_import: ["" : 17]>
main (float[4, 3] x) => (float[4, 3] y, float[3] last)
<int64 n = {4}, bool go = {1}, float two = {2}, float[3] zero = {0, 0, 0}>
{
    empty = SequenceEmpty ()
    last, list = Loop (n, go, zero, empty) <
        body = b (int64 i, bool c, float[3] sum, seq(float) before) =>
            (bool d, float[3] added, seq(float) behind) {
            d = Identity (c)
            row = Gather <axis = 0> (x, i)
            twice = Mul (row, two)
            added = Add (sum, twice)
            behind = SequenceInsert (before, added)
        }
    >
    y = ConcatFromSequence <axis = 0, new_axis = 1> (list)
}
"""
"""A sum along the first axis, each part of it kept: what tf2onnx makes of a TensorList."""

PARTS = """
<ir_version: 8, opset_import: ["" : 17]>
main (float[3, 2, 2] x) => (float[2, 2] y)
<bool go = {1}, float[2, 2] eye = {1, 0, 0, 1}>
{
    parts = SplitToSequence <axis = 0, keepdims = 0> (x)
    n = SequenceLength (parts)
    y = Loop (n, go, eye) <body = b (int64 i, bool c, float[2, 2] s) => (bool d, float[2, 2] t) {
        d = Identity (c)
        part = SequenceAt (parts, i)
        t = MatMul (s, part)
    }>
}
"""
"""A loop over the elements of a list, as PyTorch's exporter writes it."""

NESTED = """
<ir_version: 8, opset_import: ["" : 17]>
main (float[4, 3] x, float[3] first) => (float[N] y, float[4, 3] z)
<int64 n = {4}, bool go = {1}, float[3] zero = {0, 0, 0}, int64 two = {2}, int64 none = {0}>
{
    start = SequenceConstruct (first)
    list, z = Loop (n, go, start) <
        body = o (int64 i, bool c, seq(float[3]) before) => (bool d, seq(float[3]) behind, float[3] sum) {
            d = Identity (c)
            row = Gather <axis = 0> (x, i)
            length = SequenceLength (before)
            sum = Loop (length, go, zero) <
                body = e (int64 j, bool f, float[3] s) => (bool g, float[3] t) {
                    g = Identity (f)
                    each = SequenceAt (before, j)
                    t = Add (s, each)
                }
            >
            short = Less (length, two)
            behind = If (short) <
                then_branch = p () => (seq(float[3]) longer) { longer = SequenceInsert (before, row) },
                else_branch = q () => (seq(float[3]) same) {
                    shorter = SequenceErase (before, none)
                    same = SequenceInsert (shorter, row)
                }
            >
        }
    >
    y = ConcatFromSequence <axis = 0> (list)
}
"""
"""A window of two rows that a loop carries, summed by a loop in it."""

HELD = """
<ir_version: 8, opset_import: ["" : 17]>
main (float[3] x, bool c) => (float[3] y)
{
    held = Optional (x)
    y = If (c) <
        then_branch = t () => (float[3] u) { k = OptionalGetElement (held) u = Relu (k) },
        else_branch = e () => (float[3] v) { v = Neg (x) }
    >
}
"""


@pytest.mark.parametrize(
    ("text", "op_type", "depth", "least"),
    [
        pytest.param(TENSOR_LIST, "Loop", 0, 5, id="carried"),
        pytest.param(PARTS, "Loop", 0, 5, id="captured"),
        pytest.param(NESTED, "Loop", 0, 5, id="carried by the outer"),
        pytest.param(NESTED, "Loop", 1, 5, id="captured by the inner"),
        pytest.param(NESTED, "If", 1, 4, id="captured and given by branches"),
        pytest.param(HELD, "If", 0, 4, id="an optional"),
    ],
)
def test_cases_of_a_node_with_bodies_hold_its_sequences(
    text: str, op_type: str, depth: int, least: int, tmp_path: Path
) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(parse_model(text).SerializeToString())
    calls = read_model(path, seconds=60).calls
    found = next(
        one for one in calls if (one.first.op_type, one.first.place.count("/") // 2) == (op_type, depth)
    )
    made = cases_of_call(found, 12)
    assert made.not_covered is None
    assert len(made.cases) >= least
    noticed, shapes = 0, set()
    for case in made.cases:
        model = ModelProto.FromString(case.model or build_model(case))
        check_model(model, full_check=True)
        given = given_to(case)
        shapes.add(tuple(value.shape for value in given.values()))
        if not _is_finite(case):
            continue
        evaluator = ReferenceEvaluator(model)
        assert passes(case, *evaluator.run(None, given))
        floats = [name for name, value in given.items() if value.dtype.kind == "f" and value.size]
        other = {name: value + np.float32(1) if name in floats else value for name, value in given.items()}
        noticed += bool(floats) and not passes(case, *evaluator.run(None, other))
    assert noticed >= 2
    assert len(shapes) > (text != HELD)


def _is_finite(case: Case) -> bool:
    return all(np.isfinite(value).all() for value in given_to(case).values() if value.dtype.kind == "f")


@pytest.mark.parametrize("text", [TENSOR_LIST, PARTS, NESTED])
def test_whole_models_with_sequences_in_bodies_are_answered(text: str, tmp_path: Path) -> None:
    right = run(parse_model(text), FaultyRuntime().ask, tmp_path)
    assert {output.verdict for output in right.outputs} == {"right"}


def test_values_that_do_not_go_together_in_a_body_make_no_case(tmp_path: Path) -> None:
    """A matrix and a vector of another length: the reference would broadcast, and MatMul's rule refuses."""
    path = tmp_path / "model.onnx"
    path.write_bytes(parse_model(PARTS).SerializeToString())
    (found,) = (one for one in read_model(path, seconds=60).calls if one.first.op_type == "Loop")
    for case in cases_of_call(found, 20).cases:
        parts = [tensor for name, tensor in case.inputs if tensor is not None and "around" in name]
        assert all(len(part.shape) >= 1 and part.shape[-2:][0] == 2 for part in parts)
