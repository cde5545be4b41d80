"""BatchToSpaceND: blocks of the batch dimension put back between the spatial elements, then cropped."""

from __future__ import annotations

from math import prod

from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.registry import reference_operator
from reference.shared.movement import NegativeZeros, Subnormals, moved, read_integers


@reference_operator("org.tensorflow::BatchToSpaceND-1")
def batch_to_space_nd(
    input: Tensor,
    block_shape: Tensor,
    crops: Tensor,
    *,
    subnormals: Subnormals,
    negative_zeros: NegativeZeros,
) -> Answer:
    """Rearrange batch elements into M spatial dimensions and crop these.

    Shapes: `input` [batch, M spatial extents, any remaining extents], `block_shape` [M], `crops` [M, 2].
    Element types: any for `input`; int32 or int64, each for itself, for the others. Bit-exact.
    Source: BatchToSpaceND, argument `crops`, steps 1 to 4.
    """
    blocks = read_integers(block_shape)
    count = len(blocks)
    amounts = read_integers(crops)
    begins, ends = amounts[0::2], amounts[1::2]
    batch, spatial, remaining = input.shape[0], input.shape[1 : 1 + count], input.shape[1 + count :]
    grown = [extent * block for extent, block in zip(spatial, blocks, strict=True)]

    reshaped = input.array.reshape(*blocks, batch // prod(blocks), *input.shape[1:])
    order = [count]
    for axis in range(count):
        order += [count + 1 + axis, axis]
    permuted = reshaped.transpose(*order, *range(2 * count + 1, reshaped.ndim))
    merged = permuted.reshape(batch // prod(blocks), *grown, *remaining)
    window = [slice(begin, extent - end) for begin, end, extent in zip(begins, ends, grown, strict=True)]
    result = Tensor(input.element_type, merged[(slice(None), *window)])
    return moved(result, subnormals, negative_zeros)
