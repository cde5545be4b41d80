"""What tests of ai.onnx.ml have in common: calls of its references, and tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import Answer
from reference.registry import find_operator


def answers(
    name: str,
    version: int,
    inputs: dict[str, Any],
    readings: dict[str, str] | None = None,
    **attributes: Any,
) -> tuple[Answer, ...]:
    """What the reference of an operator answers; attributes that are None are left out."""
    given = {key: attribute for key, attribute in attributes.items() if attribute is not None}
    return find_operator(OperatorName("ai.onnx.ml", name, version)).evaluate(given, inputs, readings)


def texts(given: list[str], shape: tuple[int, ...]) -> Tensor:
    """A tensor of strings."""
    array = np.empty(len(given), dtype=object)
    array[:] = given
    return tensor(array.reshape(shape), "string")


def listed(given: Tensor) -> list[Any]:
    """The elements, strings as text."""
    found = given.array.reshape(-1).tolist()
    return [each.decode() if isinstance(each, bytes) else each for each in found]
