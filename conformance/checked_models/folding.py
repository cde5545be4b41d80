"""What the nodes that compute shapes come to, where all that they take is fixed and small."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.checked_models.model_calls import ModelValue
from conformance.checked_models.outside_data import MOST_ELEMENTS
from opcert.vocabulary.attributes import Attribute
from opcert.vocabulary.element_types import BY_CODE, ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor

_INT64 = ELEMENT_TYPES["int64"]
_WHOLE = ("int64", "int32")
MOST_FOLDED = 4_000_000
"""Elements that all nodes of a model may come to together; each comes to `MOST_ELEMENTS` at most."""
Array = NDArray[Any]
Attributes = Mapping[str, Attribute]


def constant_of_node(attributes: Attributes) -> Tensor | None:
    """What a Constant node gives; None where that is no tensor that was read."""
    for name, attribute in attributes.items():
        value: Any = attribute.value
        match name, attribute.kind:
            case "value", "tensor":
                return value if isinstance(value, Tensor) else None
            case "value_int" | "value_ints", "int" | "ints":
                return Tensor(_INT64, np.asarray(value, np.int64))
            case "value_float" | "value_floats", "float" | "floats":
                return Tensor(ELEMENT_TYPES["float"], np.asarray(value, np.float32))
            case "value_string" | "value_strings", "string" | "strings":
                return _texts(value)
    return None


def can_fold(op_type: str, inputs: Sequence[ModelValue | None]) -> bool:
    """Whether `fold` might say something: the operator is one that it computes, of fixed inputs."""
    return (
        op_type in _FOLDINGS and bool(inputs) and all(value is None or value.is_constant for value in inputs)
    )


def fold(op_type: str, attributes: Attributes, inputs: Sequence[ModelValue | None]) -> Tensor | None:
    """The output of a node of ai.onnx that computes on small fixed integers; None where it is another one.

    Shape needs the shape of what it takes alone.
    """
    try:
        if op_type == "Shape":
            return _shape(attributes, inputs)
        folding = _FOLDINGS.get(op_type)
        if folding is None or not inputs or len(inputs) > _MOST_INPUTS:
            return None
        constants = [None if value is None else value.constant for value in inputs]
        if any(value is not None and found is None for value, found in zip(inputs, constants, strict=True)):
            return None
        first = constants[0]
        if first is None or (op_type != "Identity" and first.element_type.name not in _WHOLE):
            return None
        if op_type == "Identity":
            return first
        arrays = [None if constant is None else constant.array for constant in constants]
        with np.errstate(all="ignore"):
            found = folding(attributes, arrays)
    except (ValueError, IndexError, TypeError, ArithmeticError, MemoryError, KeyError):
        return None  # a runtime says what is wrong with such a node; here nothing is known of it
    if isinstance(found, Tensor) or found is None:
        return found
    element_type = next(
        (each for name in _WHOLE if (each := ELEMENT_TYPES[name]).storage == found.dtype), None
    )
    return None if element_type is None or found.size > MOST_ELEMENTS else Tensor(element_type, found)


_MOST_INPUTS = 256


def _texts(value: Any) -> Tensor:
    texts = (value,) if isinstance(value, str) else value
    array = np.empty(len(texts), np.object_)
    array[:] = [text.encode("utf-8", "surrogateescape") for text in texts]
    return Tensor(ELEMENT_TYPES["string"], array.reshape(() if isinstance(value, str) else (-1,)))


def _number(attributes: Attributes, name: str, default: int) -> int:
    found = attributes.get(name)
    return found.value if found is not None and isinstance(found.value, int) else default


def _shape(attributes: Attributes, inputs: Sequence[ModelValue | None]) -> Tensor | None:
    first = inputs[0] if inputs else None
    if first is None or first.shape is None:
        return None
    start = _number(attributes, "start", 0)
    end = _number(attributes, "end", len(first.shape))
    part = first.shape[start:end]
    if not all(isinstance(each, int) for each in part):
        return None
    return Tensor(_INT64, np.asarray(part, np.int64))


def _cast(attributes: Attributes, arrays: Sequence[Array | None]) -> Array | None:
    to = BY_CODE.get(_number(attributes, "to", 0))
    if to is None or to.name not in _WHOLE or arrays[0] is None:
        return None
    converted: Array = arrays[0].astype(to.storage)
    return converted if (converted == arrays[0]).all() else None


def _gather(attributes: Attributes, arrays: Sequence[Array | None]) -> Array | None:
    data, indices = arrays
    if data is None or indices is None:
        return None
    axis = _number(attributes, "axis", 0)
    taken = prod(length for place, length in enumerate(data.shape) if place != axis % data.ndim)
    return np.asarray(np.take(data, indices, axis=axis)) if _is_kept(taken * indices.size) else None


def _concat(attributes: Attributes, arrays: Sequence[Array | None]) -> Array | None:
    given = [array for array in arrays if array is not None]
    if len(given) != len(arrays) or not _is_kept(sum(array.size for array in given)):
        return None
    return np.concatenate(given, axis=_number(attributes, "axis", 0))


def _axes(attributes: Attributes, arrays: Sequence[Array | None]) -> tuple[int, ...] | None:
    if len(arrays) > 1 and arrays[1] is not None:
        return tuple(int(each) for each in arrays[1].reshape(-1))
    found = attributes.get("axes")
    if found is None or not isinstance(found.value, tuple):
        return None
    return tuple(each for each in found.value if isinstance(each, int))


def _unsqueeze(attributes: Attributes, arrays: Sequence[Array | None]) -> Array | None:
    axes = _axes(attributes, arrays)
    return None if arrays[0] is None or axes is None or len(axes) > 8 else np.expand_dims(arrays[0], axes)


def _squeeze(attributes: Attributes, arrays: Sequence[Array | None]) -> Array | None:
    return None if arrays[0] is None else np.squeeze(arrays[0], _axes(attributes, arrays))


def _slice(_: Attributes, arrays: Sequence[Array | None]) -> Array | None:
    """Of a list alone, where the bounds are inputs."""
    data = arrays[0]
    if data is None or data.ndim != 1 or len(arrays) < 3:
        return None
    if len(arrays) > 3 and arrays[3] is not None and arrays[3].tolist() not in ([0], [-1]):
        return None
    parts = [None if array is None else int(array.reshape(-1)[0]) for array in arrays[1:3]]
    step = int(arrays[4].reshape(-1)[0]) if len(arrays) > 4 and arrays[4] is not None else 1
    return data[parts[0] : parts[1] : step] if step > 0 else None


def _two(
    compute: Callable[[Array, Array], Array],
) -> Callable[[Attributes, Sequence[Array | None]], Array | None]:
    def folded(_: Attributes, arrays: Sequence[Array | None]) -> Array | None:
        first, second = arrays
        if first is None or second is None or first.dtype != second.dtype:
            return None
        if not _is_kept(prod(np.broadcast_shapes(first.shape, second.shape))):
            return None
        return np.asarray(compute(first, second)).astype(first.dtype)

    return folded


def _is_kept(elements: int) -> bool:
    """Whether a result of so many elements is kept: told before it is computed, whatever it is made of."""
    return elements <= MOST_ELEMENTS


def _divide(first: Array, second: Array) -> Array:
    if (first < 0).any() or (second <= 0).any():
        raise ValueError("how such a quotient is rounded is for documents to say")
    return first // second


_FOLDINGS: dict[str, Callable[[Attributes, Sequence[Array | None]], Array | Tensor | None]] = {
    "Identity": lambda _, arrays: arrays[0],
    "Cast": _cast,
    "Gather": _gather,
    "Concat": _concat,
    "Unsqueeze": _unsqueeze,
    "Squeeze": _squeeze,
    "Slice": _slice,
    "Add": _two(np.add),
    "Sub": _two(np.subtract),
    "Mul": _two(np.multiply),
    "Div": _two(_divide),
}
