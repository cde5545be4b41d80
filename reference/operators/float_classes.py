"""IsInf and IsNaN: which elements are no finite numbers."""

from __future__ import annotations

import numpy as np

from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.numbers.numbers import decode
from reference.registry import reference_operator


@reference_operator("ai.onnx::IsInf")
def is_infinite(X: Tensor, *, detect_negative: int = 1, detect_positive: int = 1) -> Answer:
    """Whether it is an infinity, of the signs that are asked for. Source: IsInf, Summary, Attributes."""
    special = decode(X.element_type, X.array).special
    found = (special == np.inf) & bool(detect_positive) | (special == -np.inf) & bool(detect_negative)
    return Answer(Tensor(ELEMENT_TYPES["bool"], np.asarray(found)))


@reference_operator("ai.onnx::IsNaN")
def is_nan(X: Tensor) -> Answer:
    """Whether it is NaN. Source: IsNaN, Summary."""
    special = decode(X.element_type, X.array).special
    return Answer(Tensor(ELEMENT_TYPES["bool"], np.asarray(np.isnan(special))))
