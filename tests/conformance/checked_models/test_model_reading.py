"""What the reader says of models of which it is known what they ask for."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from conformance.checked_models import inlining
from conformance.checked_models.model_calls import ModelNode
from opcert.vocabulary.names import OperatorName
from tests.conformance.checked_models.hand_made import (
    given,
    graph_of,
    model_of,
    outside_tensor,
    read,
    referring,
)

node = helper.make_node


def test_nodes_have_versions_constants_and_shapes(tmp_path: Path) -> None:
    weights = numpy_helper.from_array(np.ones((4, 70_000), np.float32), "w")
    shape = numpy_helper.from_array(np.array([-1, 2], np.int64), "shape")
    graph = graph_of(
        [node("MatMul", ["x", "w"], ["p"]), node("Reshape", ["p", "shape"], ["y"], name="last")],
        ["y"],
        [given("x")],
        [weights, shape],
    )
    facts = read(model_of(graph), tmp_path, seconds=60)
    product, reshaped = facts.nodes
    assert (str(product.operator), str(reshaped.operator)) == ("ai.onnx::MatMul-13", "ai.onnx::Reshape-14")
    assert (product.place, reshaped.place, reshaped.name) == ("0", "1", "last")
    taken = product.inputs[1]
    assert taken is not None
    assert (taken.shape, taken.is_constant, taken.constant) == ((4, 70_000), True, None)
    target = reshaped.inputs[1]
    assert target is not None
    assert target.constant is not None
    assert target.constant.array.tolist() == [-1, 2]
    assert product.outputs[0] is not None
    assert product.outputs[0].shape == ("N", 70_000)
    assert product.outputs[0].element_type == "float"
    assert reshaped.outputs[0] is not None
    assert reshaped.outputs[0].shape is not None
    assert reshaped.outputs[0].shape[1] == 2
    assert facts.opsets == {"ai.onnx": 17}
    assert facts.notes == ()
    assert facts.sha256 == hashlib.sha256((tmp_path / "model.onnx").read_bytes()).hexdigest()


def test_graphs_within_are_read_and_their_values_have_shapes(tmp_path: Path) -> None:
    then = graph_of([node("Mul", ["x", "two"], ["t"]), node("Relu", ["t"], ["a"])], ["a"])
    other = graph_of([node("Neg", ["x"], ["b"])], ["b"])
    graph = graph_of(
        [node("If", ["c"], ["y"], then_branch=then, else_branch=other), node("Abs", ["y"], ["z"])],
        ["z"],
        [given("x"), given("c", (), TensorProto.BOOL)],
        [helper.make_tensor("two", TensorProto.FLOAT, [4], [2.0] * 4)],
    )
    facts = read(model_of(graph), tmp_path, seconds=60)
    assert [each.place for each in facts.nodes] == [
        "0",
        "0/else_branch/0",
        "0/then_branch/0",
        "0/then_branch/1",
        "1",
    ]
    multiplied = facts.nodes[2]
    assert multiplied.inputs[1] is not None
    assert multiplied.inputs[1].is_constant
    assert multiplied.outputs[0] is not None
    assert multiplied.outputs[0].shape == ("N", 4)
    assert "takes values from around it" in facts.nodes[0].unread["then_branch"]


def test_functions_become_their_nodes_with_their_attributes(tmp_path: Path) -> None:
    leaky = node("LeakyRelu", ["t"], ["b"])
    leaky.attribute.append(referring("alpha", "slope"))
    function = helper.make_function(
        "local",
        "Block",
        ["a"],
        ["b"],
        [node("Neg", ["a"], ["t"]), leaky],
        [helper.make_opsetid("", 15)],
        ["slope"],
    )
    calls = [
        node("Block", ["x"], ["u"], domain="local", slope=0.25),
        node("Block", ["u"], ["y"], domain="local"),
    ]
    model = model_of(graph_of(calls, ["y"], [given("x")]), {"": 17, "local": 1}, [function])
    facts = read(model, tmp_path)
    assert [each.place for each in facts.nodes] == [
        "0/local::Block/0",
        "0/local::Block/1",
        "1/local::Block/0",
        "1/local::Block/1",
    ]
    first, second = facts.nodes[1], facts.nodes[3]
    assert first.operator == OperatorName("ai.onnx", "LeakyRelu", 6)  # of the function's opset
    assert first.attributes["alpha"].value == 0.25
    assert "alpha" not in second.attributes
    assert _names(facts.nodes[0]) == (["x"], ["0/local::Block/t"])
    assert _names(second)[1] == ["y"]


def test_functions_without_end_are_left_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inlining, "MOST_NODES", 2_000)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
    around = helper.make_function(
        "local", "Round", ["a"], ["b"], [node("Round", ["a"], ["b"], domain="local")], opsets
    )
    doubling = [
        helper.make_function(
            "local",
            f"F{each}",
            ["a"],
            ["b"],
            [
                node(f"F{each + 1}", ["a"], ["t"], domain="local"),
                node(f"F{each + 1}", ["t"], ["b"], domain="local"),
            ],
            opsets,
        )
        for each in range(30)
    ]
    for start, functions in (("Round", [around]), ("F0", doubling)):
        graph = graph_of([node(start, ["x"], ["y"], domain="local")], ["y"], [given("x")])
        facts = read(model_of(graph, {"": 17, "local": 1}, functions), tmp_path)
        assert any("not looked into" in note for note in facts.notes), start
        assert len(facts.nodes) <= 2_001


def test_constants_reach_nodes_through_identity_and_shape_computations(tmp_path: Path) -> None:
    graph = graph_of(
        [
            node("Shape", ["x"], ["s"]),
            node("Constant", [], ["first"], value_int=0),
            node("Gather", ["s", "first"], ["rows"]),
            node("Constant", [], ["front"], value=numpy_helper.from_array(np.array([0], np.int64))),
            node("Unsqueeze", ["rows", "front"], ["list"]),
            node("Identity", ["minus"], ["rest"]),
            node("Concat", ["list", "rest"], ["target"], axis=0),
            node("Reshape", ["x", "target"], ["y"]),
        ],
        ["y"],
        [given("x", (6, 4))],
        [numpy_helper.from_array(np.array([-1], np.int64), "minus")],
    )
    reshaped = read(model_of(graph), tmp_path).nodes[-1]
    target = reshaped.inputs[1]
    assert target is not None
    assert target.is_constant
    assert target.constant is not None
    assert target.constant.array.tolist() == [6, -1]


def test_what_hangs_on_an_unknown_extent_is_no_constant(tmp_path: Path) -> None:
    graph = graph_of([node("Shape", ["x"], ["s"]), node("Reshape", ["x", "s"], ["y"])], ["y"], [given("x")])
    taken = read(model_of(graph), tmp_path).nodes[1].inputs[1]
    assert taken is not None
    assert not taken.is_constant


def test_data_beside_the_model_are_read_inside_its_folder_alone(tmp_path: Path) -> None:
    inside = tmp_path / "model"
    (inside / "data").mkdir(parents=True)
    values = np.array([1, 2, 3], np.float32)
    (inside / "data" / "weights.bin").write_bytes(b"\0" * 8 + values.tobytes())
    (tmp_path / "secret.bin").write_bytes(values.tobytes())
    (inside / "link.bin").symlink_to(tmp_path / "secret.bin")
    tensors = [
        outside_tensor("good", [3], location="data/weights.bin", offset="8", length="12"),
        outside_tensor("above", [3], location="../secret.bin"),
        outside_tensor("absolute", [3], location=str(tmp_path / "secret.bin")),
        outside_tensor("linked", [3], location="link.bin"),
        outside_tensor("short", [30], location="data/weights.bin"),
        outside_tensor("before", [3], location="data/weights.bin", offset="-4"),
        outside_tensor("missing", [3], location="none.bin"),
        outside_tensor("none", [3]),
        outside_tensor("endless", [1 << 40], location="/dev/zero"),
    ]
    nodes = [node("Neg", [tensor.name], [f"y_{tensor.name}"]) for tensor in tensors]
    facts = read(model_of(graph_of(nodes, ["y_good"], [], tensors)), inside)
    found = {each.inputs[0].name: each.inputs[0] for each in facts.nodes if each.inputs[0] is not None}
    assert found["good"].constant is not None
    assert found["good"].constant.array.tolist() == [1, 2, 3]
    assert all(value.is_constant for value in found.values())
    assert [name for name, value in found.items() if value.constant is not None] == ["good"]
    assert any("outside the model's folder" in note for note in facts.notes)
    assert any("not read" in note for note in facts.notes)


@settings(max_examples=25, deadline=None)
@drawn(order=st.permutations(range(8)))
def test_nodes_come_in_an_order_that_works_whatever_the_files_is(
    order: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    chain = [node("Neg", [f"v{each}"], [f"v{each + 1}"]) for each in range(8)]
    graph = graph_of([chain[each] for each in order], ["v8"], [given("v0")])
    facts = read(model_of(graph), tmp_path_factory.mktemp("model"))
    assert [_names(each) for each in facts.nodes] == [([f"v{each}"], [f"v{each + 1}"]) for each in range(8)]
    assert [each.place for each in facts.nodes] == [str(order.index(each)) for each in range(8)]
    assert bool(facts.notes) == (order != sorted(order))


def _names(found: ModelNode) -> tuple[list[str], list[str]]:
    return (
        [value.name for value in found.inputs if value is not None],
        [output.name for output in found.outputs if output is not None],
    )
