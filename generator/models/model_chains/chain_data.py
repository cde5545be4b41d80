"""Data for chains of a model: its own constants, and numbers of which results come out exactly."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from conformance.checked_models.model_calls import ModelNode, ModelValue
from generator.models.chains.exact_data import powers, whole
from generator.models.chains.node_answers import Unpushed
from generator.models.model_chains.shrunk_extents import MOST_ELEMENTS, Shrink
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.tensors import Tensor

_POSITIVE_POWERS = frozenset(
    {("QuantizeLinear", 1), ("DequantizeLinear", 1), ("BatchNormalization", 1), ("Div", 1), ("Resize", 2)}
)
"""Inputs, by operator and place, that scale: powers of two."""
_POSITIVE = frozenset({("BatchNormalization", 4), ("Sqrt", 0), ("Log", 0)})
_SHAPES = frozenset({("Reshape", 1), ("Expand", 1), ("ConstantOfShape", 0)})


EXACT_EPSILON = 0.5
_VARIANCES = (3.5, 0.5, 15.5)
"""With this epsilon, variances of which the root is a power of two."""


@dataclass(frozen=True)
class ChainNumbers:
    """What is kept of a model's numbers: those of its small constants, the epsilon of normalizations."""

    numbers: bool = True
    epsilon: bool = True


def value_for(
    key: str, value: ModelValue, node: ModelNode, place: int, shrink: Shrink, kept: ChainNumbers
) -> Tensor:
    """A tensor for an input of a node, of the model's type and of its shape as `shrink` makes it.

    Of small constants of the model integers stand as they are, for these say shapes, axes and places, and
    with `kept.numbers` others as well. Raises Unpushed where type or shape are not known, or it is too large.
    """
    if value.constant is not None:
        constant = _shrunk(value.constant, node, place, shrink)
        stays = kept.numbers or not constant.element_type.is_float
        fits = value.shape is None or tuple(map(shrink, value.shape)) == constant.shape
        if stays and (fits or constant.array.size == 1 or constant.element_type.name == "int64"):
            return constant
    if value.element_type not in ELEMENT_TYPES or value.shape is None:
        raise Unpushed(f"type or shape of an input of {node.op_type} are not known")
    kind = ELEMENT_TYPES[value.element_type]
    shape = tuple(map(shrink, value.shape))
    if prod(shape) > MOST_ELEMENTS:
        raise Unpushed("the tensors are too large to be worked out exactly", got=f"{list(shape)}")
    if (node.op_type, place) == ("BatchNormalization", 4) and not kept.epsilon:
        return Tensor(kind, np.resize(np.array(_VARIANCES, kind.storage), shape))
    return Tensor(kind, _numbers(key, kind, shape, node.op_type, place))


def _shrunk(constant: Tensor, node: ModelNode, place: int, shrink: Shrink) -> Tensor:
    """A constant as it is; one that says a shape with the extents that stand for its own."""
    if (node.op_type, place) not in _SHAPES:
        return constant
    array = np.array([shrink(int(each)) for each in constant.array.reshape(-1).tolist()], np.int64)
    return Tensor(constant.element_type, array.reshape(constant.shape))


def _numbers(
    key: str, kind: ElementType, shape: tuple[int, ...], operator: str, place: int
) -> NDArray[np.generic]:
    if kind.name == "bool":
        return whole(key, *shape, least=0, most=1, dtype=np.bool_)
    if kind.is_integer and kind.bits >= 8:
        low = 0 if kind.kind == "unsigned" or kind.bits >= 32 else -6
        most = 1 if kind.bits >= 32 else 12
        if (operator, place) in (("QuantizeLinear", 2), ("DequantizeLinear", 2)):
            low, most = 2, 2
        return whole(key, *shape, least=low, most=most, dtype=kind.storage)
    if kind.name in ("float", "double", "float16"):
        if (operator, place) in _POSITIVE_POWERS:
            return np.abs(powers(key, *shape, least=-2, most=1)).astype(kind.storage)
        least = 1 if (operator, place) in _POSITIVE else -4
        return whole(key, *shape, least=least, most=4, dtype=kind.storage)
    raise Unpushed(f"no data is made of {kind}")
