"""Calls of BatchToSpaceND: block sizes, crops and the dimensions behind the spatial ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

import numpy as np

from generator.calls import Call
from generator.data import fill
from generator.draws import Draw
from opcert.vocabulary.tensors import Tensor, tensor
from specs.model import Spec

OPERATORS = ("org.tensorflow::BatchToSpaceND-1",)

_BLOCKS = {
    "ones": (1, 1, 1),
    "equal": (2, 2, 2),
    "different": (3, 2, 1),
    "one_first": (1, 3, 2),
    "one_last": (2, 3, 1),
}
_EXTENTS = {"different": (2, 3, 4), "ones": (1, 1, 1)}
Crops = Sequence[Sequence[int]]


def build_call(_spec: Spec, levels: Mapping[str, str], draw: Draw) -> Call | None:
    """The call of these levels; None where the spatial dimensions are too few or too short for them."""
    count = int(levels["spatial"])
    if count == 1 and levels["blocks"] in ("one_first", "one_last"):
        return None
    blocks = _BLOCKS[levels["blocks"]][:count]
    if levels["blocks"] == "one_last":
        blocks = (*blocks[: count - 1], 1)
    spatial = _EXTENTS[levels["extents"]][:count]
    grown = [extent * block for extent, block in zip(spatial, blocks, strict=True)]
    if levels["crops"] != "none" and max(grown) == 1:
        return None
    crops = [_crop(levels["crops"], extent) for extent in grown]
    batch = prod(blocks) * (1 if levels["batch"] == "one_block" else 2)
    remaining = (5, 2)[: int(levels["remaining"])]
    data = fill(levels["element_type"], (batch, *spatial, *remaining), levels["data"], draw.child("data"))
    return _call(data, blocks, crops, levels["block_type"], levels["crops_type"])


def boundary_calls(_spec: Spec, draw: Draw) -> Iterator[tuple[str, Mapping[str, str], Call]]:
    """No spatial dimension, no elements, nothing left, only one element left, four spatial dimensions."""
    edges: list[tuple[str, str, Sequence[int], Sequence[int], Crops]] = [
        ("no_spatial_dimension", "float", (3, 2), (), ()),
        ("batch_alone", "float", (3,), (), ()),
        (
            "four_spatial_dimensions",
            "float",
            (24, 2, 1, 2, 1),
            (2, 3, 2, 2),
            ((1, 0), (0, 2), (1, 1), (0, 1)),
        ),
        ("no_batch", "float", (0, 2, 3), (2, 2), ((0, 1), (1, 0))),
        ("no_spatial_elements", "float", (4, 0, 3), (2, 2), ((0, 0), (1, 2))),
        ("no_remaining_elements", "float", (4, 2, 3, 0), (2, 2), ((0, 1), (1, 0))),
        ("cropped_to_nothing", "float", (4, 2, 3), (2, 2), ((1, 3), (0, 0))),
        ("cropped_to_nothing_at_begin", "int32", (6, 2), (3,), ((6, 0),)),
        ("cropped_to_nothing_at_end", "int32", (6, 2), (3,), ((0, 6),)),
        ("all_cropped_to_nothing", "int8", (4, 1, 1), (2, 2), ((1, 1), (2, 0))),
        ("one_element_left", "int64", (6, 2, 2), (3, 2), ((3, 2), (0, 3))),
        ("one_element", "uint8", (1, 1), (1,), ((0, 0),)),
        ("blocks_of_one", "double", (2, 3, 4, 2), (1, 1), ((1, 1), (0, 3))),
        ("long_block", "float16", (64, 2), (64,), ((63, 1),)),
        ("crop_of_whole_blocks", "float", (6, 3), (2,), ((2, 2),)),
        ("crop_inside_a_block", "float", (6, 3), (3,), ((1, 1),)),
    ]
    for word, element_type, shape, blocks, crops in edges:
        data = fill(element_type, shape, "distinct", draw.child(word))
        yield word, {"element_type": element_type, "data": "distinct"}, _call(data, blocks, crops)
    for data_class in ("nonfinite", "signed_zero", "subnormal", "huge"):
        for element_type in ("float", "bfloat16", "double"):
            word = f"{data_class}_{element_type}"
            data = fill(element_type, (4, 2, 2), data_class, draw.child(word))
            levels = {"element_type": element_type, "data": data_class}
            yield word, levels, _call(data, (2, 2), ((0, 1), (1, 0)))


def invalid_calls(_spec: Spec, draw: Draw) -> Iterator[tuple[str, Call, Call]]:
    """Block sizes and crops outside their ranges, of other types and shapes; a batch that does not divide."""
    data = fill("float", (6, 2, 4), "distinct", draw.child("data"))
    valid = _call(data, (3, 2), ((1, 0), (0, 2)))
    crops = [[1, 0], [0, 2]]
    for element_type in ("int16", "uint32", "float"):
        yield "block_shape_type", valid, valid.with_input("block_shape", tensor([3, 2], element_type))
        yield "crops_type", valid, valid.with_input("crops", tensor(crops, element_type))
    for block in (0, -3):
        yield "block_sizes_at_least_1", valid, _call(data, (block, 2), ((0, 0), (0, 2)))
    yield "block_sizes_at_least_1", valid, _call(data, (-3, -2), ((0, 0), (0, 0)))
    for amounts in ([[-1, 0], [0, 2]], [[1, 0], [0, -1]], [[7, -2], [0, 0]]):
        yield "crops_not_negative", valid, valid.with_input("crops", tensor(amounts, "int32"))
    for amounts in ([[7, 0], [0, 0]], [[0, 0], [0, 9]], [[4, 3], [0, 0]], [[2**31 - 1, 2**31 - 1], [0, 0]]):
        yield "crops_within_the_dimension", valid, valid.with_input("crops", tensor(amounts, "int32"))
    huge = valid.with_input("crops", tensor([[2**63 - 1, 2**63 - 1], [0, 0]], "int64"))
    yield "crops_within_the_dimension", valid, huge
    for batch in (5, 7, 1):
        other = fill("float", (batch, 2, 4), "distinct", draw.child(f"batch {batch}"))
        yield "batch_divides", valid, valid.with_input("input", other)
    yield "block_shape_rank", valid, valid.with_input("block_shape", tensor([[3, 2]], "int32"))
    for shape in ([[1, 0]], [[1, 0], [0, 2], [0, 0]], [[1, 0, 0], [0, 2, 0]], [1, 0, 0, 2]):
        yield "crops_shape", valid, valid.with_input("crops", tensor(shape, "int32"))
    yield (
        "input_rank",
        valid,
        valid.with_input("input", fill("float", (6, 2), "distinct", draw.child("flat"))),
    )


def _crop(level: str, extent: int) -> tuple[int, int]:
    """How much is cropped at the beginning and the end of a dimension; at least one element stays."""
    spare = extent - 1
    return {
        "none": (0, 0),
        "begin": (min(1, spare), 0),
        "end": (0, min(1, spare)),
        "both": (min(1, spare), min(2, max(0, spare - 1))),
        "all_but_one": (spare // 2, spare - spare // 2),
    }[level]


def _call(
    data: Tensor,
    blocks: Sequence[int],
    crops: Crops,
    block_type: str = "int32",
    crops_type: str = "int32",
) -> Call:
    block_shape = tensor(np.array(blocks, dtype=np.int64), block_type)
    amounts = tensor(np.array(crops, dtype=np.int64).reshape(len(crops), 2), crops_type)
    return Call({}, (("input", data), ("block_shape", block_shape), ("crops", amounts)))
