"""Tensors whose elements were held in another type for a while, and lost what it does not hold."""

from __future__ import annotations

import numpy as np

from conformance.suite.values import decode_floats
from opcert.vocabulary.element_types import ElementType
from opcert.vocabulary.tensors import Tensor
from reference.numbers.numbers import encode


def held_in(given: Tensor, narrow: ElementType) -> Tensor:
    """The tensor after its elements were turned into another type and back; integers are clamped."""
    kind, array = given.element_type, given.array
    with np.errstate(over="ignore", invalid="ignore"):
        if narrow.is_integer:
            return Tensor(kind, array.astype(narrow.storage).astype(kind.storage))
        if narrow.name in ("bfloat16", "float8e5m2"):
            plain = decode_floats(kind, array).reshape(-1).tolist()
            held = decode_floats(narrow, np.asarray(encode(narrow, plain))).reshape(array.shape)
            return Tensor(kind, np.asarray(held).astype(kind.storage))
        rounded = array.astype(narrow.storage)
        if not kind.is_integer:
            return Tensor(kind, rounded.astype(kind.storage))
    low, high = kind.integer_range
    whole = [min(max(int(each), low), high) for each in rounded.reshape(-1).tolist()]
    return Tensor(kind, np.array(whole, dtype=kind.storage).reshape(array.shape))
