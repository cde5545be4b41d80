"""A resize as it is asked for, and what each of its axes comes to under the chosen readings."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import lru_cache, partial

from reference.readings.choices import Choice
from reference.shared.interpolation.coordinates import WHOLE, CoordinateAxis
from reference.shared.interpolation.methods import Method
from reference.shared.interpolation.output_lengths import (
    common_scale,
    refuse_nearly_one,
    rounded_length,
    scaled_length,
)
from reference.shared.interpolation.resize_requests import Request

FRACTIONAL_MODES = ("align_corners", "pytorch_half_pixel", "tf_crop_and_resize")
"""Those whose formulas have length_resized in them."""


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


_QUESTIONS = tuple(each.name for each in fields(Readings))


def plan_axes(request: Request, readings: Readings, method: Method) -> tuple[CoordinateAxis | None, ...]:
    """What happens along each axis of the input; None where it stays as it is.

    An axis holds nothing that its formula and the method do not look at: equal plans have equal results.
    """
    options = tuple(getattr(readings, name).option for name in _QUESTIONS)
    plans, asked = _known_plans(request, options, method.by_scale)
    for name in asked:
        getattr(readings, name).ask()
    return plans


@lru_cache(maxsize=256)
def _known_plans(
    request: Request, options: tuple[str, ...], by_scale: bool
) -> tuple[tuple[CoordinateAxis | None, ...], frozenset[str]]:
    """The plans under some options, and the questions that were asked; a call is planned again and again."""
    asked: set[str] = set()
    named = zip(_QUESTIONS, options, strict=True)
    readings = Readings(*(Choice(option, partial(asked.add, name)) for name, option in named))
    return _plan_axes(request, readings, by_scale), frozenset(asked)


def _plan_axes(request: Request, readings: Readings, by_scale: bool) -> tuple[CoordinateAxis | None, ...]:
    plans: list[CoordinateAxis | None] = [None] * len(request.shape)
    for entry, axis in enumerate(request.axes):
        if request.scales is not None:
            plan = _plan_by_scale(request, readings, entry, request.scales[entry], by_scale)
        else:
            plan = _plan_by_size(request, readings, entry, by_scale)
        plans[axis] = _look_for_one(plan, readings)
    return tuple(plans)


def _look_for_one(plan: CoordinateAxis, readings: Readings) -> CoordinateAxis:
    if plan.mode != "align_corners" or plan.exact_length != 1:
        return plan
    return replace(plan, of_one=readings.align_corners_of_one.ask())


def _plan_by_scale(
    request: Request, readings: Readings, entry: int, scale: Fraction, by_scale: bool
) -> CoordinateAxis:
    length = request.shape[request.axes[entry]]
    start, end = _region(request, entry)
    part = _counted_part(request, readings, entry)
    resized = scaled_length(length, scale, *part)
    if _leaves_unit_axis(request, readings, length, resized, scale):
        return _unmoved(length)
    recomputed = resized != scale * length and _recomputes(request, readings, by_scale)
    target = length * (part[1] - part[0]) * scale
    fractional = target != resized and _leaves_fractions(request, readings)
    if fractional:
        refuse_nearly_one(length, scale, *part)
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
        common = common_scale(request.policy, request.sizes, [request.shape[each] for each in request.axes])
        index = entry if readings.aspect_index.ask() == "position" else axis
        resized = rounded_length(common, request.shape[index])
        scale = common if readings.policy_scale.ask() == "common" else (Fraction(resized), length)
        target = _target_of_policy(request, readings, common, request.shape[index], resized, length)
    if _leaves_unit_axis(request, readings, length, resized):
        return _unmoved(length)
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
        refuse_nearly_one(counted, common[0] / common[1], *WHOLE)
    return common if counted == length else (common[0] * counted, common[1] * length)


def _looked_at(request: Request, by_scale: bool, scale: tuple[Fraction, int]) -> tuple[Fraction, int]:
    """The scale, or 1 where nothing depends on it beside the lengths."""
    return scale if _looks_at_scale(request, by_scale) else (Fraction(1), 1)


def _looks_at_scale(request: Request, by_scale: bool) -> bool:
    return by_scale or request.mode not in ("align_corners", "tf_crop_and_resize")


def _recomputes(request: Request, readings: Readings, by_scale: bool) -> bool:
    return _looks_at_scale(request, by_scale) and readings.scale.ask() == "recomputed"


def _leaves_fractions(request: Request, readings: Readings) -> bool:
    return request.mode in FRACTIONAL_MODES and readings.length_resized.ask() == "fractional"


def _unmoved(length: int) -> CoordinateAxis:
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
