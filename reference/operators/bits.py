"""BitwiseAnd, -Or, -Xor and -Not, and BitShift: the bits of integers in two's complement."""

from __future__ import annotations

from typing import Literal

import numpy as np

from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.registry import reference_operator


@reference_operator("ai.onnx::BitwiseAnd")
def bitwise_and(A: Tensor, B: Tensor) -> Answer:
    """The bits that both have. Source: BitwiseAnd, Summary."""
    return Answer(Tensor(A.element_type, np.bitwise_and(A.array, B.array)))


@reference_operator("ai.onnx::BitwiseOr")
def bitwise_or(A: Tensor, B: Tensor) -> Answer:
    """The bits that one of them has. Source: BitwiseOr, Summary."""
    return Answer(Tensor(A.element_type, np.bitwise_or(A.array, B.array)))


@reference_operator("ai.onnx::BitwiseXor")
def bitwise_xor(A: Tensor, B: Tensor) -> Answer:
    """The bits that exactly one of them has. Source: BitwiseXor, Summary."""
    return Answer(Tensor(A.element_type, np.bitwise_xor(A.array, B.array)))


@reference_operator("ai.onnx::BitwiseNot")
def bitwise_not(X: Tensor) -> Answer:
    """The bits that it has not. Source: BitwiseNot, Summary."""
    return Answer(Tensor(X.element_type, np.invert(X.array)))


@reference_operator("ai.onnx::BitShift")
def bit_shift(X: Tensor, Y: Tensor, *, direction: Literal["LEFT", "RIGHT"]) -> Answer:
    """X with its bits moved by Y: to the left as X * 2^Y without the bits beyond, to the right as X / 2^Y.

    A negative X stays negative to the right. By the width of the type or more (negative amounts among them)
    nothing is left but copies of the sign. Source: BitShift-28, Summary, second and third paragraph.
    """
    bits = X.element_type.bits

    def shifted(value: int, amount: int) -> int:
        amount = amount if 0 <= amount < bits else bits
        return value << amount if direction == "LEFT" else value >> amount

    low, _ = X.element_type.integer_range
    exact = np.frompyfunc(shifted, 2, 1)(X.array.astype(object), Y.array.astype(object))
    wrapped = np.asarray((exact - low) % (1 << bits) + low, dtype=object)
    return Answer(Tensor(X.element_type, wrapped.astype(X.array.dtype)))
