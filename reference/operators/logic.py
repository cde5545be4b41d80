"""And, Or, Xor and Not: booleans, broadcast against each other."""

from __future__ import annotations

import numpy as np

from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.registry import reference_operator


@reference_operator("ai.onnx::And")
def both(A: Tensor, B: Tensor) -> Answer:
    """Whether both are true. Source: And, Summary."""
    return Answer(Tensor(A.element_type, np.logical_and(A.array, B.array)))


@reference_operator("ai.onnx::Or")
def either(A: Tensor, B: Tensor) -> Answer:
    """Whether one of them is true. Source: Or, Summary."""
    return Answer(Tensor(A.element_type, np.logical_or(A.array, B.array)))


@reference_operator("ai.onnx::Xor")
def one_alone(A: Tensor, B: Tensor) -> Answer:
    """Whether exactly one is true. Source: Xor, Summary."""
    return Answer(Tensor(A.element_type, np.asarray(A.array != B.array)))


@reference_operator("ai.onnx::Not")
def negation(X: Tensor) -> Answer:
    """Whether it is false. Source: Not, Summary."""
    return Answer(Tensor(X.element_type, np.logical_not(X.array)))
