"""A chain as an ONNX model: its nodes, its constants as initializers, and what it takes and gives."""

from __future__ import annotations

from collections.abc import Mapping

from onnx import ModelProto, OperatorSetIdProto

from conformance.models.ir_versions import least_ir_version
from conformance.suite.cases import ExpectedOutput
from conformance.suite.protos import declare_tensor, fill_attribute, write_tensor
from generator.models.chains.chains import Chain

_OURS = "ai.onnx"
_BESIDE_OTHERS = 13


def write_chain(chain: Chain, outputs: Mapping[str, ExpectedOutput]) -> bytes:
    """The serialized ModelProto of a chain; `outputs` tell what it declares of those that are asked for.

    Its operator sets are the oldest that hold the nodes, or the chain's own. Only constants that its nodes
    take stand in it.
    """
    model = ModelProto(producer_name="opcert")
    opsets: dict[str, int] = {_OURS: chain.opset}
    for link in chain.links:
        operator = link.operator
        opsets[operator.domain] = max(opsets.get(operator.domain, 0), operator.since_version)
    opsets[_OURS] = opsets[_OURS] or _BESIDE_OTHERS
    model.opset_import.extend(
        OperatorSetIdProto(domain="" if domain == _OURS else domain, version=version)
        for domain, version in sorted(opsets.items())
    )
    graph = model.graph
    graph.name = "chain"
    for link in chain.links:
        node = graph.node.add()
        node.op_type = link.operator.name
        if link.operator.domain != _OURS:
            node.domain = link.operator.domain
        node.input.extend(link.inputs)
        node.output.extend(link.outputs)
        for name, each in sorted(link.attributes.items()):
            fill_attribute(node.attribute.add(), name, each)
    for name, tensor in chain.given:
        shape = chain.shapes.get(name, tensor.shape)
        declare_tensor(graph.input.add(), name, tensor.element_type, shape)
    taken = {name for link in chain.links for name in link.inputs}
    graph.initializer.extend(write_tensor(each, name) for name, each in chain.constants if name in taken)
    for name in chain.outputs:
        expected = outputs[name].expected
        declare_tensor(graph.output.add(), name, expected.element_type, [None] * len(expected.shape))
    types = {each.element_type.name for each in chain.data.values()}
    types |= {each.expected.element_type.name for each in outputs.values()}
    model.ir_version = least_ir_version(model.opset_import, types)
    return bytes(model.SerializeToString(deterministic=True))
