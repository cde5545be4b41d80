"""Aidge: its importer, its scheduler, and its kernels for the CPU."""

from __future__ import annotations

from typing import Any

import aidge_backend_cpu  # noqa: F401 - it brings the kernels
import aidge_core
import aidge_onnx
import numpy as np
import onnx


class GenericOperator(Exception):
    """What the importer does not know stands in the graph as a generic operator."""


def prepare(model: Any) -> Any:
    onnx.save(model, "case.onnx")
    graph = aidge_onnx.load_onnx("case.onnx")
    for node in graph.get_nodes():
        if type(node.get_operator()).__name__ == "GenericOperatorOp":
            raise GenericOperator(f"Aidge has no operator {node.type()}: it is generic to it")
    graph.set_backend("cpu")
    # The importer says in which layout each input is; a tensor in another one does not go with constants.
    ends = [node.get_operator().get_input(place) for node, place in graph.get_ordered_inputs() if node]
    layouts = [None if each is None else each.dformat for each in ends]
    scheduler = aidge_core.SequentialScheduler(graph)

    def call(inputs: Any) -> Any:
        arrays = [inputs[each.name] for each in model.graph.input]
        tensors = [aidge_core.Tensor(array) for array in arrays]
        for tensor, layout in zip(tensors, layouts, strict=False):
            if layout is not None:
                tensor.set_data_format(layout)
        if graph.get_nodes():  # of constants alone there is no node to run
            scheduler.forward(data=tensors)
        found = graph.get_ordered_outputs()
        return [np.array(node.get_operator().get_output(place)) for node, place in found]

    return call
