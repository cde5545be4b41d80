"""BatchToSpaceND: blocks of the batch dimension put back between the spatial elements, then cropped."""

from __future__ import annotations

from math import prod

from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.movement import (
    CLASSIC_TYPES,
    NegativeZeros,
    Subnormals,
    demand,
    demand_type,
    moved,
    read_integers,
)
from reference.registry import reference_operator

_INDEX_TYPES = ("int32", "int64")


@reference_operator("org.tensorflow::BatchToSpaceND-1")
def batch_to_space_nd(
    input: Tensor,  # noqa: A002 - the document's name
    block_shape: Tensor,
    crops: Tensor,
    *,
    subnormals: Subnormals,
    negative_zeros: NegativeZeros,
) -> Answer:
    """Rearrange batch elements into M spatial dimensions and crop these.

    Shapes: `input` [batch, M spatial extents, any remaining extents], `block_shape` [M], `crops` [M, 2].
    Element types: any for `input`; int32 or int64, each for itself, for the others. Bit-exact.
    Raises OutsideDomain for block sizes below 1, negative crops, crops larger than the dimension, and a batch
    that the product of the block sizes does not divide.
    Source: BatchToSpaceND, argument `crops`, steps 1 to 4.
    """
    demand_type("input", input, CLASSIC_TYPES)
    demand_type("block_shape", block_shape, _INDEX_TYPES)
    demand_type("crops", crops, _INDEX_TYPES)
    demand(len(block_shape.shape) == 1, "block_shape is no list", list(block_shape.shape), "a 1-D tensor")
    blocks = read_integers(block_shape)
    count = len(blocks)
    demand(crops.shape == (count, 2), "crops of the wrong shape", list(crops.shape), f"[{count}, 2]")
    demand(len(input.shape) > count, "too few dimensions", list(input.shape), f"at least {count + 1}")
    demand(all(block >= 1 for block in blocks), "block size below 1", blocks, "1 or more")
    amounts = read_integers(crops)
    begins, ends = amounts[0::2], amounts[1::2]
    demand(all(amount >= 0 for amount in amounts), "negative crop", amounts, "0 or more")
    batch, spatial, remaining = input.shape[0], input.shape[1 : 1 + count], input.shape[1 + count :]
    demand(batch % prod(blocks) == 0, "batch not divisible by the block sizes", batch, str(prod(blocks)))
    grown = [extent * block for extent, block in zip(spatial, blocks, strict=True)]
    fits = all(begin + end <= extent for begin, end, extent in zip(begins, ends, grown, strict=True))
    demand(fits, "crops larger than the dimension", amounts, f"at most {grown}")

    reshaped = input.array.reshape(*blocks, batch // prod(blocks), *input.shape[1:])
    order = [count]
    for axis in range(count):
        order += [count + 1 + axis, axis]
    permuted = reshaped.transpose(*order, *range(2 * count + 1, reshaped.ndim))
    merged = permuted.reshape(batch // prod(blocks), *grown, *remaining)
    window = [slice(begin, extent - end) for begin, end, extent in zip(begins, ends, grown, strict=True)]
    result = Tensor(input.element_type, merged[(slice(None), *window)])
    return moved(result, subnormals, negative_zeros)
