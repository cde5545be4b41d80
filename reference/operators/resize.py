"""ONNX Resize, versions 10 to 19: the tensor resampled along its axes.

Sources: the ONNX operator page of Resize (versions 10, 11, 13 and 18) and ONNX's Changelog.md (version 19).
What the page leaves to its examples: sampling locations outside the tensor take the nearest element's value
unless excluded; an antialiasing filter's weights are normalised; nearest clamps its pixel into the tensor.
The domain stands in the spec. Errors: UnstableLength; OutsideDomain where remaining weights sum to 0, or
coordinates are beyond the precision of float32.
"""

from __future__ import annotations

from typing import Annotated, Literal

from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.readings.choices import Choice
from reference.registry import AsReading, reference_operator
from reference.shared.interpolation.asked_axes import Readings, plan_axes
from reference.shared.interpolation.methods import Behaviours
from reference.shared.interpolation.resampling import resample
from reference.shared.interpolation.resize_requests import read_method, read_request
from reference.shared.movement import NegativeZeros, Subnormals

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
Overflow = Annotated[Choice[Literal["saturate", "wrap"]], AsReading]
IntegerSteps = Annotated[Choice[Literal["once", "from_last_axis", "from_first_axis"]], AsReading]
UnlistedAxes = Annotated[Choice[Literal["untouched", "weighed"]], AsReading]


@reference_operator("ai.onnx::Resize-10")
def resize_10(
    X: Tensor,
    scales: Tensor,
    *,
    mode: str = "nearest",
    coordinates: Annotated[Literal["asymmetric", "half_pixel", "align_corners"], AsReading],
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
    request = read_request(X, None, scales, None, None, coordinates)
    method = read_method(mode, nearest_rounding.ask() if mode == "nearest" else "floor")
    axes = plan_axes(request, Readings(scale, align_corners_of_one=align_corners_of_one), method)
    behaviours = Behaviours(integer_conversion, integer_overflow, subnormals, negative_zeros)
    return resample(X, axes, method, behaviours)


@reference_operator("ai.onnx::Resize-11")
def resize_11(
    X: Tensor,
    roi: Tensor,
    scales: Tensor,
    sizes: Tensor | None = None,
    *,
    coordinate_transformation_mode: str = "half_pixel",
    cubic_coeff_a: float = -0.75,
    exclude_outside: int = 0,
    extrapolation_value: float = 0.0,
    mode: str = "nearest",
    nearest_mode: str = "round_prefer_floor",
    scale: Scale,
    length_resized: LengthResized,
    align_corners_of_one: AlignCornersOfOne,
    roi_in_length: RoiInLength,
    unit_axis: UnitAxis,
    integer_conversion: Conversion,
    integer_overflow: Overflow,
    subnormals: Subnormals,
    negative_zeros: NegativeZeros,
) -> Answer:
    """Resize by `scales`, or to `sizes` where `scales` is an empty tensor."""
    given = scales if sizes is None or scales.array.size else None
    request = read_request(X, roi, given, sizes, None, coordinate_transformation_mode)
    readings = Readings(scale, length_resized, align_corners_of_one, roi_in_length, unit_axis=unit_axis)
    method = read_method(mode, nearest_mode, cubic_coeff_a, 0, exclude_outside, extrapolation_value)
    behaviours = Behaviours(integer_conversion, integer_overflow, subnormals, negative_zeros)
    return resample(X, plan_axes(request, readings, method), method, behaviours)


@reference_operator("ai.onnx::Resize-13")
def resize_13(
    X: Tensor,
    roi: Tensor | None = None,
    scales: Tensor | None = None,
    sizes: Tensor | None = None,
    *,
    coordinate_transformation_mode: str = "half_pixel",
    cubic_coeff_a: float = -0.75,
    exclude_outside: int = 0,
    extrapolation_value: float = 0.0,
    mode: str = "nearest",
    nearest_mode: str = "round_prefer_floor",
    scale: Scale,
    length_resized: LengthResized,
    align_corners_of_one: AlignCornersOfOne,
    roi_in_length: RoiInLength,
    integer_conversion: Conversion,
    integer_overflow: Overflow,
    subnormals: Subnormals,
    negative_zeros: NegativeZeros,
) -> Answer:
    """Resize by `scales` or to `sizes`, one of which is given."""
    request = read_request(X, roi, scales, sizes, None, coordinate_transformation_mode)
    readings = Readings(scale, length_resized, align_corners_of_one, roi_in_length)
    method = read_method(mode, nearest_mode, cubic_coeff_a, 0, exclude_outside, extrapolation_value)
    behaviours = Behaviours(integer_conversion, integer_overflow, subnormals, negative_zeros)
    return resample(X, plan_axes(request, readings, method), method, behaviours)


@reference_operator("ai.onnx::Resize-18")
def resize_18(
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
    aspect_index: AspectIndex,
    policy_scale: PolicyScale,
    policy_length: PolicyLength,
    integer_conversion: Conversion,
    integer_overflow: Overflow,
    integer_steps: IntegerSteps,
    subnormals: Subnormals,
    negative_zeros: NegativeZeros,
    unlisted_axes: UnlistedAxes,
) -> Answer:
    """Resize some axes by `scales` or to `sizes`, with antialiasing and aspect ratio policies."""
    request = read_request(
        X, roi, scales, sizes, axes, coordinate_transformation_mode, keep_aspect_ratio_policy
    )
    readings = Readings(
        scale,
        length_resized,
        align_corners_of_one,
        roi_in_length,
        aspect_index,
        policy_scale,
        policy_length,
    )
    method = read_method(mode, nearest_mode, cubic_coeff_a, antialias, exclude_outside, extrapolation_value)
    behaviours = Behaviours(
        integer_conversion, integer_overflow, subnormals, negative_zeros, integer_steps, unlisted_axes
    )
    return resample(X, plan_axes(request, readings, method), method, behaviours)


@reference_operator("ai.onnx::Resize-19")
def resize_19(
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
    policy_scale: PolicyScale,
    policy_length: PolicyLength,
    symmetric_width: SymmetricWidth,
    integer_conversion: Conversion,
    integer_overflow: Overflow,
    integer_steps: IntegerSteps,
    subnormals: Subnormals,
    negative_zeros: NegativeZeros,
    unlisted_axes: UnlistedAxes,
) -> Answer:
    """Resize as in version 18, with half_pixel_symmetric coordinates."""
    request = read_request(
        X, roi, scales, sizes, axes, coordinate_transformation_mode, keep_aspect_ratio_policy
    )
    readings = Readings(
        scale,
        length_resized,
        align_corners_of_one,
        roi_in_length,
        policy_scale=policy_scale,
        policy_length=policy_length,
        symmetric_width=symmetric_width,
    )
    method = read_method(mode, nearest_mode, cubic_coeff_a, antialias, exclude_outside, extrapolation_value)
    behaviours = Behaviours(
        integer_conversion, integer_overflow, subnormals, negative_zeros, integer_steps, unlisted_axes
    )
    return resample(X, plan_axes(request, readings, method), method, behaviours)
