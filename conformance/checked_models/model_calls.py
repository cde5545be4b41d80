"""What a model asks of a runtime: its nodes in order, and the distinct calls that they come to."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from opcert.vocabulary.attributes import Attribute, Graph, describe_value
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor

TELLING = 16
"""A constant of so many elements steers a call (axes, pads, scales) and belongs to it."""

Extent = int | str | None
"""A length, a name for one, or nothing known."""


@dataclass(frozen=True, eq=False)
class ModelValue:
    """What a node takes or gives, as far as the model says: `shape` is None where not even the rank is known.

    `element_type` is None for what is no tensor (`kind` says what it is: `sequence(tensor(float))`) and where
    the model does not say. `constant` is the value where the model fixes it and it is small enough to keep;
    `is_constant` is true of large ones as well, and of those whose data is in a file that was not read.
    """

    name: str
    element_type: str | None = None
    shape: tuple[Extent, ...] | None = None
    kind: str | None = None
    is_constant: bool = False
    constant: Tensor | None = None


@dataclass(frozen=True, eq=False)
class ModelNode:
    """A node of a model: where it stands, the operator version that its opset means, and its call.

    `place` tells it from every other one: the index in its graph, behind those of the nodes and the names of
    the attributes that hold the graph (`12`, `7/body/3`), a function's name before it (`local::Block/2`).
    An input that is left out is None, as is an output that is not wanted. `attributes` are those that
    opcert can carry; `unread` says for each other one why not. `operator` is None where the domain's
    version or the name is none that can be written; `unknown` then says what is wrong. `run_extents` are the
    names of extents that the model's own inputs have: they come with each run. `open_graphs` are those of
    `unread` that take values from around the node, `around` these values by the names that they have there.
    `opset` is that of ONNX's operators in the model, 0 where it has none.
    """

    place: str
    name: str
    operator: OperatorName | None
    inputs: tuple[ModelValue | None, ...]
    outputs: tuple[ModelValue | None, ...]
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)
    unknown: str | None = None
    op_type: str = ""
    domain: str = ""
    run_extents: frozenset[str] = frozenset()
    open_graphs: Mapping[str, Graph] = field(default_factory=dict)
    around: Mapping[str, ModelValue] = field(default_factory=dict)
    opset: int = 0


def with_opset(node: ModelNode, opsets: Mapping[str, int]) -> ModelNode:
    """The node with the opset of ONNX's operators that it is of, and graphs that say it, too."""
    opset = opsets.get("ai.onnx", 0)
    attributes = {
        name: replace(attribute, value=replace(attribute.value, opset=opset))
        if isinstance(attribute.value, Graph)
        else attribute
        for name, attribute in node.attributes.items()
    }
    graphs = {name: replace(graph, opset=opset) for name, graph in node.open_graphs.items()}
    return replace(node, attributes=attributes, open_graphs=graphs, opset=opset)


@dataclass(frozen=True, eq=False)
class ModelCall:
    """One distinct call of a model, and the nodes that make it, in order.

    Nodes make the same call where operator version, attributes, which inputs and outputs there are, their
    element types and ranks, which inputs are constant, and constants of at most `TELLING` elements are equal;
    larger ones are data, whatever they hold, as is the value of a Constant node. `first` is the first of the
    nodes; extents of it stand for all. `digest` names the call: 12 hex digits, the same in every model.
    """

    first: ModelNode
    nodes: tuple[ModelNode, ...]

    @property
    def operator(self) -> OperatorName | None:
        return self.first.operator

    @cached_property
    def digest(self) -> str:
        said = json.dumps(_identity(self.first), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(said.encode("utf-8", "surrogateescape")).hexdigest()[:12]


@dataclass(frozen=True, eq=False)
class ModelFacts:
    """A model as it was read: where from, its digest, opsets, nodes in order, and its distinct calls.

    `notes` tell what the reader passed over, in sentences: shapes that were not inferred, data that was not
    read, functions that nobody calls.
    """

    path: str
    sha256: str
    opsets: Mapping[str, int]
    nodes: tuple[ModelNode, ...]
    calls: tuple[ModelCall, ...]
    notes: tuple[str, ...] = ()


def _identity(node: ModelNode) -> dict[str, Any]:
    """What nodes of one call share."""
    operator = node.operator
    is_constant = operator is not None and operator.unversioned == "ai.onnx::Constant"
    around = [_identity_of_value(value) for value in node.around.values()] if node.open_graphs else []
    graphs = {name: describe_value(graph) for name, graph in node.open_graphs.items()}
    return {
        "operator": str(operator) if operator else f"{node.domain}::{node.op_type}",
        "attributes": {
            name: [attribute.kind, _kind_of(attribute) if is_constant else describe_value(attribute.value)]
            for name, attribute in node.attributes.items()
        },
        "unread": sorted(node.unread),
        "inputs": [None if value is None else _identity_of_value(value) for value in node.inputs],
        "outputs": [None if output is None else _identity_of_type(output) for output in node.outputs],
        **({"open_graphs": graphs, "around": around} if graphs else {}),
    }


def _identity_of_value(value: ModelValue) -> list[Any]:
    told = value.constant if value.constant is not None and value.constant.array.size <= TELLING else None
    return [
        *_identity_of_type(value),
        value.is_constant,
        None if told is None else [list(told.shape), told.to_bytes().hex()],
    ]


def _identity_of_type(value: ModelValue) -> list[Any]:
    return [value.element_type, None if value.shape is None else len(value.shape), value.kind]


def _kind_of(attribute: Attribute) -> Any:
    value = attribute.value
    return [value.element_type.name, len(value.shape)] if isinstance(value, Tensor) else None
