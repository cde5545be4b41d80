"""Models with their weights: the message that is run computes what the file says, wherever its data lie."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, helper, numpy_helper
from onnx.inliner import inline_local_functions
from onnx.reference import ReferenceEvaluator

from conformance.checked_models.model_reading import read_model
from conformance.checked_models.whole_reading import WholeModel, read_whole
from opcert.vocabulary.errors import UserError
from tests.conformance.checked_models.hand_made import given, graph_of, model_of, outside_tensor, referring

node = helper.make_node


def _whole(model: ModelProto, folder: Path) -> WholeModel:
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return read_whole(read_model(path, seconds=0), path)


def test_data_in_other_files_come_into_the_message(tmp_path: Path) -> None:
    values = np.random.default_rng(0).standard_normal((4, 2000)).astype(np.float32)
    (tmp_path / "weights.bin").write_bytes(b"\0" * 16 + values.tobytes())
    weights = outside_tensor("w", [4, 2000], location="weights.bin", offset="16")
    model = model_of(graph_of([node("MatMul", ["x", "w"], ["y"])], ["y"], [given("x")], [weights]))
    whole = _whole(model, tmp_path)
    (kept,) = whole.proto.graph.initializer
    assert np.array_equal(numpy_helper.to_array(kept), values)
    assert [facts.place for _, facts in whole.nodes] == ["0"]
    weights.external_data[0].value = "../weights.bin"
    model = model_of(graph_of([node("MatMul", ["x", "w"], ["y"])], ["y"], [given("x")], [weights]))
    (tmp_path / "inner").mkdir()
    with pytest.raises(UserError, match="outside the model's folder"):
        _whole(model, tmp_path / "inner")


def test_functions_in_place_of_their_calls_compute_the_same(tmp_path: Path) -> None:
    leaky = node("LeakyRelu", ["t"], ["b"])
    leaky.attribute.append(referring("alpha", "slope"))
    then = graph_of([node("Add", ["b", "t"], ["r"])], ["r"])
    other = graph_of([node("Sub", ["b", "a"], ["r"])], ["r"])
    body = [
        node("Neg", ["a"], ["t"]),
        leaky,
        node("ReduceSum", ["b"], ["s"], keepdims=0),
        node("Greater", ["s", "zero"], ["c"]),
        node("If", ["c"], ["out"], then_branch=then, else_branch=other),
    ]
    function = helper.make_function(
        "local", "Block", ["a", "zero"], ["out"], body, [helper.make_opsetid("", 17)], ["slope"]
    )
    calls = [
        node("Block", ["x", "z"], ["b"], domain="local", slope=0.25),
        node("Block", ["b", "z"], ["y"], domain="local", slope=0.5),
    ]
    zero = numpy_helper.from_array(np.array(0, np.float32), "z")
    model = model_of(graph_of(calls, ["y"], [given("x")], [zero]), {"": 17, "local": 1}, [function])
    whole = _whole(model, tmp_path)
    assert not whole.proto.functions
    inlined = inline_local_functions(model)  # by other people's code
    for seed in range(4):
        x = np.random.default_rng(seed).standard_normal((2, 4)).astype(np.float32)
        (wanted,) = ReferenceEvaluator(inlined).run(None, {"x": x})
        (found,) = ReferenceEvaluator(whole.proto).run(None, {"x": x})
        assert np.array_equal(np.asarray(wanted), np.asarray(found))


def test_functions_of_another_opset_are_not_written_out(tmp_path: Path) -> None:
    function = helper.make_function(
        "local", "Block", ["a"], ["b"], [node("Neg", ["a"], ["b"])], [helper.make_opsetid("", 12)]
    )
    graph = graph_of([node("Block", ["x"], ["y"], domain="local")], ["y"], [given("x")])
    with pytest.raises(UserError, match="cannot be written in place of their calls"):
        _whole(model_of(graph, {"": 17, "local": 1}, [function]), tmp_path)
