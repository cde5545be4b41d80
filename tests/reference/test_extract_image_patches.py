"""ExtractImagePatches against its worked examples and an oracle that looks up one image point at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from generator.calls.data.data import data_classes, fill
from generator.calls.data.draws import Draw
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reference.registry import find_operator

OPERATOR = find_operator(OperatorName.parse("org.openvino::ExtractImagePatches-3"))
TYPES = (
    "bool", "float16", "bfloat16", "float", "double",
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
)  # fmt: skip
Pair = tuple[int, int]


def answer(data: Tensor, sizes: Pair, strides: Pair, rates: Pair, auto_pad: str, **readings: str) -> Tensor:
    attributes: dict[str, Pair | str] = {
        "sizes": sizes, "strides": strides, "rates": rates, "auto_pad": auto_pad,
    }  # fmt: skip
    (found,) = OPERATOR.evaluate(attributes, {"data": data}, readings)
    assert found.allowed is None
    return found.expected


def starts(extent: int, size: int, stride: int, rate: int, auto_pad: str) -> list[int]:
    """Where patches begin along one axis; in the padding before the image the numbers are negative."""
    span = 1 + (size - 1) * rate
    if auto_pad == "valid":
        return [start for start in range(0, extent, stride) if start + span <= extent]
    begins = list(range(0, extent, stride))
    missing = max([0, *(start + span - extent for start in begins)])
    while missing > 0:
        begins = (
            begins if (missing % 2 == 1) == (auto_pad == "same_upper") else [begin - 1 for begin in begins]
        )
        missing -= 1
    return begins


def oracle(data: Tensor, sizes: Pair, strides: Pair, rates: Pair, auto_pad: str) -> Tensor:
    batch, depth, height, width = data.shape
    down = starts(height, sizes[0], strides[0], rates[0], auto_pad)
    across = starts(width, sizes[1], strides[1], rates[1], auto_pad)
    output = np.zeros((batch, sizes[0] * sizes[1] * depth, len(down), len(across)), dtype=data.array.dtype)
    for image, channel, i, j in np.ndindex(output.shape):
        place, plane = divmod(channel, depth)
        row = down[i] + place // sizes[1] * rates[0]
        column = across[j] + place % sizes[1] * rates[1]
        if 0 <= row < height and 0 <= column < width:
            output[image, channel, i, j] = data.array[image, plane, row, column]
    return Tensor(data.element_type, output)


def counted(shape: Sequence[int]) -> Tensor:
    return tensor(np.arange(1, 1 + int(np.prod(shape)), dtype=np.float32).reshape(shape))


def printed(rows: Sequence[Sequence[int]], shape: Sequence[int]) -> Tensor:
    return tensor(np.array(rows, dtype=np.float32).reshape(shape))


def test_first_example() -> None:
    rows = [
        [1, 6, 51, 56], [2, 7, 52, 57], [3, 8, 53, 58], [11, 16, 61, 66], [12, 17, 62, 67],
        [13, 18, 63, 68], [21, 26, 71, 76], [22, 27, 72, 77], [23, 28, 73, 78],
    ]  # fmt: skip
    found = answer(counted((1, 1, 10, 10)), (3, 3), (5, 5), (1, 1), "valid")
    assert found == printed(rows, (1, 9, 2, 2))


def test_second_example() -> None:
    rows = [[1, 2, 3, 4], [11, 12, 13, 14], [21, 22, 23, 24], [31, 32, 33, 34]]
    found = answer(counted((1, 1, 10, 10)), (4, 4), (8, 8), (1, 1), "valid")
    assert found == printed(rows, (1, 16, 1, 1))


def test_third_example() -> None:
    rows = [
        [0, 0, 0, 89], [0, 0, 81, 90], [0, 0, 82, 0], [0, 0, 83, 0],
        [0, 9, 0, 99], [1, 10, 91, 100], [2, 0, 92, 0], [3, 0, 93, 0],
        [0, 19, 0, 0], [11, 20, 0, 0], [12, 0, 0, 0], [13, 0, 0, 0],
        [0, 29, 0, 0], [21, 30, 0, 0], [22, 0, 0, 0], [23, 0, 0, 0],
    ]  # fmt: skip
    found = answer(counted((1, 1, 10, 10)), (4, 4), (9, 9), (1, 1), "same_upper")
    assert found == printed(rows, (1, 16, 2, 2))


def test_fourth_example() -> None:
    rows = [
        [1, 6, 51, 56], [3, 8, 53, 58], [5, 10, 55, 60], [21, 26, 71, 76], [23, 28, 73, 78],
        [25, 30, 75, 80], [41, 46, 91, 96], [43, 48, 93, 98], [45, 50, 95, 100],
    ]  # fmt: skip
    found = answer(counted((1, 1, 10, 10)), (3, 3), (5, 5), (2, 2), "valid")
    assert found == printed(rows, (1, 9, 2, 2))


def test_fifth_example_settles_the_order_of_the_depth() -> None:
    rows = [
        [1, 4, 16, 19], [26, 29, 41, 44], [2, 5, 17, 20], [27, 30, 42, 45],
        [6, 9, 21, 24], [31, 34, 46, 49], [7, 10, 22, 25], [32, 35, 47, 50],
    ]  # fmt: skip
    data = counted((1, 2, 5, 5))
    assert answer(data, (2, 2), (3, 3), (1, 1), "valid") == printed(rows, (1, 8, 2, 2))
    turned = answer(data, (2, 2), (3, 3), (1, 1), "valid", depth_order="depth_outermost")
    assert turned == printed([rows[each] for each in (0, 2, 4, 6, 1, 3, 5, 7)], (1, 8, 2, 2))


def test_example_that_prints_only_shapes() -> None:
    found = answer(fill("float", (64, 3, 10, 10), "random", Draw("x")), (3, 3), (5, 5), (1, 1), "valid")
    assert found.shape == (64, 27, 2, 2)


def test_odd_padding_falls_to_the_named_side() -> None:
    line = counted((1, 1, 1, 3))
    assert answer(line, (1, 2), (1, 1), (1, 1), "same_upper").array.tolist() == [[[[1, 2, 3]], [[2, 3, 0]]]]
    assert answer(line, (1, 2), (1, 1), (1, 1), "same_lower").array.tolist() == [[[[0, 1, 2]], [[1, 2, 3]]]]


def test_strides_beyond_the_patch_never_shift_the_first_one() -> None:
    for auto_pad in ("same_upper", "same_lower"):
        found = answer(counted((1, 1, 1, 10)), (1, 1), (1, 6), (1, 1), auto_pad)
        assert found.array.tolist() == [[[[1, 7]]]]


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_equals_the_oracle_in_every_element_type(draw: st.DataObject) -> None:
    pair = st.tuples(st.integers(1, 3), st.integers(1, 3))
    wide = st.tuples(st.integers(1, 6), st.integers(1, 6))
    sizes, strides, rates = draw.draw(pair), draw.draw(wide), draw.draw(pair)
    auto_pad = draw.draw(st.sampled_from(["valid", "same_upper", "same_lower"]))
    least = 1 if auto_pad == "valid" else 0
    shape = (
        draw.draw(st.integers(0, 2)), draw.draw(st.integers(0, 3)),
        draw.draw(st.integers(least, 7)), draw.draw(st.integers(least, 7)),
    )  # fmt: skip
    element_type = draw.draw(st.sampled_from(TYPES))
    data_class = draw.draw(st.sampled_from(data_classes(element_type)))
    data = fill(element_type, shape, data_class, Draw("patches"))
    expected = oracle(data, sizes, strides, rates, auto_pad)
    if auto_pad == "valid":
        assume(min(expected.shape[2:]) > 0)
    assert answer(data, sizes, strides, rates, auto_pad) == expected
