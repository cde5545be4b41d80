"""Writes a small ONNX model, for `opcert check`: a convolution, an activation, a sum over axes, a Softmax.

python small_model.py small.onnx
"""

from __future__ import annotations

import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

weights = numpy_helper.from_array(np.full((4, 3, 3, 3), 0.125, np.float32), "weights")
axes = numpy_helper.from_array(np.array([2, 3], np.int64), "axes")
nodes = [
    helper.make_node("Conv", ["image", "weights"], ["edges"], name="edges", pads=[1, 1, 1, 1]),
    helper.make_node("Sigmoid", ["edges"], ["active"], name="active"),
    helper.make_node("ReduceSum", ["active", "axes"], ["total"], name="total", keepdims=0),
    helper.make_node("Softmax", ["total"], ["shares"], name="shares", axis=1),
]
graph = helper.make_graph(
    nodes,
    "small",
    [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, 8, 8])],
    [helper.make_tensor_value_info("shares", TensorProto.FLOAT, [1, 4])],
    [weights, axes],
)
save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8), sys.argv[1])
