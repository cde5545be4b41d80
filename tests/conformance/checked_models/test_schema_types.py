"""Element types of outputs that shape inference leaves unknown: as the schema says, or not at all."""

from __future__ import annotations

from pathlib import Path

from onnx import helper

from conformance.checked_models.model_calls import ModelValue
from conformance.checked_models.model_nodes import with_schema_types
from opcert.vocabulary.names import OperatorName
from tests.conformance.checked_models.hand_made import given, graph_of, model_of, read

UNKNOWN = ModelValue("y")


def told(name: str, *inputs: ModelValue | None, outputs: int = 1) -> list[str | None]:
    found = with_schema_types(OperatorName.parse(name), inputs, [UNKNOWN] * outputs)
    return [None if value is None else value.element_type for value in found]


def test_a_type_that_the_schema_fixes() -> None:
    assert told("ai.onnx.ml::Scaler-1", ModelValue("x", "int64")) == ["float"]
    assert told("ai.onnx::Shape-15", ModelValue("x")) == ["int64"]
    assert told("ai.onnx::TopK-11", ModelValue("x"), ModelValue("k", "int64"), outputs=2) == [None, "int64"]


def test_a_type_that_an_input_has() -> None:
    assert told(
        "ai.onnx.ml::ArrayFeatureExtractor-1", ModelValue("x", "string"), ModelValue("i", "int64")
    ) == ["string"]
    assert told("ai.onnx::Concat-13", None, ModelValue("x", "double")) == ["double"]
    assert told("ai.onnx::Split-18", ModelValue("x", "int8"), outputs=3) == ["int8"] * 3


def test_nothing_where_the_schema_says_nothing() -> None:
    assert told("ai.onnx::Add-14", ModelValue("x"), ModelValue("z")) == [None]
    assert told("ai.onnx::Cast-13", ModelValue("x", "float")) == [None]
    assert told("ai.onnx::SequenceConstruct-11", ModelValue("x", "float")) == [None]
    assert told("made.up::Add-1", ModelValue("x", "float")) == [None]
    assert told("ai.onnx::Add-14", ModelValue("x", "float"), outputs=2) == ["float", None]


def test_what_is_known_stays() -> None:
    known = ModelValue("y", "double", (2,))
    sequence = ModelValue("y", kind="seq(tensor(float))")
    for value in (known, sequence, None):
        assert with_schema_types(
            OperatorName.parse("ai.onnx::Add-14"), [ModelValue("x", "float")], [value]
        ) == [value]


def test_types_go_on_behind_a_node_without_inference(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Scaler", ["x"], ["a"], domain="ai.onnx.ml", offset=[0.0], scale=[1.0]),
        helper.make_node("Neg", ["a"], ["b"]),
        helper.make_node("Shape", ["b"], ["y"]),
    ]
    facts = read(model_of(graph_of(nodes, ["y"], [given("x")]), {"": 17, "ai.onnx.ml": 1}), tmp_path)
    taken = [node.inputs[0] for node in facts.nodes]
    assert [None if value is None else value.element_type for value in taken] == ["float"] * 3
