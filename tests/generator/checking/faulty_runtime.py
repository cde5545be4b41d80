"""Runtimes for tests: ONNX's reference evaluator in this process, with faults planted in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto
from onnx.reference import ReferenceEvaluator

from conformance.checked_models.node_order import taken_names
from conformance.judging.responses import Answered, Refused, Response
from conformance.suite.cases import Case
from opcert.vocabulary.element_types import element_type_of
from opcert.vocabulary.tensors import Tensor

Fault = Callable[[NDArray[Any], int], NDArray[Any]]
"""What becomes of the output of a node, in a model of so many nodes."""


@dataclass(eq=False)
class FaultyRuntime:
    """Runs models node by node; `faults` change the outputs of operators by name.

    It refuses models of more than `most_outputs` outputs, and those in which an operator of `refused` stands.
    """

    faults: Mapping[str, Fault] = field(default_factory=dict)
    most_outputs: int = 1000
    refused: frozenset[str] = frozenset()
    asked: list[ModelProto] = field(default_factory=list)

    def ask(self, case: Case, valid: Case | None = None) -> Response:
        assert case.model is not None
        model = ModelProto.FromString(case.model)
        self.asked.append(model)
        if len(model.graph.output) > self.most_outputs:
            return Refused("TooMany", f"{len(model.graph.output)} outputs")
        if any(node.op_type in self.refused for node in model.graph.node):
            return Refused("NotKnown", "an operator")
        return Answered(tuple(map(_tensor, self._run(model, case))))

    def _run(self, model: ModelProto, case: Case) -> list[NDArray[Any]]:
        values = {name: tensor.array for name, tensor in case.inputs if tensor is not None}
        for node in model.graph.node:
            alone = ModelProto()
            alone.CopyFrom(model)
            del alone.graph.node[:], alone.graph.input[:], alone.graph.output[:]
            alone.graph.node.append(node)
            for name in sorted(taken_names(node)):
                if name in values:
                    alone.graph.input.add(name=name).type.tensor_type.elem_type = 1
            for name in node.output:
                alone.graph.output.add(name=name).type.tensor_type.elem_type = 1
            given = {value_info.name: values[value_info.name] for value_info in alone.graph.input}
            found = ReferenceEvaluator(alone).run(None, given)
            fault = self.faults.get(node.op_type)
            if fault is not None:
                found = [fault(np.asarray(each), len(model.graph.node)) for each in found]
            values |= dict(zip(node.output, found, strict=True))
        return [values[value_info.name] for value_info in model.graph.output]


def _tensor(array: Any) -> Tensor:
    plain = np.asarray(array)
    return Tensor(element_type_of(plain.dtype), plain)
