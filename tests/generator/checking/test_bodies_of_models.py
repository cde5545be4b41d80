"""Whole models with loops: the references run the bodies, which see what is around them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto
from onnx.parser import parse_model

from conformance.checked_models.model_reading import read_model
from generator.models.check.call_cases import Uncovered
from generator.models.check.node_calls import read_node
from tests.generator.checking.faulty_runtime import FaultyRuntime
from tests.generator.checking.test_whole_outputs import only, run, unseen

LOOP = """
<ir_version: 8, opset_import: ["" : 17, "some.domain" : 1]>
main (float[2, 4] x) => (float[2, 4] y)
<float[4, 4] w = {0.5, 0, 0, 1, 0, 0.25, 0, 0, 0, 1, 0.125, 0, 2, 0, 0, 0.5},
 int64 three = {3}, bool go = {1}>
{
    a = MatMul (x, w)
    y = Loop (three, go, a) <body = b (int64 i, bool c, float[2, 4] s) => (bool d, float[2, 4] t) {
        d = Identity (c)
        t = Loop (three, go, s) <body = e (int64 j, bool f, float[2, 4] u) => (bool g, float[2, 4] v) {
            g = Identity (f)
            p = Add (u, s)
            v = OPERATOR (p)
        }>
    }>
}
"""


def model(operator: str) -> ModelProto:
    return parse_model(LOOP.replace("OPERATOR", operator))


def test_bounds_go_through_the_bodies_of_a_model(tmp_path: Path) -> None:
    output, _ = only(run(model("Tanh"), FaultyRuntime().ask, tmp_path))
    assert (output.verdict, output.bounded) == ("right", 8), output
    far = unseen(lambda array: np.asarray(array + np.float32(0.001), np.float32))
    assert only(run(model("Tanh"), far, tmp_path))[0].verdict == "wrong"


def test_behind_an_operator_that_nothing_carries_nothing_is_known(tmp_path: Path) -> None:
    (output,) = run(model("Sin"), FaultyRuntime().ask, tmp_path).outputs
    assert output.verdict == "unknown"
    assert "Sin" in output.reason


def test_a_body_with_an_operator_without_a_reference_is_not_covered(tmp_path: Path) -> None:
    text = """
    <ir_version: 8, opset_import: ["" : 17, "some.domain" : 1]>
    main (bool c) => (float[1] y)
    {
        y = If (c) <
            then_branch = t () => (float[1] u) {
                k = Constant <value = float[1] {1}> () u = some.domain.Unheard (k)
            },
            else_branch = o () => (float[1] v) { v = Constant <value = float[1] {1}> () }
        >
    }
    """
    path = tmp_path / "model.onnx"
    path.write_bytes(parse_model(text).SerializeToString())
    (node,) = (node for node in read_model(path, seconds=0).nodes if node.op_type == "If")
    with pytest.raises(Uncovered, match="Unheard"):
        read_node(node)
