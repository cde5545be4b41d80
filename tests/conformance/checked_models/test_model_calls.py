"""Which operator versions a model's nodes mean, and which of them make the same call."""

from __future__ import annotations

from pathlib import Path

from onnx import helper

from conformance.checked_models.model_reading import read_model
from opcert.vocabulary.names import OperatorName
from tests.conformance.checked_models.hand_made import given, graph_of, model_of, read

node = helper.make_node


def test_versions_come_from_the_opset_of_each_domain(tmp_path: Path) -> None:
    nodes = [
        node("Add", ["x", "x"], ["a"]),
        node("Scaler", ["x"], ["b"], domain="ai.onnx.ml", offset=[0.0], scale=[1.0]),
        node("FusedGelu", ["x"], ["c"], domain="com.microsoft"),
        node("Nothing", ["x"], ["d"]),
        node("Op", ["x"], ["e"], domain="not.imported"),
        node("no name\n", ["x"], ["f"]),
    ]
    graph = graph_of(nodes, ["a"], [given("x")])
    facts = read(model_of(graph, {"": 12, "ai.onnx.ml": 3, "com.microsoft": 1}), tmp_path)
    assert [str(each.operator) for each in facts.nodes[:3]] == [
        "ai.onnx::Add-7",
        "ai.onnx.ml::Scaler-1",
        "com.microsoft::FusedGelu-1",
    ]
    assert [each.unknown for each in facts.nodes[3:5]] == [
        "ai.onnx has no operator Nothing in opset 12",
        "the model imports no version of the domain not.imported",
    ]
    assert facts.nodes[5].operator is None
    assert not any("\n" in note for note in facts.notes)


def test_versions_that_somebody_has_specs_of_count(tmp_path: Path) -> None:
    graph = graph_of([node("Op", ["x"], ["y"], domain="my.own")], ["y"], [given("x")])
    (tmp_path / "model.onnx").write_bytes(model_of(graph, {"my.own": 5}).SerializeToString())
    known = [OperatorName("my.own", "Op", each) for each in (1, 3, 6)]
    facts = read_model(tmp_path / "model.onnx", known=known, seconds=0)
    assert facts.nodes[0].operator == OperatorName("my.own", "Op", 3)


def test_an_opset_of_the_future_is_no_older_one(tmp_path: Path) -> None:
    facts = read(
        model_of(graph_of([node("Add", ["x", "x"], ["y"])], ["y"], [given("x")]), {"": 999}), tmp_path
    )
    assert facts.nodes[0].operator is None
    assert "newer than is known" in str(facts.nodes[0].unknown)


def test_nodes_of_one_call_are_put_together(tmp_path: Path) -> None:
    nodes = [
        node("Clip", ["x", "low", "high"], ["a"]),
        node("Clip", ["x", "low", "high"], ["b"]),
        node("Clip", ["x", "low"], ["c"]),
        node("Clip", ["x", "low", "low"], ["d"]),
        node("Clip", ["x", "", "high"], ["e"]),
    ]
    limits = [helper.make_tensor(name, 1, [], [value]) for name, value in (("low", 0.0), ("high", 6.0))]
    facts = read(model_of(graph_of(nodes, ["e"], [given("x", (2, 3))], limits)), tmp_path)
    assert [[each.place for each in call.nodes] for call in facts.calls] == [["0", "1"], ["2"], ["3"], ["4"]]
    assert len({call.digest for call in facts.calls}) == 4
    assert all(len(call.digest) == 12 for call in facts.calls)
