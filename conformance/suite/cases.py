"""A case: one call of an operator, and what must happen; and its outline, which stays in memory."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from conformance.suite.properties import Properties
from opcert.vocabulary.attributes import Attributes, describe_value
from opcert.vocabulary.element_types import ElementType
from opcert.vocabulary.names import CaseId, OperatorName
from opcert.vocabulary.slots import Slots
from opcert.vocabulary.tensors import Tensor
from opcert.vocabulary.value_types import ValueType


@dataclass(frozen=True, eq=False, slots=True)
class CaseOutline:
    """A case with `shapes` of its inputs, by name and in order, in place of them; None is one left out."""

    id: CaseId
    element_type: str
    demand: Demand
    constraint: str | None
    levels: Mapping[str, str]
    attributes: Attributes
    shapes: tuple[tuple[str, tuple[int, ...] | None], ...]


def outline_of(case: Case) -> CaseOutline:
    """The outline of a case."""
    shapes = tuple((name, None if tensor is None else tensor.shape) for name, tensor in case.inputs)
    return CaseOutline(
        case.id, case.element_type.name, case.demand, case.constraint, case.levels, case.attributes, shapes
    )


Demand = Literal["answer", "refuse", "survive"]


@dataclass(frozen=True)
class Alternative:
    """Further values that one element may have beside the expected one, bit for bit.

    Where a part of a complex one equals the expected part, the allowed error of that part holds as well.
    """

    index: int
    values: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class ExpectedOutput:
    """What one output must be.

    `allowed` is the greatest permitted distance of each element from `expected` as float64 of the same
    shape, rounded up (infinity: any value); None asks for equal bits (the payload of a NaN excepted).
    `alternatives` are sparse: the flat row-major index of an element, and storage values it may have too.
    """

    name: str
    expected: Tensor
    allowed: NDArray[np.float64] | None = None
    alternatives: tuple[Alternative, ...] = ()


@dataclass(frozen=True)
class Unordered:
    """The order along an axis is left open, the same for all these outputs.

    With `lanes` the elements of each lane along the axis may be in an order of their own; without, whole
    slices across the axis change places.
    """

    outputs: tuple[str, ...]
    axis: int
    lanes: bool = False


@dataclass(frozen=True, eq=False)
class Expectation:
    """The outputs under one combination of open readings and implementation-defined behaviours.

    An output that is no tensor is here as tensors: a sequence as its length (int64, without axes) and its
    elements, an optional as whether it holds something (bool) and what it holds, a map as its keys in
    ascending order and its values. `contradicted` names the readings by which this is what one passage of
    the document says and another one denies. `functions` are those whose published table of allowed errors
    the allowances rest on.
    """

    outputs: tuple[ExpectedOutput, ...]
    readings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    behaviours: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unordered: tuple[Unordered, ...] = ()
    contradicted: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Case:
    """One call of an operator and what must happen.

    `inputs` is in the operator's order; a None is an omitted optional input, and the tensors of a variadic
    one repeat its name. `slots` say what the inputs of the node are made of, where they are not one tensor
    each. `output_names` are the node's outputs in order, empty where one is not wanted; `outputs_asked` says
    that which are wanted is part of the call. `output_types` are those of outputs that are no tensors.
    `demand` is `answer` (one of `expectations` must hold, where there are some, and all of `properties`),
    `refuse` (the call is an error; `constraint` names the rule broken and `valid_case` the case that it was
    made from) or `survive` (nothing but survival; `expectations` is empty). `levels` are the factor levels
    that the case was built from; `sources` the document lines behind the rule.
    `may_refuse` names what leaves it open whether a call that is to be answered may be refused as well, and
    `refusal_contradicted` says that a passage of the document rules the call out which its text allows.
    `model` is there where one node with these attributes cannot say the call: a serialized ONNX ModelProto
    whose graph takes `inputs`, all of them given, by their names. `operator` is then what it computes.
    """

    id: CaseId
    element_type: ElementType
    attributes: Attributes
    inputs: tuple[tuple[str, Tensor | None], ...]
    output_names: tuple[str, ...]
    demand: Demand
    expectations: tuple[Expectation, ...] = ()
    constraint: str | None = None
    valid_case: str | None = None
    levels: Mapping[str, str] = field(default_factory=dict)
    rule: str | None = None
    sources: tuple[tuple[str, int], ...] = ()
    model: bytes | None = None
    slots: Slots = ()
    outputs_asked: bool = False
    output_types: Mapping[str, ValueType] = field(default_factory=dict)
    properties: Properties = ()
    may_refuse: str | None = None
    refusal_contradicted: bool = False

    @property
    def operator(self) -> OperatorName:
        return self.id.operator

    @property
    def family(self) -> str:
        return self.id.family

    @property
    def wanted(self) -> tuple[str, ...]:
        """The names of the outputs that are wanted, in order."""
        return tuple(output_name for output_name in self.output_names if output_name)

    @property
    def is_plain(self) -> bool:
        """Whether it is one node of tensors: no model of its own, no body, no sequence, optional or map."""
        has_graph = any(attribute.kind.startswith("graph") for attribute in self.attributes.values())
        return self.model is None and not self.slots and not self.output_types and not has_graph

    def call_digest(self) -> str:
        """The 12 hex digits that the case's id has to have."""
        asked = self.output_names if self.outputs_asked else None
        return call_digest(self.operator, self.attributes, self.inputs, self.model, self.slots, asked)


def call_digest(
    operator: OperatorName,
    attributes: Attributes,
    inputs: tuple[tuple[str, Tensor | None], ...],
    model: bytes | None = None,
    slots: Slots = (),
    outputs: tuple[str, ...] | None = None,
) -> str:
    """The 12 hex digits of a case id: of operator, inputs, and attributes or the model in their place.

    `slots` and `outputs` (which are wanted) count where the call states them.
    """
    said: Attributes = attributes if model is None else {}
    head: dict[str, Any] = {
        "operator": str(operator),
        "attributes": {
            name: [attribute.kind, describe_value(attribute.value)]
            for name, attribute in sorted(said.items())
        },
        "inputs": [
            [name, None if tensor is None else [tensor.element_type.name, list(tensor.shape)]]
            for name, tensor in inputs
        ],
    }
    if slots:
        head["slots"] = describe_slots(slots)
    if outputs is not None:
        head["outputs"] = list(outputs)
    digest = hashlib.sha256(json.dumps(head, sort_keys=True, separators=(",", ":")).encode())
    for _, tensor in inputs:
        if tensor is not None:
            digest.update(tensor.to_bytes())
    if model is not None:
        digest.update(model)
    return digest.hexdigest()[:12]


def describe_slots(slots: Slots) -> list[Any]:
    """Slots as plain JSON: name, parts, type and whether they are empty."""
    return [
        [slot.name, list(slot.parts), None if slot.type is None else str(slot.type), slot.empty]
        for slot in slots
    ]
