"""Trilu, Where and BitCast: each element is kept in its place, gives way to another, or is read anew."""

from __future__ import annotations

import numpy as np

from opcert.vocabulary.element_types import BY_CODE
from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.registry import reference_operator
from reference.shared.movement import blank


@reference_operator("ai.onnx::Trilu")
def triangle(input: Tensor, k: int = 0, *, upper: int = 1) -> Tensor:
    """The elements on and above diagonal k, or on and below it, and zeros. Source: Trilu, Summary."""
    rows, columns = np.ogrid[: input.shape[-2], : input.shape[-1]]
    kept = columns - rows >= k if upper else columns - rows <= k
    return Tensor(input.element_type, np.where(kept, input.array, blank(input.element_type, input.shape)))


@reference_operator("ai.onnx::Where")
def where(condition: Tensor, X: Tensor, Y: Tensor) -> Tensor:
    """Elements of X where the condition holds, of Y elsewhere, all broadcast. Source: Where, Summary."""
    return Tensor(X.element_type, np.where(condition.array, X.array, Y.array))


@reference_operator("ai.onnx::BitCast")
def bit_cast(input: Tensor, *, to: int) -> Answer:
    """The same bits as elements of another type of the same width. Source: BitCast, Summary."""
    kind = BY_CODE[to]
    flat = np.ascontiguousarray(input.array).reshape(-1)
    if kind.is_packed:
        # One element a byte, of which an integer type holds the value and any other the pattern.
        patterns = flat.view(np.uint8) & np.uint8((1 << kind.bits) - 1)
        half = 1 << (kind.bits - 1) if kind.kind == "signed" else 0
        elements = (patterns.astype(np.int16) ^ half) - half
    else:
        elements = flat.view(kind.storage)
    return Answer(Tensor(kind, elements.astype(kind.storage).reshape(input.shape)))
