"""The form `strided`: the first tensor reaches the node as what a Transpose before it leaves.

A runtime may hand on a view whose elements do not lie side by side, and code that takes them for contiguous
then reads wrong ones. The tensor is given with its axes in reverse order; the model turns it back.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from onnx import ModelProto
from onnx.defs import get_schema

from conformance.models.input_names import Inputs, input_names, named_inputs
from conformance.models.packing_nodes import NO_ENDS, Ends, native_parts
from conformance.suite.cases import Case
from conformance.suite.protos import declare_tensor
from opcert.vocabulary.tensors import Tensor

_ADDED = "_turned"
_LEAST_RANK = 2


@dataclass(frozen=True)
class Turned:
    """The input at `place` that is given turned: its name in the model, and the tensor to give."""

    place: int
    name: str
    tensor: Tensor


def turned_input(case: Case, raw: bytes, ends: Ends = NO_ENDS) -> Turned | None:
    """Which input of a case its serialized model takes turned; None where that cannot be carried."""
    in_values = native_parts(case.slots, ends)
    names = input_names(case.inputs)
    given = {value_info.name for value_info in ModelProto.FromString(raw).graph.input}
    for place, (_, tensor) in enumerate(case.inputs):
        if tensor is None or place in in_values:
            continue
        name = names[place] + _ADDED
        if name not in given:
            return None
        return Turned(place, name, _turned(tensor))
    return None


def describe_turned(described: dict[str, Any] | None, name: str, turned: Turned) -> dict[str, Any] | None:
    """An input of a `load` request as the model has it: the one of this name under its new one, turned."""
    if described is None:
        return None
    if "parts" in described:
        return {**described, "parts": [describe_turned(each, name, turned) for each in described["parts"]]}
    if described["name"] != name:
        return described
    return {**described, "name": turned.name, "shape": list(turned.tensor.shape)}


def turn_first_input(model: ModelProto, inputs: Inputs) -> bool:
    """Let a model take the first of its inputs turned, in place; False where it is left as it is.

    The graph's input gets another name, and a Transpose node gives the value of the old one. That needs a
    first tensor of two axes or more and two elements or more, of a type that Transpose takes in the model's
    operator set.
    """
    versions = [opset.version for opset in model.opset_import if opset.domain in ("", "ai.onnx")]
    if not named_inputs(inputs) or not versions:
        return False
    name, tensor = named_inputs(inputs)[0]
    declared = next((value_info for value_info in model.graph.input if value_info.name == name), None)
    taken = {value_info for node in model.graph.node for value_info in (*node.input, *node.output)}
    if declared is None or name + _ADDED in taken or not _can_turn(tensor, versions[0]):
        return False
    declared.Clear()
    declare_tensor(declared, name + _ADDED, tensor.element_type, tensor.shape[::-1])
    nodes = list(model.graph.node)
    del model.graph.node[:]
    turn = model.graph.node.add()
    turn.op_type = "Transpose"
    turn.input.append(name + _ADDED)
    turn.output.append(name)
    permutation = turn.attribute.add()
    permutation.name = "perm"
    permutation.type = permutation.INTS
    permutation.ints.extend(range(len(tensor.shape) - 1, -1, -1))
    model.graph.node.extend(nodes)
    return True


def _can_turn(tensor: Tensor, opset: int) -> bool:
    enough = len(tensor.shape) >= _LEAST_RANK and tensor.array.size > 1
    return enough and f"tensor({tensor.element_type})" in _types_of_transpose(opset)


@cache
def _types_of_transpose(opset: int) -> frozenset[str]:
    schema = get_schema("Transpose", opset, "")
    return frozenset(schema.type_constraints[0].allowed_type_strs)


def _turned(tensor: Tensor) -> Tensor:
    return Tensor(tensor.element_type, np.ascontiguousarray(tensor.array.transpose()))
