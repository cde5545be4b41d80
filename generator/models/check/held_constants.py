"""Cases in a model that holds as constants what the user's model holds, and is fed what that one is fed.

A form feeds every input, or the first alone. A node of which something else is constant (weights of an LSTM
whose states are fed, a table from which fed indices gather) is asked in a model of its own.
"""

from __future__ import annotations

from dataclasses import replace

from onnx import ModelProto

from conformance.models.case_models import build_model, hold_as_constants
from conformance.models.input_names import input_names
from conformance.suite.cases import Case
from generator.models.check.node_calls import NodeCall
from generator.models.check.open_shapes import in_model


def holds_some(node: NodeCall) -> bool:
    """Whether some of a node's inputs are constants, some are fed, and no form says which."""
    given = [each.value for each in node.inputs if each.value is not None]
    constant = [each.is_constant for each in given]
    return any(constant) and not all(constant) and constant != [False] + [True] * (len(given) - 1)


def held(node: NodeCall, case: Case) -> Case:
    """The same case in a model that holds the node's constants; its inputs are those that are fed.

    The case itself where it takes more than tensors.
    """
    if case.slots:
        return case
    given = [(name, tensor) for name, (_, tensor) in zip(input_names(case.inputs), case.inputs, strict=True)]
    constants = {
        name: tensor
        for each, (name, tensor) in zip(node.inputs, given, strict=False)
        if tensor is not None and each.value is not None and each.value.is_constant
    }
    model = ModelProto.FromString(case.model or build_model(case))
    hold_as_constants(model, constants)
    inputs = tuple((name, each) for name, each in given if each is not None and name not in constants)
    return in_model(replace(case, inputs=inputs), model)
