"""What the reference operators that move data and compute nothing have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opcert.element_types import ElementType
from opcert.tensors import Tensor
from reference.answers import OutsideDomain

CLASSIC_TYPES = (
    "bool", "string", "float16", "bfloat16", "float", "double", "complex64", "complex128",
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
)  # fmt: skip
"""The sixteen element types that ONNX calls all tensor types up to opset 18."""


def demand(holds: bool, problem: str, got: object, expected: str) -> None:
    """Raise OutsideDomain with that problem unless the condition holds."""
    if not holds:
        raise OutsideDomain(problem, got=str(got), expected=expected)


def demand_type(name: str, given: Tensor, types: Sequence[str]) -> None:
    """Raise OutsideDomain unless the tensor's element type is one of those named."""
    demand(
        given.element_type.name in types,
        f"element type of {name} that the operator does not have",
        given.element_type,
        f"one of {', '.join(types)}",
    )


def read_integers(given: Tensor) -> tuple[int, ...]:
    """The elements of an integer tensor in row-major order, as Python integers."""
    return tuple(int(each) for each in given.array.reshape(-1).tolist())


def blank(element_type: ElementType, shape: Sequence[int], string: bytes = b"") -> NDArray[Any]:
    """An array in the type's storage that holds zeros, False, or the given string."""
    fill: object = string if element_type.kind == "string" else 0
    return np.full(tuple(shape), fill, dtype=element_type.storage)
