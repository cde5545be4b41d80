"""What a call of a model says as a digest: equal for equal calls, whatever the model names its values."""

from __future__ import annotations

import hashlib
from typing import Any

from conformance.checked_models.model_calls import ModelCall, ModelValue
from conformance.suite.canonical import canonical_json
from opcert.vocabulary.attributes import Attribute, Graph, describe_value
from opcert.vocabulary.tensors import Tensor

_DIGITS = 12


def key_of_call(call: ModelCall) -> str:
    """The 12 hex digits of a call: of its operator, attributes, types, extents, constants and outputs."""
    node, names = call.first, dict[str, str]()
    said = {
        "operator": str(node.operator or f"{node.domain}::{node.op_type}"),
        "attributes": {name: _attribute(each) for name, each in sorted(node.attributes.items())},
        "unread": sorted(node.unread),
        "inputs": [_value(each, names) for each in node.inputs],
        "outputs": [each is not None for each in node.outputs],
    }
    if known := sorted(names[each] for each in node.run_extents & names.keys()):
        said["run_extents"] = known
    return hashlib.sha256(canonical_json(said)).hexdigest()[:_DIGITS]


def _attribute(given: Attribute) -> list[Any]:
    if isinstance(given.value, Graph):
        return [given.kind, hashlib.sha256(given.value.raw).hexdigest()]
    return [given.kind, repr(describe_value(given.value))]


def _value(value: ModelValue | None, names: dict[str, str]) -> Any:
    if value is None:
        return None
    extents = None if value.shape is None else [_extent(each, names) for each in value.shape]
    return [value.element_type, extents, value.kind, value.is_constant, _constant(value.constant)]


def _extent(extent: int | str | None, names: dict[str, str]) -> int | str | None:
    return names.setdefault(extent, f"n{len(names)}") if isinstance(extent, str) else extent


def _constant(constant: Tensor | None) -> Any:
    if constant is None:
        return None
    return [constant.element_type.name, list(constant.shape), hashlib.sha256(constant.to_bytes()).hexdigest()]
