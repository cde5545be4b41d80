"""Branches in place of their If: the model computes the same, and a fault in one is found where it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import GraphProto, ModelProto, TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from conformance.checked_models.inlining import inline_functions
from conformance.checked_models.model_reading import read_model
from conformance.checked_models.node_order import branching_nodes, take_branches
from generator.models.check.whole_model import InputSource, NumberLimits, check_numbers_with
from tests.conformance.checked_models.hand_made import given, graph_of, model_of
from tests.generator.checking.faulty_runtime import FaultyRuntime

node = helper.make_node


def _model() -> ModelProto:
    """Two Ifs within each other; both branches use the same names, and one passes a value of outside on."""
    inner = graph_of([node("Neg", ["t"], ["u"]), node("Exp", ["u"], ["v"])], ["v"])
    other = graph_of([node("Abs", ["t"], ["v"])], ["v"])
    then = graph_of(
        [
            node("Mul", ["x", "k"], ["t"]),
            node("Greater", ["x", "k"], ["each"]),
            node("Identity", ["d"], ["again"]),
            node("If", ["again"], ["r"], then_branch=inner, else_branch=other),
        ],
        ["r", "x"],
        [],
        [numpy_helper.from_array(np.array([2, 3], np.float32), "k")],
    )
    otherwise = graph_of([node("Sqrt", ["x"], ["t"]), node("Relu", ["x"], ["s"])], ["t", "s"])
    graph = graph_of(
        [
            node("Add", ["x", "x"], ["t"]),
            node("If", ["c"], ["a", "b"], then_branch=then, else_branch=otherwise),
            node("Sub", ["a", "b"], ["y"]),
        ],
        ["y", "a"],
        [given("x", (1, 2)), given("c", (), TensorProto.BOOL), given("d", (), TensorProto.BOOL)],
    )
    return model_of(graph)


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("second", [True, False])
def test_a_model_with_branches_taken_computes_the_same(first: bool, second: bool) -> None:
    model = _model()
    inline_functions(model)
    values = {"x": np.array([[1, 4]], np.float32), "c": np.array(first), "d": np.array(second)}
    wanted = ReferenceEvaluator(model).run(None, values)
    taken = take_branches(model, {"1": first})
    taken = take_branches(taken, dict.fromkeys(branching_nodes(taken), second))
    assert not branching_nodes(taken)
    assert not any(_graphs(taken.graph))
    for one, other in zip(wanted, ReferenceEvaluator(taken).run(None, values), strict=True):
        assert np.array_equal(np.asarray(one), np.asarray(other))


def test_a_fault_in_a_branch_is_found_there(tmp_path: Path) -> None:
    path, folder = tmp_path / "model.onnx", tmp_path / "inputs"
    path.write_bytes(_model().SerializeToString())
    folder.mkdir()
    for name, value in (("x", np.array([[1, 4]], np.float32)), ("c", np.array(True)), ("d", np.array(True))):
        np.save(folder / f"{name}.npy", value)
    found = check_numbers_with(
        FaultyRuntime({"Neg": lambda array, _: array + np.float32(1)}).ask,
        "fake",
        read_model(path, seconds=0),
        path,
        InputSource(folder),
        NumberLimits(),
        lambda _: None,
    )
    assert [node.place for node in found.wrong] == ["1/then_branch/3/then_branch/0"]
    assert {node.place for node in found.nodes if node.why == "inside"} == {
        "1",
        "1/else_branch/0",
        "1/else_branch/1",
        "1/then_branch/3",
        "1/then_branch/3/else_branch/0",
    }
    assert any(effect.distance for effect in found.effects)


def _graphs(graph: GraphProto) -> list[bool]:
    return [attribute.HasField("g") for one in graph.node for attribute in one.attribute]
