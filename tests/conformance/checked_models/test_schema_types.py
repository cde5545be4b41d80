"""Element types of outputs that shape inference leaves unknown: as the schema says, or not at all."""

from __future__ import annotations

import math
from pathlib import Path

from onnx import TensorProto, helper

from conformance.checked_models.model_calls import ModelFacts, ModelValue
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


OWN = "com.microsoft"


def shapes_of(facts: ModelFacts) -> dict[str, list[tuple[str | None, tuple[int | str | None, ...] | None]]]:
    return {
        node.op_type: [(each.element_type, each.shape) for each in node.outputs if each is not None]
        for node in facts.nodes
    }


def test_types_go_on_behind_the_operators_of_onnx_runtime(tmp_path: Path) -> None:
    """As its optimiser writes a layer of a transformer, in an opset before LayerNormalization's own."""
    constants = {
        name: helper.make_tensor(name, code, shape, [0] * math.prod(shape))
        for name, code, shape in (
            *((each, TensorProto.FLOAT, (16,)) for each in ("gamma", "beta")),
            ("qkv", TensorProto.FLOAT, (16, 24)),
            ("wide", TensorProto.FLOAT, (8, 32)),
            ("bias", TensorProto.FLOAT, (32,)),
            ("bits", TensorProto.UINT8, (16, 2, 8)),
            ("scales", TensorProto.FLOAT, (16, 2)),
            ("skipped", TensorProto.FLOAT, (1, 3, 16)),
        )
    }
    nodes = [
        helper.make_node("LayerNormalization", ["x", "gamma", "beta"], ["a"], axis=-1),
        helper.make_node("Attention", ["a", "qkv"], ["b"], domain=OWN, num_heads=2),
        helper.make_node("MatMul", ["b", "wide"], ["c"]),
        helper.make_node("BiasGelu", ["c", "bias"], ["d"], domain=OWN),
        helper.make_node(
            "MatMulNBits", ["d", "bits", "scales"], ["e"], domain=OWN, K=32, N=16, block_size=16
        ),
        helper.make_node(
            "SkipLayerNormalization", ["e", "skipped", "gamma"], ["f", "", "", "sum"], domain=OWN
        ),
        helper.make_node("SimplifiedLayerNormalization", ["sum", "gamma"], ["g"]),
        helper.make_node("FusedMatMul", ["f", "g"], ["y"], domain=OWN, transB=1, alpha=0.5),
        helper.make_node("QGemm", ["f"], ["lacking"], domain=OWN),
    ]
    graph = graph_of(nodes, ["y"], [given("x", ("N", 3, 16))], list(constants.values()))
    facts = read(model_of(graph, {"": 13, OWN: 1}), tmp_path, seconds=60)
    batch = ("N", 3)
    assert shapes_of(facts) == {
        "LayerNormalization": [("float", (*batch, 16))],
        "Attention": [("float", (*batch, 8))],
        "MatMul": [("float", (*batch, 32))],
        "BiasGelu": [("float", (*batch, 32))],
        "MatMulNBits": [("float", (*batch, 16))],
        "SkipLayerNormalization": [("float", (*batch, 16))] * 2,
        "SimplifiedLayerNormalization": [("float", (*batch, 16))],
        "FusedMatMul": [("float", (*batch, 3))],
        "QGemm": [(None, None)],
    }
    assert [str(node.operator) for node in facts.nodes if not node.domain] == [
        "ai.onnx::LayerNormalization-17",
        "ai.onnx::MatMul-13",
        "ai.onnx::SimplifiedLayerNormalization-1",
    ]


def test_types_go_on_behind_what_quantisers_write(tmp_path: Path) -> None:
    """In bytes from one operator to the next, and in floats where a product has no scale of its own."""
    constants = [
        helper.make_tensor("step", TensorProto.FLOAT, (), [0.5]),
        helper.make_tensor("zero", TensorProto.UINT8, (), [0]),
        helper.make_tensor("w", TensorProto.INT8, (8, 5), [0] * 40),
        helper.make_tensor("wz", TensorProto.INT8, (), [0]),
        helper.make_tensor("shape", TensorProto.INT64, (2,), [0, -1]),
    ]
    own = {"domain": OWN}
    pair = ["step", "zero"]
    nodes = [
        helper.make_node("QuantizeLinear", ["x", *pair], ["a"]),
        helper.make_node("QLinearSigmoid", ["a", *pair, *pair], ["b"], **own),
        helper.make_node("QLinearMul", ["a", *pair, "b", *pair, *pair], ["c"], **own),
        helper.make_node("QLinearConcat", [*pair, "c", *pair, "b", *pair], ["d"], axis=1, **own),
        helper.make_node(
            "QLinearAveragePool", ["d", *pair, *pair], ["e"], kernel_shape=[2, 2], strides=[2, 2], **own
        ),
        helper.make_node("QLinearGlobalAveragePool", ["e", *pair, *pair], ["f"], **own),
        helper.make_node("Reshape", ["f", "shape"], ["g"]),
        helper.make_node("QGemm", ["g", *pair, "w", "step", "wz"], ["y"], **own),
    ]
    graph = graph_of(nodes, ["y"], [given("x", (2, 4, 4, 4))], constants)
    found = shapes_of(read(model_of(graph, {"": 13, OWN: 1}), tmp_path, seconds=60))
    assert found == {
        "QuantizeLinear": [("uint8", (2, 4, 4, 4))],
        "QLinearSigmoid": [("uint8", (2, 4, 4, 4))],
        "QLinearMul": [("uint8", (2, 4, 4, 4))],
        "QLinearConcat": [("uint8", (2, 8, 4, 4))],
        "QLinearAveragePool": [("uint8", (2, 8, 2, 2))],
        "QLinearGlobalAveragePool": [("uint8", (2, 8, 1, 1))],
        "Reshape": [("uint8", (2, 8))],
        "QGemm": [("float", (2, 5))],
    }
