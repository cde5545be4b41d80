"""Small models for `opcert check`: LeakyRelu, Flatten, Neg, an operator that nobody knows, boosted trees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save


def write_model(path: Path, alpha: float = 0.25, *, unknown: bool = False, batch: int | str = 2) -> Path:
    """Write a model of float inputs whose LeakyRelu has this alpha; `unknown` adds a node of org.example."""
    nodes = [
        helper.make_node("LeakyRelu", ["x"], ["a"], name="leaky", alpha=alpha),
        helper.make_node("Neg", ["a"], ["b"], name="negated"),
        helper.make_node("LeakyRelu", ["b"], ["c"], name="leaky again", alpha=alpha),
        helper.make_node("Flatten", ["c"], ["d"], name="flat", axis=1),
    ]
    if unknown:
        nodes.append(helper.make_node("Frobnicate", ["d"], ["e"], name="odd", domain="org.example"))
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, 3, 4])],
        [helper.make_tensor_value_info("e" if unknown else "d", TensorProto.FLOAT, None)],
    )
    opsets = [helper.make_opsetid("", 17)] + [helper.make_opsetid("org.example", 1)] * unknown
    save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


def write_product(path: Path, *, turned: bool) -> Path:
    """Write a model of MatMul and Relu, a Transpose before them or, where not `turned`, behind."""
    product = helper.make_node("MatMul", ["t" if turned else "x", "w"], ["y"], name="product")
    nodes = [
        helper.make_node("Transpose", ["x" if turned else "z"], ["t"], name="turned", perm=[1, 0]),
        product,
        helper.make_node("Relu", ["y"], ["z"], name="last"),
    ]
    if not turned:
        nodes = [*nodes[1:], nodes[0]]
    weights = helper.make_tensor("w", TensorProto.FLOAT, [3, 3], [0.5 * each for each in range(9)])
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, 3])],
        [helper.make_tensor_value_info("z" if turned else "t", TensorProto.FLOAT, [3, 3])],
        [weights],
    )
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def write_boosted_trees(path: Path) -> Path:
    """Write two trees that vote for the first of two classes alone, as converters of XGBoost do."""
    trees: dict[str, Any] = {
        "nodes_treeids": [0, 0, 0, 1, 1, 1],
        "nodes_nodeids": [0, 1, 2, 0, 1, 2],
        "nodes_featureids": [0, 0, 0, 2, 0, 0],
        "nodes_modes": ["BRANCH_LT", "LEAF", "LEAF"] * 2,
        "nodes_values": [0.25, 0.0, 0.0, -0.5, 0.0, 0.0],
        "nodes_truenodeids": [1, 0, 0] * 2,
        "nodes_falsenodeids": [2, 0, 0] * 2,
        "nodes_missing_value_tracks_true": [1, 0, 0, 0, 0, 0],
        "class_treeids": [0, 0, 1, 1],
        "class_nodeids": [1, 2, 1, 2],
        "class_ids": [0] * 4,
        "class_weights": [-0.75, 0.5, 0.375, -1.25],
        "classlabels_int64s": [0, 1],
        "base_values": [0.125],
        "post_transform": "LOGISTIC",
    }
    domain = "ai.onnx.ml"
    node = helper.make_node("TreeEnsembleClassifier", ["X"], ["l", "p"], name="trees", domain=domain, **trees)
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("X", TensorProto.FLOAT, ["N", 3])],
        [
            helper.make_tensor_value_info("l", TensorProto.INT64, ["N"]),
            helper.make_tensor_value_info("p", TensorProto.FLOAT, ["N", 2]),
        ],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(domain, 1)]
    save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


def write_optimised(path: Path) -> Path:
    """Write a model of ONNX Runtime's operators, as its optimiser and quantisers do, of an older opset."""
    own: dict[str, Any] = {"domain": "com.microsoft"}
    draw = np.random.default_rng(46)
    constants = [
        numpy_helper.from_array(array, name)
        for name, array in (
            ("gamma", draw.uniform(0.5, 1.5, 16).astype(np.float32)),
            ("beta", draw.normal(0, 1, 16).astype(np.float32)),
            ("bits", draw.integers(0, 256, (16, 1, 8), dtype=np.uint8)),
            ("scales", draw.uniform(0.01, 0.1, (16, 1)).astype(np.float32)),
            ("step", np.array(0.0625, dtype=np.float32)),
            ("zero", np.array(128, dtype=np.uint8)),
        )
    ]
    nodes = [
        helper.make_node("SimplifiedLayerNormalization", ["x", "gamma"], ["a"], name="simplified", axis=-1),
        helper.make_node(
            "MatMulNBits", ["a", "bits", "scales"], ["b"], name="of bits", K=16, N=16, block_size=16, **own
        ),
        helper.make_node("SkipLayerNormalization", ["b", "x", "gamma", "beta"], ["c"], name="skipped", **own),
        helper.make_node("LayerNormalization", ["c", "gamma", "beta"], ["d"], name="layer", axis=-1),
        helper.make_node("QuantizeLinear", ["d", "step", "zero"], ["e"], name="quantised"),
        helper.make_node(
            "QLinearSigmoid", ["e", "step", "zero", "step", "zero"], ["f"], name="sigmoid", **own
        ),
        helper.make_node("DequantizeLinear", ["f", "step", "zero"], ["y"], name="back"),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3, 16])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 3, 16])],
        constants,
    )
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1)]
    save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path
