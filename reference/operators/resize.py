"""ONNX Resize, versions 10 to 19, and Upsample: the tensor resampled along its axes.

Sources: the ONNX operator page of Resize (versions 10, 11, 13 and 18), ONNX's Changelog.md (version 19,
Upsample-7 and Upsample-9). What the page leaves to its examples: sampling locations outside the tensor take
the nearest element's value unless excluded; an antialiasing filter's weights are normalised; nearest clamps
its pixel into the tensor.
The domain stands in the spec. Errors: UnstableLength; OutsideDomain where remaining weights sum to 0, or
coordinates are beyond the precision of float32.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import Answer
from reference.numbers.working import BETWEEN_ELEMENTS, bounded_apart
from reference.readings.choices import Choice
from reference.registry import AsReading, reference_operator
from reference.shared.interpolation.asked_axes import Method, Readings, plan_axes, read_request
from reference.shared.interpolation.resampling import Behaviours, resample
from reference.shared.movement import NegativeZeros, Overflow, Subnormals

Coordinates = Annotated[Literal["asymmetric", "half_pixel", "align_corners"], AsReading]
NearestElement = Annotated[
    Choice[Literal["floor", "round_prefer_floor", "round_prefer_ceil", "ceil"]], AsReading
]
NearestRounding = Annotated[
    Choice[Literal["floor", "round_prefer_floor", "round_prefer_ceil", "ceil", "ceil_downsampling"]],
    AsReading,
]
Scale = Annotated[Choice[Literal["given", "recomputed"]], AsReading]
LengthResized = Annotated[Choice[Literal["integer", "fractional"]], AsReading]
AlignCornersOfOne = Annotated[Choice[Literal["start", "center"]], AsReading]
RoiInLength = Annotated[Choice[Literal["crop_and_resize", "always", "never"]], AsReading]
AspectIndex = Annotated[Choice[Literal["axis", "position"]], AsReading]
PolicyScale = Annotated[Choice[Literal["recomputed", "common"]], AsReading]
PolicyLength = Annotated[Choice[Literal["integer", "fractional"]], AsReading]
SymmetricWidth = Annotated[Choice[Literal["whole", "fractional"]], AsReading]
UnitAxis = Annotated[Choice[Literal["formula", "unchanged"]], AsReading]
Conversion = Annotated[Choice[Literal["truncate", "floor", "half_even", "half_away", "half_up"]], AsReading]
IntegerSteps = Annotated[Choice[Literal["once", "from_last_axis", "from_first_axis"]], AsReading]
UnlistedAxes = Annotated[Choice[Literal["untouched", "weighed"]], AsReading]

_SINCE_18 = (
    "antialias", "axes", "keep_aspect_ratio_policy", "aspect_index", "policy_scale", "policy_length",
    "integer_steps", "unlisted_axes",
)  # fmt: skip


@reference_operator("ai.onnx::Resize-11", without=(*_SINCE_18, "symmetric_width"), needs=("roi", "scales"))
@reference_operator("ai.onnx::Resize-13", without=(*_SINCE_18, "symmetric_width", "unit_axis"))
@reference_operator("ai.onnx::Resize-18", without=("symmetric_width", "unit_axis"))
@reference_operator("ai.onnx::Resize-19", without=("aspect_index", "unit_axis"))
def resize(
    X: Tensor,
    roi: Tensor | None = None,
    scales: Tensor | None = None,
    sizes: Tensor | None = None,
    *,
    antialias: int = 0,
    axes: tuple[int, ...] | None = None,
    coordinate_transformation_mode: str = "half_pixel",
    cubic_coeff_a: float = -0.75,
    exclude_outside: int = 0,
    extrapolation_value: float = 0.0,
    keep_aspect_ratio_policy: str = "stretch",
    mode: str = "nearest",
    nearest_mode: str = "round_prefer_floor",
    scale: Scale,
    length_resized: LengthResized,
    align_corners_of_one: AlignCornersOfOne,
    roi_in_length: RoiInLength,
    aspect_index: AspectIndex = Choice("axis"),
    policy_scale: PolicyScale = Choice("recomputed"),
    policy_length: PolicyLength = Choice("integer"),
    symmetric_width: SymmetricWidth = Choice("whole"),
    unit_axis: UnitAxis = Choice("formula"),
    integer_conversion: Conversion,
    integer_overflow: Overflow,
    integer_steps: IntegerSteps = Choice("once"),
    subnormals: Subnormals,
    negative_zeros: NegativeZeros,
    unlisted_axes: UnlistedAxes = Choice("untouched"),
) -> Answer:
    """Resize some axes by `scales`, or to `sizes` where there are none, or where they are an empty tensor."""
    bounded_apart(BETWEEN_ELEMENTS)
    given = scales if sizes is None or (scales is not None and scales.array.size) else None
    method = Method(mode, nearest_mode, cubic_coeff_a, antialias, exclude_outside, extrapolation_value)
    readings = Readings(
        scale,
        length_resized,
        align_corners_of_one,
        roi_in_length,
        aspect_index,
        policy_scale,
        policy_length,
        symmetric_width,
        unit_axis,
    )
    behaviours = Behaviours(
        integer_conversion, integer_overflow, subnormals, negative_zeros, integer_steps, unlisted_axes
    )
    request = read_request(
        X.shape, roi, given, sizes, axes, coordinate_transformation_mode, keep_aspect_ratio_policy
    )
    return resample(X, plan_axes(request, readings, method), method, behaviours)


@reference_operator("ai.onnx::Resize-10")
def resize_10(
    X: Tensor,
    scales: Tensor,
    *,
    mode: str = "nearest",
    coordinates: Coordinates,
    nearest_rounding: NearestRounding,
    scale: Scale,
    align_corners_of_one: AlignCornersOfOne,
    integer_conversion: Conversion,
    integer_overflow: Overflow,
    subnormals: Subnormals,
    negative_zeros: NegativeZeros,
) -> Answer:
    """Resize by `scales`, to floor(input_dimension * scale), by nearest elements or linearly.

    The page names neither coordinates nor nearest's rounding: both are readings.
    """
    bounded_apart(BETWEEN_ELEMENTS)
    method = Method(mode, nearest_rounding.ask() if mode == "nearest" else "floor")
    readings = Readings(scale, align_corners_of_one=align_corners_of_one)
    behaviours = Behaviours(integer_conversion, integer_overflow, subnormals, negative_zeros)
    request = read_request(X.shape, None, scales, None, None, coordinates)
    return resample(X, plan_axes(request, readings, method), method, behaviours)


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
    """As Resize-10, whose open readings these are; before version 9 the scales are an attribute.

    Source: Upsample-9, Summary, mode; Upsample-7, scales.
    """
    return resize_10(
        X,
        scales if isinstance(scales, Tensor) else tensor(np.array(scales, np.float32)),
        mode=mode,
        coordinates=coordinates,
        nearest_rounding=nearest_rounding,
        scale=scale,
        align_corners_of_one=align_corners_of_one,
        integer_conversion=integer_conversion,
        integer_overflow=integer_overflow,
        subnormals=subnormals,
        negative_zeros=negative_zeros,
    )
