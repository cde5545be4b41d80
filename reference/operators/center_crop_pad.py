"""CenterCropPad: a centred window of each axis, cut out or surrounded with zeros."""

from __future__ import annotations

from typing import Annotated, Literal

from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.registry import AsReading, reference_operator
from reference.shared.movement import NegativeZeros, Subnormals, blank, moved, read_integers


@reference_operator("ai.onnx::CenterCropPad-18")
def center_crop_pad(
    input_data: Tensor,
    shape: Tensor,
    *,
    axes: tuple[int, ...] | None = None,
    odd_crop: Annotated[Literal["start_rounded_down", "start_rounded_up"], AsReading] = "start_rounded_down",
    odd_pad: Annotated[Literal["extra_at_end", "extra_at_begin"], AsReading] = "extra_at_end",
    string_padding: Annotated[Literal["empty", "digit_zero"], AsReading] = "empty",
    subnormals: Subnormals,
    negative_zeros: NegativeZeros,
) -> Answer:
    """Crop or pad axes to given extents, the input centred in the output.

    Shapes: `input_data` any, `shape` [n] with one extent for each of the n `axes` (all axes in order where
    they are not given; negative ones count from the back). Element types: all sixteen of ONNX 18; int32 or
    int64 for `shape`. Padding is zero, False or, in the first option, the empty string. Bit-exact.
    Source: CenterCropPad-18, Summary, Attributes and the examples (which side an odd difference falls to).
    """
    rank = len(input_data.shape)
    wanted = read_integers(shape)
    chosen = tuple(range(rank)) if axes is None else axes
    chosen = tuple(axis % rank for axis in chosen)
    output_shape = list(input_data.shape)
    taken = [slice(None)] * rank
    placed = [slice(None)] * rank
    for axis, extent in zip(chosen, wanted, strict=True):
        surplus = input_data.shape[axis] - extent
        output_shape[axis] = extent
        if surplus >= 0:
            start = surplus // 2 if odd_crop == "start_rounded_down" else (surplus + 1) // 2
            taken[axis] = slice(start, start + extent)
        else:
            start = -surplus // 2 if odd_pad == "extra_at_end" else (1 - surplus) // 2
            placed[axis] = slice(start, start + input_data.shape[axis])
    output = blank(input_data.element_type, output_shape, b"" if string_padding == "empty" else b"0")
    output[tuple(placed)] = input_data.array[tuple(taken)]
    result = Tensor(input_data.element_type, output)
    return moved(result, subnormals, negative_zeros)
