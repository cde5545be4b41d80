"""A resize as it is asked for, and what each of its axes comes to under the chosen readings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from opcert.vocabulary.tensors import Tensor
from reference.answers import UnstableLength
from reference.numbers.numbers import numbers
from reference.readings.choices import Choice
from reference.shared.interpolation.coordinates import HALF, WHOLE, CoordinateAxis

FRACTIONAL_MODES = ("align_corners", "pytorch_half_pixel", "tf_crop_and_resize")
"""Those whose formulas have length_resized in them."""
Plans = tuple[CoordinateAxis | None, ...]
"""What happens along each axis of the input; None where it stays as it is."""


@dataclass(frozen=True)
class Method:
    """How to resample: the element nearest by a `rule`, or a linear or cubic kernel laid over the taps.

    `a` is the cubic kernel's parameter.
    """

    mode: str
    rule: str
    a: float = -0.75
    antialias: int = 0
    exclude_outside: int = 0
    extrapolation_value: float = 0.0

    @property
    def is_nearest(self) -> bool:
        return self.mode == "nearest"

    @property
    def by_scale(self) -> bool:
        """Whether the scale matters in itself, not for the coordinates alone."""
        return self.rule == "ceil_downsampling" if self.is_nearest else bool(self.antialias)


@dataclass(frozen=True, eq=False)
class Request:
    """The numbers of a call, one for each entry of `axes` (not negative, none repeated).

    Either `scales` or `sizes` is given. `roi` holds (start, end), or is None where none was given in full.
    """

    shape: tuple[int, ...]
    axes: tuple[int, ...]
    mode: str
    scales: tuple[Fraction, ...] | None
    sizes: tuple[int, ...] | None
    roi: tuple[tuple[Fraction, Fraction], ...] | None
    policy: str


@lru_cache(maxsize=64)
def read_request(
    shape: tuple[int, ...],
    roi: Tensor | None,
    scales: Tensor | None,
    sizes: Tensor | None,
    axes: tuple[int, ...] | None,
    mode: str,
    policy: str = "stretch",
) -> Request:
    """The request that the inputs make; a call is read once, and then asked under every combination."""
    rank = len(shape)
    chosen = tuple(range(rank)) if axes is None else tuple(axis % rank for axis in axes)
    factors = None if scales is None else _exactly(scales)
    lengths = None if sizes is None else tuple(int(each) for each in sizes.array)
    region = None if roi is None else _read_roi(roi, len(chosen))
    return Request(shape, chosen, mode, factors, lengths, region, policy)


def _exactly(values: Tensor) -> tuple[Fraction, ...]:
    return tuple(Fraction(each) for each in numbers(values.element_type, values.array))


def _read_roi(roi: Tensor, count: int) -> tuple[tuple[Fraction, Fraction], ...] | None:
    """The region of each axis; None where there is none, or not the numbers of one."""
    if roi.array.size == 0 or not all(map(math.isfinite, numbers(roi.element_type, roi.array))):
        return None
    bounds = _exactly(roi)
    return tuple(zip(bounds[:count], bounds[count:], strict=True))


@dataclass(frozen=True)
class Readings:
    """The questions that the page leaves open; see the functions of the operator.

    Those that a version does not ask have one answer.
    """

    scale: Choice[str]
    length_resized: Choice[str] = Choice("integer")
    align_corners_of_one: Choice[str] = Choice("start")
    roi_in_length: Choice[str] = Choice("crop_and_resize")
    aspect_index: Choice[str] = Choice("axis")
    policy_scale: Choice[str] = Choice("recomputed")
    policy_length: Choice[str] = Choice("integer")
    symmetric_width: Choice[str] = Choice("whole")
    unit_axis: Choice[str] = Choice("formula")


def plan_axes(request: Request, readings: Readings, method: Method) -> Plans:
    """What happens along each axis of the input.

    An axis holds nothing that its formula and the method do not look at: equal plans have equal results.
    """
    plans: list[CoordinateAxis | None] = [None] * len(request.shape)
    for entry, axis in enumerate(request.axes):
        if request.scales is not None:
            plan = _plan_by_scale(request, readings, entry, request.scales[entry], method.by_scale)
        else:
            plan = _plan_by_size(request, readings, entry, method.by_scale)
        if plan.mode == "align_corners" and plan.exact_length == 1:
            plan = replace(plan, of_one=readings.align_corners_of_one.ask())
        plans[axis] = plan
    return tuple(plans)


def _plan_by_scale(
    request: Request, readings: Readings, entry: int, scale: Fraction, by_scale: bool
) -> CoordinateAxis:
    length = request.shape[request.axes[entry]]
    start, end = _region(request, entry)
    part = _counted_part(request, readings, entry)
    resized = _scaled_length(length, scale, *part)
    if _leaves_unit_axis(request, readings, length, resized, scale):
        return unmoved(length)
    differs = resized != scale * length and _looks_at_scale(request, by_scale)
    recomputed = differs and readings.scale.ask() == "recomputed"
    target = length * (part[1] - part[0]) * scale
    has_length = target != resized and request.mode in FRACTIONAL_MODES
    fractional = has_length and readings.length_resized.ask() == "fractional"
    if fractional:
        _refuse_nearly_one(length, scale, *part)
    known = target != resized and (fractional or request.mode == "half_pixel_symmetric")
    return CoordinateAxis(
        mode=request.mode,
        length_original=length,
        length_resized=resized,
        scale=_looked_at(request, by_scale, (Fraction(resized), length) if recomputed else (scale, 1)),
        target_scale=(scale, 1) if known else None,
        fractional=fractional,
        part=part if known else WHOLE,
        start=start,
        end=end,
    )


def _counted_part(request: Request, readings: Readings, entry: int) -> tuple[Fraction, Fraction]:
    """The part of an axis that its scaled length is made of."""
    if request.roi is None:
        return WHOLE
    match readings.roi_in_length.ask():
        case "always":
            return request.roi[entry]
        case "crop_and_resize":
            return _region(request, entry)
    return WHOLE


def _plan_by_size(request: Request, readings: Readings, entry: int, by_scale: bool) -> CoordinateAxis:
    assert request.sizes is not None
    axis = request.axes[entry]
    length = request.shape[axis]
    resized = request.sizes[entry]
    scale, target = (Fraction(resized), length), None
    if request.policy != "stretch":
        common = _common_scale(request.policy, request.sizes, [request.shape[each] for each in request.axes])
        index = entry if readings.aspect_index.ask() == "position" else axis
        resized = _rounded_length(common, request.shape[index])
        scale = common if readings.policy_scale.ask() == "common" else (Fraction(resized), length)
        target = _target_of_policy(request, readings, common, request.shape[index], resized, length)
    if _leaves_unit_axis(request, readings, length, resized):
        return unmoved(length)
    start, end = _region(request, entry)
    return CoordinateAxis(
        mode=request.mode,
        length_original=length,
        length_resized=resized,
        scale=_looked_at(request, by_scale, scale),
        target_scale=target,
        fractional=target is not None,
        start=start,
        end=end,
    )


def _target_of_policy(
    request: Request,
    readings: Readings,
    common: tuple[Fraction, int],
    counted: int,
    resized: int,
    length: int,
) -> tuple[Fraction, int] | None:
    """The scale that makes the length before a policy rounds it, where that is what the formulas take.

    `counted` is the input length that the policy multiplies, `length` that of the axis.
    """
    if common[0] * counted / common[1] == resized:
        return None
    if request.mode == "half_pixel_symmetric":
        question = readings.symmetric_width
    elif request.mode in FRACTIONAL_MODES:
        question = readings.policy_length
    else:
        return None
    if question.ask() != "fractional":
        return None
    if request.mode in FRACTIONAL_MODES:
        _refuse_nearly_one(counted, common[0] / common[1], *WHOLE)
    return common if counted == length else (common[0] * counted, common[1] * length)


def _looked_at(request: Request, by_scale: bool, scale: tuple[Fraction, int]) -> tuple[Fraction, int]:
    """The scale, or 1 where nothing depends on it beside the lengths."""
    return scale if _looks_at_scale(request, by_scale) else (Fraction(1), 1)


def _looks_at_scale(request: Request, by_scale: bool) -> bool:
    return by_scale or request.mode not in ("align_corners", "tf_crop_and_resize")


def unmoved(length: int) -> CoordinateAxis:
    """An axis each of whose coordinates is its position: its elements stay, as sums in which they weigh 1."""
    return CoordinateAxis("asymmetric", length, length, (Fraction(1), 1))


def _leaves_unit_axis(
    request: Request, readings: Readings, length: int, resized: int, scale: Fraction | int = 1
) -> bool:
    unit = request.mode == "tf_half_pixel_for_nn" and resized == length and scale == 1
    return unit and readings.unit_axis.ask() == "unchanged"


def _region(request: Request, entry: int) -> tuple[Fraction, Fraction]:
    """The region of interest of an entry, where the mode has one."""
    cropping = request.mode == "tf_crop_and_resize" and request.roi is not None
    return request.roi[entry] if cropping and request.roi is not None else WHOLE


def _scaled_length(length: int, scale: Fraction, start: Fraction, end: Fraction) -> int:
    """floor(length * (end - start) * scale), as the summary of the ONNX document has it.

    Raises UnstableLength where float32 or float64 arithmetic gives another length than exact arithmetic.
    """
    exact = math.floor(length * (end - start) * scale)
    routes = {exact, *(math.floor(each) for each in _by_route(length, scale, start, end))}
    if routes != {exact}:
        raise UnstableLength(
            "the output length hangs on rounding",
            got=" or ".join(map(str, sorted(routes))),
            expected=f"one length for floor({length} * ({float(end)} - {float(start)}) * {float(scale)})",
        )
    return exact


def _refuse_nearly_one(length: int, scale: Fraction, start: Fraction, end: Fraction) -> None:
    """Raise UnstableLength where length * (end - start) * scale is not 1, and a route finds that it is."""
    exact = length * (end - start) * scale
    if exact != 1 and 1.0 in _by_route(length, scale, start, end):
        raise UnstableLength(
            "whether the output has a single element hangs on rounding",
            got=f"{length} * ({float(end)} - {float(start)}) * {float(scale)}",
            expected="a length of 1, or one that no arithmetic takes for 1",
        )


def _by_route(length: int, scale: Fraction, start: Fraction, end: Fraction) -> set[float]:
    """length * (end - start) * scale in float32 and in float64, multiplied in any order."""
    found: set[float] = set()
    for kind in (np.float32, np.float64):
        size, region, factor = kind(length), kind(float(end)) - kind(float(start)), kind(float(scale))
        orders = (size * region * factor, size * factor * region, size * (region * factor))
        found |= {float(each) for each in orders}
    return found


def _common_scale(policy: str, sizes: Sequence[int], lengths: Sequence[int]) -> tuple[Fraction, int]:
    """The one scale of keep_aspect_ratio_policy, as (size, length): the least or greatest size / length."""
    pairs = [(Fraction(size), length) for size, length in zip(sizes, lengths, strict=True)]
    choose = min if policy == "not_larger" else max
    return choose(pairs, key=lambda pair: pair[0] / pair[1])


def _rounded_length(scale: tuple[Fraction, int], length: int) -> int:
    """round_int(scale * length), halfway cases up.

    Raises UnstableLength where float32 or float64 arithmetic gives another length.
    """
    exact = math.floor(scale[0] * length / scale[1] + HALF)
    routes = {exact}
    for kind in (np.float32, np.float64):
        factor = kind(float(scale[0])) / kind(scale[1])
        routes.add(math.floor(Fraction(float(factor * kind(length))) + HALF))
    if routes != {exact}:
        raise UnstableLength(
            "the output length hangs on rounding",
            got=" or ".join(map(str, sorted(routes))),
            expected=f"one length for round_int({float(scale[0])} / {scale[1]} * {length})",
        )
    return exact
