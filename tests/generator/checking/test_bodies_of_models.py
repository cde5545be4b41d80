"""Whole models with loops: the references run the bodies, which see what is around them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto
from onnx.checker import check_model
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator

from conformance.checked_models.model_reading import read_model
from conformance.suite.cases import Case
from generator.models.check.call_cases import Uncovered
from generator.models.check.making import cases_of_call
from generator.models.check.node_calls import read_node
from tests.generator.checking.faulty_runtime import FaultyRuntime
from tests.generator.checking.test_whole_outputs import only, run, unseen
from tests.generator.neighbours.fused_programs import passes

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
    (found,) = (one for one in read_model(path, seconds=0).calls if one.first.op_type == "If")
    told = cases_of_call(found, 1).not_covered
    assert told is not None
    assert told.why == "no_reference"


AROUND = """
<ir_version: 8, opset_import: ["" : 17]>
main (float[N, 4] x, int64 n, bool c) => (float[N, 4] y, float[N, 4] z)
<float[4, 4] w = {0.5, 0, 0, 1, 0, 0.25, 0, 0, 0, 1, 0.125, 0, 2, 0, 0, 0.5}, bool go = {1}>
{
    y = Loop (n, go, x) <body = b (int64 i, bool cond, float[N, 4] s) => (bool d, float[N, 4] t) {
        d = Identity (cond)
        p = MatMul (s, w)
        t = If (c) <
            then_branch = e () => (float[N, 4] q) { q = Add (p, x) },
            else_branch = f () => (float[N, 4] r) { r = Sub (p, x) }
        >
    }>
    z = If (c) <
        then_branch = g () => (float[N, 4] u) { u = Relu (y) },
        else_branch = h () => (float[N, 4] v) { v = MatMul (y, w) }
    >
}
"""


@pytest.mark.parametrize(("op_type", "constant", "around"), [("Loop", 1, 2), ("If", 1, 1)])
def test_what_graphs_take_from_around_comes_with_the_run_of_a_case(
    op_type: str, constant: int, around: int, tmp_path: Path
) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(parse_model(AROUND).SerializeToString())
    calls = read_model(path, seconds=60).calls
    found = next(one for one in calls if (one.first.op_type, "/" in one.first.place) == (op_type, False))
    made = cases_of_call(found, 12)
    assert made.not_covered is None
    assert made.cases
    noticed = 0
    for case in made.cases:
        assert case.model is not None
        model = ModelProto.FromString(case.model)
        check_model(model, full_check=True)
        fed = [value.name for value in model.graph.input if value.name.startswith("around_")]
        held = [value.name for value in model.graph.initializer if value.name.startswith("around_")]
        assert (len(held), len(fed)) == (constant, around)
        given = given_to(case)
        if any(not np.isfinite(value).all() for value in given.values() if value.dtype.kind == "f"):
            continue
        evaluator = ReferenceEvaluator(model)
        assert passes(case, *evaluator.run(None, given))
        other = {name: value + value.dtype.type(1) if name in fed else value for name, value in given.items()}
        noticed += not passes(case, *evaluator.run(None, other))
    assert noticed


def given_to(case: Case) -> dict[str, np.ndarray]:
    return {name: np.asarray(tensor.array) for name, tensor in case.inputs if tensor is not None}


def test_nodes_of_a_run_are_judged_with_what_stood_around_them(tmp_path: Path) -> None:
    right = run(parse_model(AROUND), FaultyRuntime().ask, tmp_path)
    (node,) = (one for one in right.nodes if one.operator is not None and one.operator.name == "Loop")
    assert node.verdict == "right", (node.why, node.reason)
    faulty = FaultyRuntime(faults={"Loop": lambda array, _: np.asarray(array + np.float32(1), np.float32)})
    wrong = run(parse_model(AROUND), faulty.ask, tmp_path)
    (node,) = (one for one in wrong.nodes if one.operator is not None and one.operator.name == "Loop")
    assert node.verdict == "wrong"


COUNTED = """
<ir_version: 8, opset_import: ["" : 17]>
main (float[2, 4] x, int32 begin) => (int32 i, float[2, 4] y, float[1] z)
<int64 ever = {9223372036854775807}, bool go = {1}, int32 last = {6}, int32 one = {1}, float[1] w = {0.5}>
{
    i, y, z = Loop (ever, go, begin, x, w) <
        body = b (int64 n, bool c, int32 j, float[2, 4] s, float[1] v) =>
            (bool d, int32 k, float[2, 4] t, float[1] u) {
            k = Add (j, one)
            d = Less (k, last)
            t = Mul (s, v)
            u = Identity (v)
        }
    >
}
"""


def test_states_have_shapes_and_types_of_their_own_and_runs_no_end_but_the_condition(tmp_path: Path) -> None:
    path = tmp_path / "counted.onnx"
    path.write_bytes(parse_model(COUNTED).SerializeToString())
    (found,) = (one for one in read_model(path, seconds=60).calls if one.first.op_type == "Loop")
    made = cases_of_call(found, 4)
    assert made.not_covered is None
    for case in made.cases:
        types = [tensor.element_type.name for name, tensor in case.inputs if tensor and "v_initial" in name]
        assert "int32" in types
    node = run(parse_model(COUNTED), FaultyRuntime().ask, tmp_path).nodes[0]
    assert node.verdict == "right", (node.why, node.reason)


NEWER = """
<ir_version: 8, opset_import: ["" : 18]>
main (float[4] x) => (float[4] y)
<int64 most = {9}, bool go = {1}>
{
    y = Loop (most, go, x) <
        body = b (int64 i, bool c, float[4] s) => (bool d, float[4] t)
        <float one = {1}, float half = {0.5}, int64[1] axes = {0}> {
            t = Mul (s, half)
            greatest = ReduceMax <keepdims = 0> (t, axes)
            d = Greater (greatest, one)
        }
    >
}
"""
"""A body of opset 18, whose ReduceMax is another than that of opset 16, where Loop is the same."""


def test_a_body_of_a_newer_opset_than_its_loop_is_asked_in_the_opset_of_the_model(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(parse_model(NEWER).SerializeToString())
    (found,) = (one for one in read_model(path, seconds=60).calls if one.first.op_type == "Loop")
    made = cases_of_call(found, 12)
    assert made.not_covered is None
    for case in made.cases:
        asked = ModelProto.FromString(case.model)
        assert [each.version for each in asked.opset_import] == [18]
        check_model(asked, full_check=True)
        assert passes(case, *ReferenceEvaluator(asked).run(None, given_to(case)))


STEPS = """
<ir_version: 8, opset_import: ["" : 17]>
main (float[2] x, bool go) => (int64 end, float[2] y)
<int64 first = {0}, int64 step = {2}>
{
    end, y, same = Loop (, go, first, x, step) <
        body = b (int64 i, bool c, int64 j, float[2] s, int64 by) => (bool d, int64 k, float[2] t, int64 on)
        <int64 limit = {5}, float half = {0.5}> {
            k = Add (j, by)
            d = Less (k, limit)
            t = Mul (s, half)
            on = Identity (by)
        }
    >
}
"""
"""A loop that ends by what it counts: with a step of 0 it never would."""


def test_constants_that_a_loop_counts_by_are_those_of_the_model(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(parse_model(STEPS).SerializeToString())
    (found,) = (one for one in read_model(path, seconds=60).calls if one.first.op_type == "Loop")
    made = cases_of_call(found, 12)
    assert made.not_covered is None
    assert len(made.cases) >= 3
    ends = {case.expectations[0].outputs[0].expected.array.item() for case in made.cases}
    assert 6 in ends
    assert ends <= {0, 6}


def test_a_body_may_have_an_operator_that_is_newer_than_its_loop(tmp_path: Path) -> None:
    text = """
    <ir_version: 9, opset_import: ["" : 20]>
    main (float[2] x, int64 most, bool go) => (float[2] y)
    {
        y = Loop (most, go, x) <body = b (int64 i, bool c, float[2] s) => (bool d, float[2] t) {
            d = Identity (c)
            t = Gelu (s)
        }>
    }
    """
    path = tmp_path / "model.onnx"
    path.write_bytes(parse_model(text).SerializeToString())
    (found,) = (one for one in read_model(path, seconds=60).calls if one.first.op_type == "Loop")
    made = cases_of_call(found, 12)
    assert made.not_covered is None
    for case in made.cases:
        assert [each.version for each in ModelProto.FromString(case.model).opset_import] == [20]


UNTAKEN = """
<ir_version: 8, opset_import: ["" : 17]>
main (bool none, float[n, 4] boxes, float[m] shifts) => (float[p] y)
<int64 from = {0}, int64[1] axis = {0}, int64[1] to = {9223372036854775807}, int64[1] last = {1}>
{
    y = If (none) <
        then_branch = nothing () => (float[0] a) { a = Constant <value = float[0] {}> () },
        else_branch = moved () => (float[q] b) {
            first = Unsqueeze (from, axis)
            some = Slice (shifts, first, to)
            each = Unsqueeze (some, last)
            sum = Add (boxes, each)
            b = ReduceMax <axes = [1], keepdims = 0> (sum)
        }
    >
}
"""
"""Boxes and shifts are as many, which nothing says but the Add of a branch."""


def test_what_a_branch_takes_goes_together_where_it_never_runs(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(parse_model(UNTAKEN).SerializeToString())
    (found,) = (one for one in read_model(path, seconds=60).calls if one.first.op_type == "If")
    made = cases_of_call(found, 12)
    assert made.not_covered is None
    for case in made.cases:
        shapes = {name: given.shape for name, given in case.inputs if given is not None and given.shape}
        (boxes,) = (shape for shape in shapes.values() if len(shape) == 2)
        (shifts,) = (shape for shape in shapes.values() if len(shape) == 1)
        assert np.broadcast_shapes(boxes, (*shifts, 1))[1] == 4


def test_a_body_whose_extents_have_names_of_an_exporter_is_covered(tmp_path: Path) -> None:
    text = """
    <ir_version: 9, opset_import: ["" : 17]>
    main (int64 most, bool go, float[n] x) => (float[n] y)
    {
        y = Loop (most, go, x) <body = b (int64 i, bool c, float[m] s) => (bool d, float[m] t) {
            d = Identity (c)
            t = Relu (s)
        }>
    }
    """
    exported = parse_model(text)
    (body,) = (each.g for each in exported.graph.node[0].attribute)
    for value in (body.input[2], body.output[1]):
        value.type.tensor_type.shape.dim[0].dim_param = "Squeezekeep_dim_0.res/append.11_dim_1"
    path = tmp_path / "model.onnx"
    path.write_bytes(exported.SerializeToString())
    (found,) = (one for one in read_model(path, seconds=60).calls if one.first.op_type == "Loop")
    made = cases_of_call(found, 4)
    assert made.not_covered is None
    assert made.cases
