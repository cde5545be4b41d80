"""Cases turned into calls of a model: what a model with that one node would say."""

from __future__ import annotations

from onnx import ModelProto

from conformance.checked_models.model_calls import Extent, ModelCall, ModelNode, ModelValue
from conformance.suite.cases import Case
from conformance.suite.protos import read_attribute
from opcert.vocabulary.attributes import Attributes
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.slots import slots_of
from opcert.vocabulary.tensors import Tensor

MOST_KEPT = 64
"""Elements of a constant of which the value is told."""


def call_of_case(case: Case, *, constant: bool = False, extents: str = "known") -> ModelCall:
    """The call of a case of one node; with `constant` all but the first input stand in the model.

    `extents` says what is known of shapes: `known`, `named`, `open` (ranks alone) or `nothing`.
    """
    inputs: list[ModelValue | None] = []
    for place, slot in enumerate(slots_of(case.inputs, case.slots)):
        if slot.type is not None:
            inputs.append(ModelValue(slot.name, kind=str(slot.type)))
        elif not slot.parts:
            inputs.append(None)
        else:
            tensor = case.inputs[slot.parts[0]][1]
            assert tensor is not None
            inputs.append(_value(f"in{place}", tensor, constant and place > 0, extents))
    names, attributes, unread = _said(case)
    outputs = tuple(ModelValue(name) if name else None for name in names)
    node = ModelNode(
        "0", "node", case.operator, tuple(inputs), outputs, attributes, unread, op_type=case.operator.name
    )
    return ModelCall(node, (node,))


def _said(case: Case) -> tuple[tuple[str, ...], Attributes, dict[str, str]]:
    """Outputs and attributes of the node, and why others are not read.

    Of a case that is carried with its model they are those of the node there.
    """
    nodes = ModelProto.FromString(case.model or b"").graph.node
    for node in nodes:
        if node.op_type == case.operator.name:
            attributes, unread = {}, {}
            for one in node.attribute:
                try:
                    attributes[one.name] = read_attribute(one)
                except UserError as error:
                    unread[one.name] = str(error)
            return tuple(node.output), attributes, unread
    return case.output_names, case.attributes, {}


def _value(name: str, tensor: Tensor, constant: bool, extents: str) -> ModelValue:
    shape: tuple[Extent, ...] | None = tensor.shape
    if extents == "named":
        shape = tuple(extent if extent < 2 else f"n{extent}" for extent in tensor.shape)
    elif extents == "open":
        shape = (None,) * len(tensor.shape)
    elif extents == "nothing":
        shape = None
    if constant:
        kept = tensor if tensor.array.size <= MOST_KEPT else None
        return ModelValue(name, tensor.element_type.name, tensor.shape, None, True, kept)
    return ModelValue(name, tensor.element_type.name, shape)
