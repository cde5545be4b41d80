"""Small models for `opcert check`: LeakyRelu, Flatten, Neg, and an operator that nobody knows."""

from __future__ import annotations

from pathlib import Path

from onnx import TensorProto, helper, save


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
