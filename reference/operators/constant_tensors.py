"""Constant, ConstantOfShape and EyeLike: tensors that do not hang on an input's elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from opcert.vocabulary.element_types import BY_CODE
from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import Answer
from reference.numbers.numbers import encode
from reference.registry import reference_operator
from reference.shared.movement import blank


@reference_operator("ai.onnx::Constant")
def constant(
    *,
    value: Tensor | None = None,
    sparse_value: None = None,
    value_float: float | None = None,
    value_floats: tuple[float, ...] | None = None,
    value_int: int | None = None,
    value_ints: tuple[int, ...] | None = None,
    value_string: str | None = None,
    value_strings: tuple[str, ...] | None = None,
) -> Tensor:
    """The tensor, or a scalar or list of float32, int64 or strings.

    Source: Constant, Summary and Attributes.
    """
    if value is not None:
        return value
    forms = (
        (value_float, "float"), (value_floats, "float"), (value_int, "int64"), (value_ints, "int64"),
        (value_string, "string"), (value_strings, "string"),
    )  # fmt: skip
    ((given, element_type),) = ((each, name) for each, name in forms if each is not None)
    listed: Any = list(given) if isinstance(given, tuple) else given
    return tensor(np.array(listed, dtype=object) if element_type == "string" else listed, element_type)


@reference_operator("ai.onnx::ConstantOfShape")
def constant_of_shape(input: tuple[int, ...], *, value: Tensor | None = None) -> Tensor:
    """A tensor of this shape that holds the one element of `value`, else the float 0.

    Source: ConstantOfShape, Summary, Attributes and Outputs.
    """
    one = tensor([0.0], "float") if value is None else value
    return Tensor(one.element_type, np.broadcast_to(one.array.reshape(()), input).copy())


@reference_operator("ai.onnx::EyeLike")
def eye_like(input: Tensor, *, dtype: int | None = None, k: int = 0) -> Answer:
    """Ones at [i, i + k] and zeros elsewhere, of the input's type or `dtype`.

    Source: EyeLike, Summary and k.
    """
    kind = input.element_type if dtype is None else BY_CODE[dtype]
    array = blank(kind, input.shape)
    rows, columns = np.ogrid[: input.shape[0], : input.shape[1]]
    array[columns == rows + k] = encode(kind, [1])[0] if kind.is_float else 1
    return Answer(Tensor(kind, array))
