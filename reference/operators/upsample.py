"""Upsample: a tensor whose axes become longer, by nearest elements or linearly.

Source: ONNX's Changelog.md, Upsample-7 and Upsample-9. What the page leaves open it leaves open as that of
Resize-10 does, whose readings these are: coordinates, nearest's rounding, and which scale is meant.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import Answer
from reference.operators.resize import AlignCornersOfOne, Conversion, Overflow, Scale
from reference.readings.choices import Choice
from reference.registry import AsReading, reference_operator
from reference.shared.interpolation.asked_axes import Readings, plan_axes
from reference.shared.interpolation.methods import Behaviours
from reference.shared.interpolation.resampling import resample
from reference.shared.interpolation.resize_requests import read_method, read_request
from reference.shared.movement import NegativeZeros, Subnormals

Coordinates = Annotated[Literal["asymmetric", "half_pixel", "align_corners"], AsReading]
NearestElement = Annotated[
    Choice[Literal["floor", "round_prefer_floor", "round_prefer_ceil", "ceil"]], AsReading
]


@reference_operator("ai.onnx::Upsample")
def upsample(
    X: Tensor,
    scales: Tensor | tuple[float, ...],
    *,
    mode: str = "nearest",
    coordinates: Coordinates,
    nearest_rounding: NearestElement,
    scale: Scale,
    align_corners_of_one: AlignCornersOfOne,
    integer_conversion: Conversion,
    integer_overflow: Overflow,
    subnormals: Subnormals,
    negative_zeros: NegativeZeros,
) -> Answer:
    """To floor(input_dimension * scale) along each axis; before version 9 the scales are an attribute.

    Source: Upsample-9, Summary, mode; Upsample-7, scales.
    """
    given = scales if isinstance(scales, Tensor) else tensor(np.array(scales, np.float32))
    request = read_request(X, None, given, None, None, coordinates)
    method = read_method(mode, nearest_rounding.ask() if mode == "nearest" else "floor")
    axes = plan_axes(request, Readings(scale, align_corners_of_one=align_corners_of_one), method)
    return resample(
        X, axes, method, Behaviours(integer_conversion, integer_overflow, subnormals, negative_zeros)
    )
