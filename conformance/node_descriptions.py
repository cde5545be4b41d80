"""A case as a worker takes it that knows its domain as nodes: a description of the node, without a model."""

from __future__ import annotations

import math
from typing import Any

from conformance.canonical import number_name
from conformance.cases import Case
from conformance.models import Form, input_names, is_constant
from opcert.attributes import Attribute


def describe_node(case: Case, form: Form) -> tuple[dict[str, Any], list[bytes]]:
    """The node as a `load` request of the worker protocol describes it, and the blobs of its constants.

    Blobs are numbered from 0; the caller moves the numbers where it sends others before them.
    """
    names = input_names(case.inputs)
    described: list[dict[str, Any] | None] = []
    blobs: list[bytes] = []
    present = 0
    for name, (_, tensor) in zip(names, case.inputs, strict=True):
        if tensor is None:
            described.append(None)
            continue
        shape: list[int | None] = [None] * len(tensor.shape) if form == "dynamic" else list(tensor.shape)
        entry: dict[str, Any] = {"name": name, "element_type": tensor.element_type.name, "shape": shape}
        if is_constant(present, form):
            entry.update(constant=True, blob=len(blobs))
            blobs.append(tensor.to_bytes())
        described.append(entry)
        present += 1
    operator = {
        "domain": case.operator.domain,
        "name": case.operator.name,
        "since_version": case.operator.since_version,
    }
    header = {
        "operator": operator,
        "attributes": {name: _describe_attribute(each) for name, each in sorted(case.attributes.items())},
        "inputs": described,
        "outputs": list(case.output_names),
    }
    return header, blobs


def _describe_attribute(attribute: Attribute) -> dict[str, Any]:
    value: Any = attribute.value
    if attribute.kind == "float":
        value = _finite(value)
    elif attribute.kind == "floats":
        value = [_finite(each) for each in value]
    elif isinstance(value, tuple):
        value = list(value)
    return {"kind": attribute.kind, "value": value}


def _finite(value: float) -> float | str:
    return value if math.isfinite(value) else number_name(value)
