"""The neighbours of a model: which nodes stand together, with which data, and what is left out and why."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from conformance.checked_models.model_calls import ModelFacts, ModelNode, ModelValue
from conformance.checked_models.model_reading import group_calls
from conformance.suite.protos import read_attribute, read_tensor
from generator.models.model_chains.model_chains import ModelChain, chains_of_model
from generator.models.model_chains.node_groups import groups_of_model
from opcert.vocabulary.element_types import BY_CODE
from opcert.vocabulary.names import OperatorName
from tests.generator.neighbours.fused_programs import passes

CHANNELS = 32
FLOAT = TensorProto.FLOAT


def facts_of(nodes: list[onnx.NodeProto], shape: list[int | str], **constants: object) -> ModelFacts:
    """What a reader says of a model of these nodes; its last node gives what it gives."""
    initializers = [numpy_helper.from_array(np.asarray(each), name) for name, each in constants.items()]
    last = helper.make_tensor_value_info(nodes[-1].output[0], FLOAT, None)
    given = helper.make_tensor_value_info("x", FLOAT, shape)
    graph = helper.make_graph(nodes, "g", [given], [last], initializers)
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("made.up", 1)], ir_version=8
    )
    inferred = onnx.shape_inference.infer_shapes(model).graph
    values = {
        value_info.name: declared(value_info)
        for value_info in (*inferred.input, *inferred.value_info, *inferred.output)
    }
    values |= {initializer.name: constant(initializer) for initializer in initializers}
    named = frozenset(extent for extent in shape if isinstance(extent, str))
    read = tuple(node_of(at, node, values, named) for at, node in enumerate(nodes))
    return ModelFacts("model.onnx", "0" * 64, {"ai.onnx": 17}, read, group_calls(read))


def declared(value: onnx.ValueInfoProto) -> ModelValue:
    kind = value.type.tensor_type
    shape = tuple(
        each.dim_value if each.HasField("dim_value") else each.dim_param or None for each in kind.shape.dim
    )
    name = BY_CODE[kind.elem_type].name
    return ModelValue(value.name, name, shape if kind.HasField("shape") else None)


def constant(value: onnx.TensorProto) -> ModelValue:
    tensor = read_tensor(value)
    small = tensor if tensor.array.size <= 64 else None
    return ModelValue(value.name, tensor.element_type.name, tensor.shape, None, True, small)


def node_of(
    at: int, node: onnx.NodeProto, values: dict[str, ModelValue], run_extents: frozenset[str]
) -> ModelNode:
    known = not node.domain
    version = onnx.defs.get_schema(node.op_type, 17).since_version if known else 1
    return ModelNode(
        str(at),
        node.name,
        OperatorName("ai.onnx", node.op_type, version) if known else None,
        tuple(values.get(value_info, ModelValue(value_info)) for value_info in node.input),
        tuple(values.get(value_info, ModelValue(value_info)) for value_info in node.output),
        {attribute.name: read_attribute(attribute) for attribute in node.attribute},
        unknown=None if known else "no such operator",
        op_type=node.op_type,
        domain=node.domain,
        run_extents=run_extents,
    )


def block(of: str, to: str, number: int) -> list[onnx.NodeProto]:
    """Convolution, normalization and Relu, as models have them by the dozen."""
    named = [f"{name}{number}" for name in ("w", "scale", "bias", "mean", "var")]
    return [
        helper.make_node("Conv", [of, named[0]], [f"{to}_c"], pads=[1, 1, 1, 1]),
        helper.make_node("BatchNormalization", [f"{to}_c", *named[1:]], [f"{to}_n"]),
        helper.make_node("Relu", [f"{to}_n"], [to]),
    ]


def weights(number: int) -> dict[str, object]:
    channels = np.ones(CHANNELS, np.float32)
    names = ("scale", "bias", "mean", "var")
    return {f"w{number}": np.full((CHANNELS, CHANNELS, 3, 3), 0.1, np.float32)} | {
        f"{name}{number}": channels * 0.3 for name in names
    }


def holds(chain: ModelChain) -> bool:
    """Whether an evaluator that fuses nothing gives what the chain's case expects."""
    assert chain.case is not None
    assert chain.case.model is not None
    model = onnx.ModelProto.FromString(chain.case.model)
    onnx.checker.check_model(model, full_check=True)
    given = {name: tensor.array for name, tensor in chain.case.inputs if tensor is not None}
    return passes(chain.case, *ReferenceEvaluator(model).run(None, given))


def test_blocks_that_are_repeated_are_asked_about_once() -> None:
    nodes = [*block("x", "a", 0), *block("a", "b", 1), *block("b", "c", 2)]
    facts = facts_of(nodes, ["N", CHANNELS, 14, 14], **weights(0), **weights(1), **weights(2))
    paths = [group.path for group in groups_of_model(facts)]
    assert sorted(paths) == sorted(
        [
            "Conv > BatchNormalization",
            "BatchNormalization > Relu",
            "Conv > BatchNormalization > Relu",
            "Relu > Conv",
        ]
    )
    found = list(chains_of_model(facts))
    assert [model_chain.path for model_chain in found] == paths
    assert all(model_chain.case is not None for model_chain in found), [
        model_chain.why for model_chain in found
    ]
    assert all(map(holds, found))


def test_large_extents_are_others_and_attributes_stay() -> None:
    facts = facts_of(block("x", "a", 0), ["N", CHANNELS, 224, 224], **weights(0))
    (chain,) = [
        model_chain
        for model_chain in chains_of_model(facts)
        if model_chain.path == "Conv > BatchNormalization"
    ]
    assert chain.case is not None
    assert chain.case.model is not None
    (given,) = [tensor for _, tensor in chain.case.inputs if tensor is not None]
    assert given.array.ndim == 4
    assert given.array.size <= 1 << 12
    node = onnx.ModelProto.FromString(chain.case.model).graph.node[0]
    assert helper.get_node_attr_value(node, "pads") == [1, 1, 1, 1]


def test_shapes_are_divided_together() -> None:
    nodes = [
        helper.make_node("Reshape", ["x", "split"], ["a"]),
        helper.make_node("Transpose", ["a"], ["b"], perm=[0, 2, 1, 3]),
        helper.make_node("Reshape", ["b", "joined"], ["c"]),
    ]
    facts = facts_of(
        nodes,
        [1, 32, 768],
        split=np.array([0, 32, 12, 64]),
        joined=np.array([0, 12, -1]),
    )
    found = {chain.path: chain for chain in chains_of_model(facts)}
    assert set(found) == {"Reshape > Transpose", "Transpose > Reshape", "Reshape > Transpose > Reshape"}
    assert all(model_chain.case is not None and holds(model_chain) for model_chain in found.values()), [
        model_chain.why for model_chain in found.values()
    ]


def test_quantised_nodes_are_taken_with_what_stands_around_them() -> None:
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]),
        helper.make_node("DequantizeLinear", ["w", "s", "zw"], ["dw"]),
        helper.make_node("MatMul", ["d", "dw"], ["m"]),
        helper.make_node("QuantizeLinear", ["m", "s", "z"], ["r"]),
    ]
    facts = facts_of(
        nodes,
        [4, 8],
        s=np.array(0.02, np.float32),
        z=np.array(3, np.uint8),
        zw=np.array(0, np.int8),
        w=np.ones((8, 16), np.int8),
    )
    found = {chain.path: chain for chain in chains_of_model(facts)}
    assert "DequantizeLinear > DequantizeLinear > MatMul > QuantizeLinear" in found
    assert found["DequantizeLinear > DequantizeLinear > MatMul > QuantizeLinear"].case is not None
    # An optimiser makes another node of one DequantizeLinear and MatMul than of all that stand here.
    assert not {"DequantizeLinear > MatMul", "DequantizeLinear > DequantizeLinear > MatMul"} & set(found)


@pytest.mark.parametrize(("scale", "by_channel"), [(0.01 * 0.003, True), (0.01 * 0.003, False), (0.5, True)])
def test_a_quantised_bias_is_in_the_steps_of_the_products_where_the_model_has_it_so(
    scale: float, by_channel: bool
) -> None:
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]),
        helper.make_node("DequantizeLinear", ["w", "sw"], ["dw"], axis=0),
        helper.make_node("DequantizeLinear", ["b", "sb"], ["db"], axis=0),
        helper.make_node("Gemm", ["d", "dw", "db"], ["m"], transB=1),
        helper.make_node("QuantizeLinear", ["m", "s", "z"], ["y"]),
    ]
    facts = facts_of(
        nodes,
        [2, 8],
        s=np.float32(0.01),
        z=np.int8(3),
        w=np.ones((16, 8), np.int8),
        sw=np.full(16, 0.003, np.float32) if by_channel else np.float32(0.003),
        b=np.ones(16, np.int32),
        sb=np.full(16 if by_channel else 1, scale, np.float32),
    )
    found = {chain.path: chain for chain in chains_of_model(facts)}
    chain = found["DequantizeLinear > DequantizeLinear > DequantizeLinear > Gemm > QuantizeLinear"]
    assert chain.case is not None
    graph = onnx.ModelProto.FromString(chain.case.model or b"").graph
    held = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    (gemm,) = (node for node in graph.node if node.op_type == "Gemm")
    made = {node.output[0]: held[node.input[1]] for node in graph.node if node.op_type == "DequantizeLinear"}
    first, second, bias = (made[name] for name in gemm.input)
    assert np.allclose(bias, first * second) == (scale < 0.5)


def test_without_a_quantised_output_both_dequantised_inputs_are_in_the_chain() -> None:
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]),
        helper.make_node("DequantizeLinear", ["w", "s", "zw"], ["dw"]),
        helper.make_node("MatMul", ["d", "dw"], ["m"]),
    ]
    facts = facts_of(
        nodes,
        [4, 8],
        s=np.array(0.02, np.float32),
        z=np.array(3, np.uint8),
        zw=np.array(0, np.int8),
        w=np.ones((8, 16), np.int8),
    )
    found = {chain.path: chain for chain in chains_of_model(facts)}
    assert set(found) == {
        "QuantizeLinear > DequantizeLinear",
        "DequantizeLinear > DequantizeLinear > MatMul",
    }
    assert found["DequantizeLinear > DequantizeLinear > MatMul"].case is not None


def test_of_what_no_bound_is_derived_there_is_no_case() -> None:
    nodes = [
        helper.make_node("Exp", ["x"], ["a"]),
        helper.make_node("MatMul", ["a", "w"], ["b"]),
        helper.make_node("Softmax", ["b"], ["c"]),
    ]
    found = list(chains_of_model(facts_of(nodes, [3, 4], w=np.ones((4, 5), np.float32))))
    assert [model_chain.path for model_chain in found if model_chain.case is None] == ["Exp > MatMul"]
    assert "not known exactly" in found[0].why or "no bound" in found[0].why
    assert holds(found[1])


def test_a_node_that_nobody_knows_is_left_out_and_said() -> None:
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("Mystery", ["a"], ["b"], domain="made.up"),
    ]
    (found,) = chains_of_model(facts_of(nodes, [2]))
    assert found.case is None
    assert found.why


def test_no_more_groups_are_looked_at_than_asked_for() -> None:
    nodes = [*block("x", "a", 0), *block("a", "b", 1)]
    facts = facts_of(nodes, ["N", CHANNELS, 14, 14], **weights(0), **weights(1))
    assert len(list(chains_of_model(facts, most=1))) == 1


@pytest.mark.parametrize("name", ["constructor", "../../etc", "a\nb", "Y1"])
def test_names_of_a_model_go_no_further(name: str) -> None:
    nodes = [helper.make_node("Relu", ["x"], [name]), helper.make_node("Neg", [name], ["b"])]
    (found,) = chains_of_model(facts_of(nodes, [2, 3]))
    assert found.case is not None
    assert found.case.model is not None
    assert name == "Y1" or name.encode() not in found.case.model
    assert holds(found)


def shapes_of(chain: ModelChain) -> list[list[str | int]]:
    """What a chain's model says of its inputs' extents."""
    assert chain.case is not None
    assert chain.case.model is not None
    inputs = onnx.ModelProto.FromString(chain.case.model).graph.input
    return [[one.dim_param or one.dim_value for one in each.type.tensor_type.shape.dim] for each in inputs]


def test_extents_are_open_where_the_model_leaves_them_open() -> None:
    nodes = block("x", "a", 0)
    for batch, first in (("N", "n0"), (1, 1)):
        for chain in chains_of_model(facts_of(nodes, [batch, CHANNELS, 14, 14], **weights(0))):
            assert chain.case is not None, chain.why
            (said,) = shapes_of(chain)
            assert said[0] == first
            assert all(isinstance(each, int) for each in said[1:])
            assert chain.case.levels.get("shapes") == ("open" if batch == "N" else None)
            assert holds(chain)


def test_extents_of_one_name_are_one_and_inferred_ones_stay_stated() -> None:
    nodes = [
        helper.make_node("Neg", ["x"], ["a"]),
        helper.make_node("Mul", ["a", "x"], ["b"]),
        helper.make_node("NonZero", ["b"], ["c"]),
        helper.make_node("Neg", ["c"], ["d"]),
        helper.make_node("Abs", ["d"], ["e"]),
    ]
    chains = {chain.path: chain for chain in chains_of_model(facts_of(nodes, ["N", "N", 3]))}
    assert shapes_of(chains["Neg > Mul"]) == [["n0", "n0", 3]]
    told = shapes_of(chains["Neg > Abs"])
    assert all(isinstance(extent, int) for shape in told for extent in shape)
