"""Outputs of a model that are integers times a scale: how large a step of them is."""

from __future__ import annotations

from conformance.adopting.foreign_tensors import read_foreign_tensor
from conformance.checked_models.whole_reading import WholeModel
from generator.models.chains.carrying import MOVING
from opcert.vocabulary.errors import UserError


def output_steps(model: WholeModel) -> dict[str, float]:
    """The step of each output that comes of DequantizeLinear with one scale, moved about or not, by name."""
    makers = {name: node for node in model.proto.graph.node for name in node.output}
    found = {}
    for each in model.proto.graph.output:
        node = makers.get(each.name)
        while node is not None and node.op_type in MOVING and node.input:
            node = makers.get(node.input[0])
        if node is None or node.op_type != "DequantizeLinear" or len(node.input) < 2:
            continue
        proto = model.initializers.get(node.input[1])
        try:
            scale = None if proto is None else read_foreign_tensor(proto)
        except UserError:
            continue
        if scale is not None and scale.array.size == 1 and scale.array.dtype.kind == "f":
            found[each.name] = abs(float(scale.array.reshape(-1)[0]))
    return {name: step for name, step in found.items() if 0 < step < float("inf")}
