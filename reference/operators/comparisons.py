"""Equal, Less, Greater, LessOrEqual and GreaterOrEqual: relations of elements that are broadcast."""

from __future__ import annotations

import numpy as np

from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.answers.orders import NanComparison, compare
from reference.numbers.number_arrays import Numbers
from reference.registry import reference_operator


@reference_operator("ai.onnx::Equal")
def equal(A: Numbers | Tensor, B: Numbers | Tensor) -> Answer:
    """Whether elements are equal: NaN equals nothing. Source: Equal, Summary."""
    if isinstance(A, Tensor) and isinstance(B, Tensor):
        return Answer(Tensor(ELEMENT_TYPES["bool"], np.asarray(A.array == B.array, dtype=np.bool_)))
    assert isinstance(A, Numbers)
    assert isinstance(B, Numbers)
    return compare(A, B, "equal")


@reference_operator("ai.onnx::Less")
def less(A: Numbers, B: Numbers, *, nan_in_comparison: NanComparison) -> Answer:
    """Whether A < B. Source: Less, Summary."""
    return compare(A, B, "less", nan_in_comparison)


@reference_operator("ai.onnx::LessOrEqual")
def less_or_equal(A: Numbers, B: Numbers, *, nan_in_comparison: NanComparison) -> Answer:
    """Whether A <= B. Source: LessOrEqual, Summary."""
    return compare(A, B, "less_or_equal", nan_in_comparison)


@reference_operator("ai.onnx::Greater")
def greater(A: Numbers, B: Numbers, *, nan_in_comparison: NanComparison) -> Answer:
    """Whether A > B. Source: Greater, Summary."""
    return compare(A, B, "greater", nan_in_comparison)


@reference_operator("ai.onnx::GreaterOrEqual")
def greater_or_equal(A: Numbers, B: Numbers, *, nan_in_comparison: NanComparison) -> Answer:
    """Whether A >= B. Source: GreaterOrEqual, Summary."""
    return compare(A, B, "greater_or_equal", nan_in_comparison)
