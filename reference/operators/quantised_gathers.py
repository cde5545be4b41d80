"""GatherBlockQuantized: slices of a table of few bits, in blocks with a scale each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from reference.numbers.number_arrays import Numbers
from reference.numbers.numbers import numbers
from reference.operators.packed_weights import unpacked
from reference.registry import reference_operator

_BYTE = ELEMENT_TYPES["uint8"]


@reference_operator("com.microsoft::GatherBlockQuantized")
def gather_of_blocks(
    data: Tensor,
    indices: Tensor,
    scales: Numbers,
    zero_points: Tensor | None = None,
    *,
    bits: int = 4,
    block_size: int = 128,
    gather_axis: int = 0,
    quantize_axis: int = 1,
) -> Numbers:
    """Gather of data, each element less the zero point of its block, times its scale.

    Bytes hold numbers of few bits along the last axis, the low ones first, zero points as well; without
    zero points the middle of their range is subtracted, and nothing of other types. Source:
    GatherBlockQuantized, Summary, bits, gather_axis, quantize_axis.
    """
    steps, along = _numbers(data, bits), quantize_axis % len(data.shape)
    block = np.arange(steps.shape[along]) // block_size
    middle = 1 << (bits - 1) if data.element_type == _BYTE else 0
    zeros = np.full(scales.shape, middle, dtype=object)
    if zero_points is not None:
        zeros = _numbers(zero_points, bits)[..., : scales.shape[-1]]
    apart = Numbers.exact(steps - np.take(zeros, block, along), scales.working)
    found = apart * scales.arranged(lambda each: np.take(each, block, along))
    places = indices.array.reshape(-1)
    at = gather_axis % len(data.shape)
    shape = (*found.shape[:at], *indices.shape, *found.shape[at + 1 :])
    return found.arranged(lambda each: np.take(each, places, at).reshape(shape))


def _numbers(given: Tensor, bits: int) -> NDArray[np.object_]:
    """The integers of a tensor, of bytes those of few bits that are packed into them."""
    if given.element_type == _BYTE:
        return unpacked(given.array, bits).astype(object)
    whole = np.array([int(each) for each in numbers(given.element_type, given.array)], dtype=object)
    return whole.reshape(given.shape)
