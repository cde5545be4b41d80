"""Graphs as attributes that change a tensor: their nodes, computed on Numbers one after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from onnx import GraphProto, TensorProto
from onnx.numpy_helper import to_array

from opcert.vocabulary.attributes import Graph
from opcert.vocabulary.element_types import BY_CODE
from opcert.vocabulary.tensors import Tensor
from reference.answers import OutsideDomain
from reference.functions.functions import function_of
from reference.numbers.number_arrays import Numbers

_NODES: Mapping[str, Callable[..., Numbers]] = {
    "Identity": lambda value: value,
    "Neg": lambda value: -value,
    "Tanh": lambda value: function_of("tanh", value),
    "Add": lambda one, other: one + other,
    "Sub": lambda one, other: one - other,
    "Mul": lambda one, other: one * other,
    "Div": lambda one, other: one / other,
}


def modified(graph: Graph | None, numbers: Numbers) -> Numbers:
    """What the graph gives of the one tensor that it takes; without a graph the tensor itself.

    Raises OutsideDomain for a graph with other nodes than are computed here, or of another form.
    """
    if graph is None:
        return numbers
    proto = GraphProto()
    proto.ParseFromString(graph.raw)
    if len(proto.input) != 1 or len(proto.output) != 1:
        raise OutsideDomain("a modifier takes one tensor and gives one")
    values = {each.name: Numbers.of(_tensor(each), numbers.working) for each in proto.initializer}
    values[proto.input[0].name] = numbers
    for node in proto.node:
        compute = None if node.domain or node.attribute else _NODES.get(node.op_type)
        if compute is None or len(node.output) != 1 or any(each not in values for each in node.input):
            raise OutsideDomain("a node of a modifier that is not computed here", got=node.op_type)
        values[node.output[0]] = compute(*(values[each] for each in node.input))
    found = values.get(proto.output[0].name)
    if found is None or found.shape != numbers.shape:
        raise OutsideDomain("a modifier gives a tensor of the shape of what it takes")
    return found


def _tensor(proto: TensorProto) -> Tensor:
    kind = BY_CODE[proto.data_type]
    return Tensor(kind, np.ascontiguousarray(to_array(proto)).view(kind.storage).reshape(tuple(proto.dims)))
