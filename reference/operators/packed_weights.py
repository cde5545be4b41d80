"""MatMulNBits: a product with weights of few bits, packed into bytes, in blocks with a scale each."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.tensors import Tensor
from reference.functions.stable_formulas import whichever
from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import opened
from reference.numbers.stacks import beside
from reference.numbers.working import rounded_up
from reference.registry import reference_operator
from reference.sums.summation import sum_of_products

AS_INT8 = 4
"""The accuracy level at which blocks of A may become integers of 8 bits."""
_HALF_A_STEP = math.ldexp(1.0, -8) * (1 + math.ldexp(1.0, -6))
"""Of a block's greatest magnitude, a little more than half of a 127th."""


@reference_operator("com.microsoft::MatMulNBits")
def product_with_packed_weights(
    A: Numbers,
    B: Tensor,
    scales: Numbers,
    zero_points: Tensor | None = None,
    g_idx: Tensor | None = None,
    bias: Numbers | None = None,
    *,
    K: int,
    N: int,
    block_size: int,
    bits: int = 4,
    accuracy_level: int = 0,
) -> Numbers:
    """Y = A W' + bias, W = (B - zero point) scale, block by block along K; the low bits of a byte come first.

    A program may keep the sums of B scale and of the zero points scale apart. Beside an infinity or NaN no
    integers of 8 bits are said. Source: MatMulNBits, Summary, accuracy_level, B, scales, zero_points, bias.
    """
    working, block = A.working, np.arange(K) // block_size
    weights = Numbers.exact(unpacked(B.array, bits).reshape(N, -1)[:, :K].astype(object), working)
    zeros = _zero_points(zero_points, A, scales.shape, bits).arranged(lambda each: each[:, block])
    scale = scales.arranged(lambda each: each[:, block])
    given = _in_eight_bits(A, block_size) if accuracy_level == AS_INT8 else A
    rows, added = given.reshape((*A.shape[:-1], 1, K)), bias

    def apart() -> Numbers:
        return sum_of_products(beside(rows, rows), beside(weights * scale, -(zeros * scale)), plus=added)

    found = whichever(sum_of_products(rows, (weights - zeros) * scale, plus=added), apart)
    return found if given is A else opened(found, np.asarray(~A.finite.all(axis=-1, keepdims=True)))


def unpacked(packed: NDArray[np.uint8], bits: int) -> NDArray[np.uint8]:
    """The numbers of so many bits in the bytes of a last axis, the low bits first."""
    places = np.arange(0, 8, bits, dtype=np.uint8)
    found = packed[..., None] >> places & np.uint8((1 << bits) - 1)
    return found.reshape((*packed.shape[:-1], -1))


def _zero_points(given: Tensor | None, beside_them: Numbers, shape: tuple[int, ...], bits: int) -> Numbers:
    """The zero point of each block: packed as weights are, as they are, or the middle of the range."""
    if given is None:
        return beside_them.lift(1 << (bits - 1)).broadcast(shape)
    if given.element_type.is_float:
        return Numbers.of(given, beside_them.working)
    numbers = unpacked(given.array, bits)[:, : shape[1]]
    return Numbers.exact(numbers.astype(object), beside_them.working)


def _in_eight_bits(given: Numbers, block_size: int) -> Numbers:
    """Numbers that are as they are, or rounded to a 127th of the greatest of their block."""
    sizes = np.where(given.finite, given.magnitude, 0.0)
    error = np.zeros(sizes.shape)
    for start in range(0, sizes.shape[-1], block_size):
        of_block = (..., slice(start, start + block_size))
        error[of_block] = sizes[of_block].max(axis=-1, keepdims=True) * _HALF_A_STEP
    return replace(given, error=rounded_up(given.error + error))
