"""Chains run node by node in numpy, honestly or with one node done as a wrong optimiser would do it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from conformance.suite.cases import Case
from tests.generator.neighbours.fused_programs import Array, passes


@dataclass(frozen=True)
class Step:
    """One node as it is come to: its attributes, what goes into it, and what it gives when it is honest."""

    node: onnx.NodeProto
    inputs: tuple[Any, ...]
    honest: Callable[..., tuple[Array, ...]]
    makers: Mapping[str, Step]

    @property
    def attributes(self) -> dict[str, Any]:
        return {
            attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in self.node.attribute
        }

    def before(self, place: int) -> Step:
        """The node that made one of the inputs."""
        return self.makers[self.node.input[place]]

    def result(self) -> Array:
        """What the node gives."""
        return self.honest(*self.inputs)[0]

    def with_attributes(self, *inputs: Any, **changed: Any) -> Array:
        """What a node of other attributes gives; None takes one away."""
        node = onnx.NodeProto()
        node.CopyFrom(self.node)
        kept = {**self.attributes, **changed}
        del node.attribute[:]
        for name, value in kept.items():
            if value is not None:
                node.attribute.append(onnx.helper.make_attribute(name, value))
        given = inputs or self.inputs
        names = [name for name in node.input if name]
        values = [each for each in given if each is not None]
        (found,) = ReferenceEvaluator(node).run(None, dict(zip(names, values, strict=True)))
        return np.asarray(found)


Wrong = Callable[[Step], Array | None]
"""What a wrong optimiser makes of a node; None where it leaves it as it is."""


def evaluated(case: Case, name: str = "", wrong: Wrong | None = None) -> tuple[tuple[Array, ...], bool]:
    """The outputs of a case's model, nodes of that name done wrong; and whether there was one to do wrong."""
    assert case.model is not None
    model = onnx.ModelProto.FromString(case.model)
    values: dict[str, Any] = {"": None}
    values |= {given: np.asarray(tensor.array) for given, tensor in case.inputs if tensor is not None}
    values |= {
        initializer.name: onnx.numpy_helper.to_array(initializer) for initializer in model.graph.initializer
    }
    steps: dict[str, Step] = {}
    done = False
    for runnable in ReferenceEvaluator(model).rt_nodes_:
        node = runnable.onnx_node
        step = Step(node, tuple(values[value_info] for value_info in node.input), runnable.run, steps)
        found = wrong(step) if wrong is not None and node.op_type == name else None
        done |= found is not None
        with np.errstate(all="ignore"):
            outputs = step.honest(*step.inputs) if found is None else (found,)
        for place, output in enumerate(node.output):
            if place < len(outputs):
                values[output] = outputs[place]
            steps[output] = step
    return tuple(np.asarray(values[value_info.name]) for value_info in model.graph.output), done


def is_right(case: Case, outputs: tuple[Array, ...]) -> bool:
    """Whether outputs of the right shapes are a right answer."""
    shapes = [output.expected.shape for output in case.expectations[0].outputs]
    return [output.shape for output in outputs] == shapes and passes(case, *outputs)


def noticed(cases: Iterable[Case], name: str, wrong: Wrong) -> tuple[int, int]:
    """How many cases notice a wrong fusion, and in how many there is something to do wrong."""
    found = tried = 0
    for case in cases:
        outputs, done = evaluated(case, name, wrong)
        tried += done
        found += done and not is_right(case, outputs)
    return found, tried
