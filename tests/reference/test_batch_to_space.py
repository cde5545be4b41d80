"""BatchToSpaceND against its worked examples and an oracle that asks where each output element came from."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generator.calls.data.data import data_classes, fill
from generator.calls.data.draws import Draw
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reference.registry import find_operator
from reference.shared.movement import CLASSIC_TYPES

OPERATOR = find_operator(OperatorName.parse("org.tensorflow::BatchToSpaceND-1"))


def answer(
    data: Tensor,
    blocks: Sequence[int],
    crops: Sequence[Sequence[int]],
    types: tuple[str, str] = ("int32", "int64"),
) -> Tensor:
    width = len(crops[0]) if crops else 2
    inputs = {
        "input": data,
        "block_shape": tensor(np.array(blocks, dtype=np.int64), types[0]),
        "crops": tensor(np.array(crops, dtype=np.int64).reshape(len(crops), width), types[1]),
    }
    (found,) = OPERATOR.evaluate({}, inputs)
    assert found.allowed is None
    return found.expected


def oracle(data: Tensor, blocks: Sequence[int], crops: Sequence[Sequence[int]]) -> Tensor:
    """Each output element's place in its block, written as a number with the block sizes as digits."""
    batch = data.shape[0] // prod(blocks)
    spatial = [
        data.shape[1 + axis] * block - crops[axis][0] - crops[axis][1] for axis, block in enumerate(blocks)
    ]
    output = np.zeros((batch, *spatial, *data.shape[1 + len(blocks) :]), dtype=data.array.dtype)
    for index in np.ndindex(output.shape):
        source = list(index)
        block_number = 0
        for axis, block in enumerate(blocks):
            position = index[1 + axis] + crops[axis][0]
            source[1 + axis] = position // block
            block_number = block_number * block + position % block
        source[0] = block_number * batch + index[0]
        output[index] = data.array[tuple(source)]
    return Tensor(data.element_type, output)


def integers(values: object, shape: Sequence[int]) -> Tensor:
    return tensor(np.array(values, dtype=np.int32).reshape(shape))


FOUR = [1, 3, 9, 11, 2, 4, 10, 12, 5, 7, 13, 15, 6, 8, 14, 16]
CROPPED = [0, 1, 3, 0, 9, 11, 0, 2, 4, 0, 10, 12, 0, 5, 7, 0, 13, 15, 0, 6, 8, 0, 14, 16]


@pytest.mark.parametrize(
    ("values", "shape", "crops", "printed", "printed_shape"),
    [
        ([1, 2, 3, 4], (4, 1, 1, 1), [[0, 0], [0, 0]], [1, 2, 3, 4], (1, 2, 2, 1)),
        (range(1, 13), (4, 1, 1, 3), [[0, 0], [0, 0]], range(1, 13), (1, 2, 2, 3)),
        (FOUR, (4, 2, 2, 1), [[0, 0], [0, 0]], range(1, 17), (1, 4, 4, 1)),
        (CROPPED, (8, 1, 3, 1), [[0, 0], [2, 0]], range(1, 17), (2, 2, 4, 1)),
    ],
)
def test_worked_examples(
    values: Sequence[int],
    shape: tuple[int, ...],
    crops: list[list[int]],
    printed: Sequence[int],
    printed_shape: tuple[int, ...],
) -> None:
    assert answer(integers(list(values), shape), [2, 2], crops) == integers(list(printed), printed_shape)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_equals_the_oracle_in_every_element_type(draw: st.DataObject) -> None:
    blocks = draw.draw(st.lists(st.integers(1, 3), max_size=4))
    batch = draw.draw(st.integers(0, 2)) * prod(blocks)
    spatial = draw.draw(st.lists(st.integers(0, 3), min_size=len(blocks), max_size=len(blocks)))
    remaining = draw.draw(st.lists(st.integers(0, 3), max_size=2))
    crops = []
    for extent, block in zip(spatial, blocks, strict=True):
        begin = draw.draw(st.integers(0, extent * block))
        crops.append([begin, draw.draw(st.integers(0, extent * block - begin))])
    element_type = draw.draw(st.sampled_from(CLASSIC_TYPES))
    data_class = draw.draw(st.sampled_from(data_classes(element_type)))
    data = fill(element_type, (batch, *spatial, *remaining), data_class, Draw("batch_to_space"))
    types = draw.draw(st.tuples(st.sampled_from(["int32", "int64"]), st.sampled_from(["int32", "int64"])))
    assert answer(data, blocks, crops, types) == oracle(data, blocks, crops)
