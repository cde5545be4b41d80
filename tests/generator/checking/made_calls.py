"""Calls of models, written in a line each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from conformance.checked_models.model_calls import Extent, ModelCall, ModelNode, ModelValue
from opcert.vocabulary.attributes import Attribute, attribute
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import tensor

INFERRED = "inferred"
"""The name of an extent that no input of the model has."""


def fed(*extents: Extent, of: str = "float") -> ModelValue:
    """What a model feeds to a node."""
    return ModelValue("fed", of, extents)


def weight(*extents: int, of: str = "float") -> ModelValue:
    """A constant that is too large for its value to be told."""
    return ModelValue("weight", of, extents, None, True)


def fixed(value: Any, dtype: str = "int64") -> ModelValue:
    """A small constant."""
    made = tensor(np.array(value, dtype=dtype))
    return ModelValue("fixed", made.element_type.name, made.shape, None, True, made)


def call(
    operator: str, inputs: Sequence[ModelValue | None], outputs: int = 1, **attributes: Any
) -> ModelCall:
    """The call of one node with so many outputs and plain attributes; of ai.onnx where no domain is named."""
    name = OperatorName.parse(operator if "::" in operator else f"ai.onnx::{operator}")
    given: Mapping[str, Attribute] = {each: _attribute(value) for each, value in attributes.items()}
    wanted = tuple(ModelValue(f"out{place}") for place in range(outputs))
    shapes = [value.shape or () for value in inputs if value is not None and not value.is_constant]
    names = frozenset(one for shape in shapes for one in shape if isinstance(one, str) and one != INFERRED)
    node = ModelNode("0", "node", name, tuple(inputs), wanted, given, op_type=name.name, run_extents=names)
    return ModelCall(node, (node,))


def _attribute(value: Any) -> Attribute:
    plain: dict[type, Any] = {int: "int", float: "float", str: "string"}
    if isinstance(value, list):
        return attribute(f"{plain[type(value[0])]}s", value)
    return attribute(plain[type(value)], value)
