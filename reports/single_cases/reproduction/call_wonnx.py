"""wonnx: a session on the Vulkan driver that VK_ICD_FILENAMES names, or the system's."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import onnx
import wonnx

DRIVER = ""


class NoSuchArrays(Exception):
    """Its interface takes float32 alone; lists come back, in the shapes that the model declares."""


def prepare(model: Any) -> Any:
    if DRIVER:
        os.environ["VK_ICD_FILENAMES"] = DRIVER
    if any(each.type.tensor_type.elem_type != onnx.TensorProto.FLOAT for each in model.graph.input):
        raise NoSuchArrays("wonnx's interface takes float32 alone")
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
    ends = [(each.name, each.type.tensor_type) for each in inferred.graph.output]
    shapes = {name: [extent.dim_value for extent in kind.shape.dim] for name, kind in ends}
    if not all(extent.HasField("dim_value") for _, kind in ends for extent in kind.shape.dim):
        raise NoSuchArrays("wonnx has no shapes that are known in the run")
    session = wonnx.Session.from_bytes(inferred.SerializeToString())

    def call(inputs: Any) -> Any:
        found = session.run({name: array.reshape(-1).tolist() for name, array in inputs.items()})
        types = {name: onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type) for name, kind in ends}
        return [np.array(found[name], types[name]).reshape(shapes[name]) for name, _ in ends]

    return call
