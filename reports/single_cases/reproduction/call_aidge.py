"""Aidge: its importer, its scheduler, and its kernels for the CPU."""

from __future__ import annotations

from typing import Any

import aidge_backend_cpu  # noqa: F401 - it brings the kernels
import aidge_core
import aidge_onnx
import numpy as np
import onnx


class Unsupported(Exception):
    """What the importer does not know stands in the graph as a generic operator."""


def prepare(model: Any) -> Any:
    onnx.save(model, "case.onnx")
    graph = aidge_onnx.load_onnx("case.onnx")
    for node in graph.get_nodes():
        if type(node.get_operator()).__name__ == "GenericOperatorOp":
            raise Unsupported(f"Aidge has no operator {node.type()}: it is generic to it")
    graph.set_backend("cpu")
    scheduler = aidge_core.SequentialScheduler(graph)

    def call(inputs: Any) -> Any:
        arrays = [inputs[each.name] for each in model.graph.input]
        scheduler.forward(data=[aidge_core.Tensor(array) for array in arrays])
        ends = graph.get_ordered_outputs()
        return [np.array(node.get_operator().get_output(place)) for node, place in ends]

    return call
