"""Cases in a model that holds as constants what the user's model holds, and is fed what that one is fed.

A form feeds every input, or the first alone. A node of which something else is constant (weights of an LSTM
whose states are fed, a table from which fed indices gather) is asked in a model of its own.
"""

from __future__ import annotations

from dataclasses import replace

from onnx import ModelProto

from conformance.models.case_models import build_model
from conformance.models.input_names import input_names
from conformance.models.ir_versions import LEAST_IR
from conformance.models.protos import write_tensor
from conformance.suite.cases import Case
from generator.checking.node_calls import NodeCall
from opcert.vocabulary.names import CaseId


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
    model = ModelProto.FromString(case.model or build_model(case))
    names = input_names(case.inputs)
    constant = {
        name
        for each, name in zip(node.inputs, names, strict=False)
        if each.value is not None and each.value.is_constant
    }
    graph = model.graph
    fed = [each for each in graph.input if each.name not in constant]
    del graph.input[:]
    graph.input.extend(fed)
    given = [(name, tensor) for name, (_, tensor) in zip(names, case.inputs, strict=True)]
    graph.initializer.extend(
        write_tensor(tensor, name) for name, tensor in given if tensor is not None and name in constant
    )
    model.ir_version = max(model.ir_version, LEAST_IR)
    raw = bytes(model.SerializeToString(deterministic=True))
    inputs = tuple((name, each) for name, each in given if each is not None and name not in constant)
    made = replace(case, model=raw, inputs=inputs)
    return replace(made, id=CaseId(case.id.operator, case.id.family, case.id.word, made.call_digest()))
