"""Nodes whose graphs take values from around them: these are drawn, and stand around them in a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from onnx import ModelProto, NodeProto

from conformance.checked_models.model_calls import ModelNode, ModelValue
from conformance.checked_models.model_nodes import read_open_graphs
from conformance.checked_models.open_graphs import closed, held_values, put_around
from conformance.models.case_models import build_model
from conformance.models.input_names import named_inputs
from conformance.models.ir_versions import least_ir_version
from conformance.suite.cases import Case
from generator.asking.calls import Call
from generator.calls.data.data import fill
from generator.calls.data.draws import Draw
from generator.models.check.call_cases import Uncovered
from opcert.vocabulary.attributes import Attribute, Attributes, Graph
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor

AROUND = "around"
"""The dimension of which class of data values from around have."""
CLASSES = ("random", "distinct")
_LENGTHS = (1, 2, 3, 5)
_MOST_AXES = 3
_COUNTED = 3
"""Whole numbers from around are drawn up to this one: they count, or are places."""


@dataclass(frozen=True, eq=False)
class AroundNode:
    """The values from around a node, by their names in its graphs; of none of them nothing changes."""

    values: Mapping[str, ModelValue]
    opset: int = 0

    def close(self, call: Call, inputs: Sequence[ModelValue | None], data: str, draw: Draw) -> Call:
        """The call with graphs that hold drawn values; extents of one name are one, here and in `inputs`.

        `inputs` are the values that the node takes, in the order of the call's.
        """
        if not self.values:
            return call
        extents: dict[object, int] = {}
        for value, (_, given) in zip(inputs, call.inputs, strict=False):
            if value is not None and given is not None and value.shape is not None:
                extents |= dict(zip(value.shape, given.shape, strict=False))
        drawn = {name: _drawn(value, extents, data, draw.child(name)) for name, value in self.values.items()}
        return replace(call, attributes=with_values(call.attributes, drawn))

    def open(self, case: Case) -> tuple[Case, ModelProto]:
        """The same case with a model in which the values stand around the node."""
        values: dict[str, Tensor] = {}
        for given in case.attributes.values():
            if isinstance(given.value, Graph):
                values |= held_values(given.value, self.values)
        model = ModelProto.FromString(case.model or build_model(case))
        constant = {name for name, value in self.values.items() if value.is_constant}
        put_around(model, values, constant)
        for opset in model.opset_import:
            if not opset.domain:
                opset.version = max(opset.version, self.opset)
        model.ir_version = max(model.ir_version, least_ir_version(model.opset_import, ()))
        given_before = [(name, one) for name, one in named_inputs(case.inputs)]
        fed = [(name, one) for name, one in values.items() if name not in constant]
        return replace(case, inputs=(*given_before, *fed)), model


NOTHING_AROUND = AroundNode({})


def around_of(node: ModelNode) -> AroundNode:
    """What the graphs of a node take from around it; Uncovered where that is no tensor of a known type."""
    if not node.open_graphs:
        return NOTHING_AROUND
    for value in node.around.values():
        if value.kind is not None:
            raise Uncovered("no_tensors", f"Its graphs take {value.kind} from around it.")
        if value.element_type is None:
            told = f"Its graphs take {value.name} from around it, of which the model does not say the type."
            raise Uncovered("unread", told)
    return AroundNode(node.around, max(graph.opset for graph in node.open_graphs.values()))


def with_values(attributes: Attributes, values: Mapping[str, Tensor]) -> dict[str, Attribute]:
    """Attributes whose graphs hold values from around them as constants."""
    return {
        name: Attribute("graph", closed(given.value, values)) if isinstance(given.value, Graph) else given
        for name, given in attributes.items()
    }


def with_seen(node: NodeProto, facts: ModelNode, find: Callable[[str], Tensor | None]) -> ModelNode:
    """A node with graphs that hold what was seen around it; as it is where something was not."""
    if not facts.open_graphs:
        return facts
    graphs, names = read_open_graphs(node)
    seen = {inner: value for outer, inner in names.items() if (value := find(outer)) is not None}
    if len(seen) < len(names):
        return facts
    opset = max(graph.opset for graph in facts.open_graphs.values())
    held = {name: closed(replace(graph, opset=opset), seen) for name, graph in graphs.items()}
    return replace(
        facts,
        attributes={**facts.attributes, **{name: Attribute("graph", graph) for name, graph in held.items()}},
        unread={name: why for name, why in facts.unread.items() if name not in held},
    )


def _drawn(value: ModelValue, extents: dict[object, int], data: str, draw: Draw) -> Tensor:
    """The model's own value where it is known; else one of its type, of its shape as far as that is said."""
    if value.constant is not None:
        return value.constant
    assert value.element_type is not None
    kind = ELEMENT_TYPES[value.element_type]
    shape = value.shape
    if shape is None:
        shape = (None,) * draw.child("rank").integer(0, _MOST_AXES)
    lengths = []
    for axis, extent in enumerate(shape):
        drawn = draw.child(f"axis/{axis}").choice((*_LENGTHS, *extents.values()))
        lengths.append(drawn if extent is None else extents.setdefault(extent, _own_or(extent, drawn)))
    if kind.is_integer:
        numbers = draw.child("numbers").numbers(0, _COUNTED, prod(lengths))
        return Tensor(kind, np.array(numbers, dtype=kind.storage).reshape(lengths))
    return fill(kind, lengths, data, draw.child("data"))


def _own_or(extent: object, drawn: int) -> int:
    return extent if isinstance(extent, int) else drawn
