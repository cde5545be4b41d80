"""A case: one call of an operator, and what must happen."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from opcert.attributes import Attributes
from opcert.element_types import ElementType
from opcert.names import CaseId, OperatorName
from opcert.tensors import Tensor

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


@dataclass(frozen=True, eq=False)
class Expectation:
    """The outputs under one combination of open readings and implementation-defined behaviours."""

    outputs: tuple[ExpectedOutput, ...]
    readings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    behaviours: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Case:
    """One call of an operator and what must happen.

    `inputs` is in the operator's order; a None is an omitted optional input. `demand` is `answer` (one of
    `expectations` must hold), `refuse` (the call is an error; `constraint` names the rule broken and
    `valid_case` the case that it was made from) or `survive` (nothing but survival; `expectations` is empty).
    `levels` are the factor levels that the case was built from; `sources` the document lines behind the rule.
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

    @property
    def operator(self) -> OperatorName:
        return self.id.operator

    @property
    def family(self) -> str:
        return self.id.family


def call_digest(
    operator: OperatorName,
    attributes: Attributes,
    inputs: tuple[tuple[str, Tensor | None], ...],
    model: bytes | None = None,
) -> str:
    """The 12 hex digits of a case id: of operator, inputs, and attributes or the model in their place."""
    said: Attributes = attributes if model is None else {}
    head = {
        "operator": str(operator),
        "attributes": {name: [each.kind, each.value] for name, each in sorted(said.items())},
        "inputs": [
            [name, None if each is None else [each.element_type.name, list(each.shape)]]
            for name, each in inputs
        ],
    }
    digest = hashlib.sha256(json.dumps(head, sort_keys=True, separators=(",", ":")).encode())
    for _, each in inputs:
        if each is not None:
            digest.update(each.to_bytes())
    if model is not None:
        digest.update(model)
    return digest.hexdigest()[:12]
