"""Resizes at borders, valid ones and ones that break a rule: lengths, scales, regions, filters, policies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.data_levels import DATA, fits
from generator.calls.variables.kind import KindSubject
from specs.model.structures import element_types_of, type_variable

Edges = Iterator[tuple[str, Bindings]]
Nothing = Callable[[str], Any]
NAN, INFINITY = float("nan"), float("inf")
ABOVE_ONE = float(np.nextafter(np.float32(1), np.float32(2)))
BELOW_ONE = float(np.nextafter(np.float32(1), np.float32(0)))
THIN, THINNER = 0.9998, 0.99999
"""Filters stretched so little that their last taps weigh from 3 in 10,000, or in 200,000, on."""
_KEEPS = 1.2
"""Of 4 elements it makes as many, and takes them from up to half a step beside the old ones."""
COORDINATES, POLICY = "coordinate_transformation_mode", "keep_aspect_ratio_policy"
CROP, SYMMETRIC = "tf_crop_and_resize", "half_pixel_symmetric"


@dataclass(frozen=True)
class Resizes:
    """Makes the bindings of whole calls: what is not named is left out, or says nothing."""

    subject: KindSubject
    pack: str
    nothing: Nothing

    def of(self, shape: list[int], *, kind: str = "float", data: str = "distinct", **given: Any) -> Bindings:
        """A resize of a tensor of that shape, element type and class of data."""
        spec = self.subject.spec
        tensor = spec.inputs[0]
        inputs = {parameter.name: self.nothing(parameter.name) for parameter in spec.inputs[1:]}
        return {
            **dict.fromkeys(spec.attributes),
            **inputs,
            self.pack: shape,
            f"shape:{tensor.name}": tuple(shape),
            f"level:type_{type_variable(spec, tensor)}": kind,
            f"level:{DATA}": data,
            **given,
        }

    @property
    def modes(self) -> list[str]:
        """The modes of the version."""
        return list(map(str, self.values("mode")))

    @property
    def types(self) -> list[str]:
        return list(element_types_of(self.subject.spec, self.subject.spec.inputs[0]))

    def values(self, name: str) -> tuple[Any, ...]:
        attribute = self.subject.attribute(name)
        return () if attribute is None or attribute.values is None else tuple(attribute.values.values)

    def has(self, name: str) -> bool:
        return self.subject.has(name)


def edges_of(subject: KindSubject, pack: str, nothing: Nothing) -> Edges:
    """A word and bindings each; every version has those that its inputs and attributes allow."""
    resizes = Resizes(subject, pack, nothing)
    parts: list[Callable[[Resizes], Edges]] = [_shapes, _values, _scales]
    if resizes.has("sizes"):
        parts += [_coordinates, _sizes, _regions, _weights]
    if resizes.has("antialias"):
        parts += [_antialias, _thin_taps, _axes_and_policies]
    for part in parts:
        yield from part(resizes)


def kept_lengths_of(subject: KindSubject, pack: str, nothing: Nothing) -> Edges:
    """Scales that change no length, by which elements move all the same, in every mode."""
    resizes = Resizes(subject, pack, nothing)
    scales = [1.0, _KEEPS]
    for mode in resizes.modes:
        yield f"length_kept_{mode}", resizes.of([3, 4], scales=scales, mode=mode)
        if resizes.has("antialias"):
            filtered: dict[str, Any] = {"mode": mode, "antialias": 1}
            yield f"length_kept_antialias_{mode}", resizes.of([3, 4], scales=scales, **filtered)
            if resizes.has("axes"):
                one = resizes.of([4, 3], scales=[_KEEPS], axes=[0], **filtered)
                yield f"length_kept_antialias_along_one_axis_{mode}", one
    for name in resizes.values(COORDINATES):
        if name != CROP and "linear" in resizes.modes:
            kept = resizes.of([3, 4], scales=scales, mode="linear", **{COORDINATES: name})
            yield f"length_kept_{name}", kept


def _shapes(resizes: Resizes) -> Edges:
    for mode in resizes.modes:
        yield f"length_one_{mode}", resizes.of([1], scales=[4.0], mode=mode)
        yield f"length_zero_{mode}", resizes.of([0, 3], scales=[2.0, 2.0], mode=mode)
        yield f"length_two_{mode}", resizes.of([2, 1], scales=[1.5, 1.0], mode=mode)
        six = [1.0, 1.0, 1.0, 1.0, 2.0, 2.0]
        yield f"rank_six_{mode}", resizes.of([1, 2, 1, 3, 1, 2], scales=six, mode=mode)
    yield "output_length_zero", resizes.of([3, 2], scales=[0.25, 1.0])
    for kind in ("float", "string"):  # where inputs can be left out, no scales may mean that none are given
        yield f"rank_zero_{kind}", resizes.of([], kind=kind, scales=[])


def _values(resizes: Resizes) -> Edges:
    for kind in resizes.types:
        for data in ("nonfinite", "signed_zero", "subnormal", "huge"):
            if fits(kind, data) and not kind.startswith("complex"):
                yield f"{kind}_{data}", resizes.of([3, 4], kind=kind, data=data, scales=[1.0, 2.0])
        if fits(kind, "huge") and not kind.startswith("complex"):
            big = resizes.of([2, 4], kind=kind, data="huge", scales=[1.0, 2.0], mode="linear")
            yield f"linear_{kind}_huge", big
    for mode in resizes.modes[1:]:
        for data in ("nonfinite", "signed_zero", "subnormal", "huge", "large_offset"):
            yield f"{mode}_{data}", resizes.of([2, 4], data=data, scales=[1.0, 2.0], mode=mode)
            yield f"{mode}_identity_{data}", resizes.of([2, 4], data=data, scales=[1.0, 1.0], mode=mode)
    if "cubic" in resizes.modes:
        # The greatest weights are above 1: what was finite is not any more.
        steep: dict[str, Any] = {"X": np.array([64160, 0, 0], np.float16), "mode": "cubic"}
        yield "cubic_overflow_float16", resizes.of([3], kind="float16", scales=[1.5], **steep)
    for kind in ("int8", "uint8", "int32", "int64", "uint64"):
        for mode in resizes.modes:
            ends = resizes.of([2, 5], kind=kind, data="extremes", scales=[1.0, 2.0], mode=mode)
            yield f"{kind}_extremes_{mode}", ends
    yield "empty_strings", resizes.of([3, 3], kind="string", data="random", scales=[2.0, 1.0])


def _scales(resizes: Resizes) -> Edges:
    lengths = {"far_up": (2, 33.0), "far_down": (64, 0.03125), "just_above_one": (4, ABOVE_ONE)}
    for mode in resizes.modes:
        yield f"identity_{mode}", resizes.of([2, 3, 4], scales=[1.0] * 3, mode=mode)
        for word, (length, scale) in {**lengths, "just_below_one": (4, BELOW_ONE)}.items():
            yield f"{word}_{mode}", resizes.of([length], scales=[scale], mode=mode)


def _coordinates(resizes: Resizes) -> Edges:
    for name in resizes.values(COORDINATES):
        if name == CROP:
            continue
        for mode in resizes.modes:
            one = resizes.of([2, 5], sizes=[2, 1], mode=mode, **{COORDINATES: name})
            yield f"to_length_one_{name}_{mode}", one
        for rounding in resizes.values("nearest_mode"):
            tie = resizes.of([8], scales=[0.5], nearest_mode=rounding, **{COORDINATES: name})
            yield f"ties_{name}_{rounding}", tie
    if SYMMETRIC in resizes.values(COORDINATES):
        # Coordinates that are whole numbers, and in binary fractions a little more.
        for rounding in ("floor", "ceil"):
            beside: dict[str, Any] = {"scales": [0.75], "nearest_mode": rounding, COORDINATES: SYMMETRIC}
            yield f"beside_an_integer_{rounding}", resizes.of([7], **beside)
        cubic: dict[str, Any] = {"mode": "cubic", "exclude_outside": 1, COORDINATES: SYMMETRIC}
        yield "beside_an_integer_cubic", resizes.of([5], scales=[1.25], **cubic)
    for rounding in ("floor", "ceil"):
        # Coordinates that are rounded to a pixel before the first or behind the last.
        yield f"outer_pixels_{rounding}", resizes.of([3, 4], scales=[2.0, 3.0], nearest_mode=rounding)


def _sizes(resizes: Resizes) -> Edges:
    for mode in resizes.modes:
        yield f"sizes_same_{mode}", resizes.of([3, 4], sizes=[3, 4], mode=mode)
        yield f"sizes_coprime_{mode}", resizes.of([7], sizes=[11], mode=mode)
    yield "sizes_of_no_elements", resizes.of([2, 0], sizes=[4, 0])


def _regions(resizes: Resizes) -> Edges:
    regions = {
        "whole": [0.0, 0.0, 1.0, 1.0],
        "point": [0.0, 0.5, 1.0, 0.5],
        "edge": [0.0, 1.0, 1.0, 1.25],
        "far": [0.0, -100.0, 1.0, 100.0],
    }
    crop: dict[str, Any] = {COORDINATES: CROP, "extrapolation_value": -7.5}
    for kind in resizes.types:
        if kind.startswith("complex"):
            yield f"roi_far_{kind}", resizes.of([2, 5], kind=kind, roi=regions["far"], sizes=[2, 4], **crop)
    for mode in resizes.modes:
        for name, roi in regions.items():
            yield f"roi_{name}_{mode}", resizes.of([2, 5], roi=roi, sizes=[2, 4], mode=mode, **crop)
        if mode != "nearest":
            # Where no weight is left to renormalize, the position is extrapolated.
            far: dict[str, Any] = {"roi": [0.0, -2.0, 1.0, 3.0], "sizes": [2, 9], "exclude_outside": 1}
            yield f"roi_far_exclude_outside_{mode}", resizes.of([2, 5], mode=mode, **far, **crop)
    one: dict[str, Any] = {"roi": [0.0, 0.25, 1.0, 1.0], "sizes": [2, 1], "mode": "linear", COORDINATES: CROP}
    yield "roi_to_length_one", resizes.of([2, 5], **one)


def _weights(resizes: Resizes) -> Edges:
    for length in (1, 2, 3):
        excluding = resizes.of([length], scales=[4.0], mode="cubic", exclude_outside=1)
        yield f"exclude_outside_{length}", excluding
    for name, value in (("zero", 0.0), ("minus_one", -1.0), ("positive", 0.25)):
        steep = resizes.of([5], scales=[2.0], mode="cubic", cubic_coeff_a=value)
        yield f"cubic_coefficient_{name}", steep


def _antialias(resizes: Resizes) -> Edges:
    for mode in ("linear", "cubic"):
        for name, length, size in (("far_down", 40, 3), ("to_one", 6, 1), ("up", 3, 7), ("same", 5, 5)):
            yield f"antialias_{name}_{mode}", resizes.of([length], sizes=[size], mode=mode, antialias=1)
        # Cubic sums of these ends leave the range, where no document says what becomes of them.
        ends = "extremes" if mode == "linear" else "random"
        for kind, data in (("uint8", "extremes"), ("int8", "random"), ("int32", ends)):
            filtered = resizes.of([2, 12], kind=kind, data=data, sizes=[2, 5], mode=mode, antialias=1)
            yield f"antialias_{kind}_{mode}", filtered


def _thin_taps(resizes: Resizes) -> Edges:
    for mode in ("linear", "cubic"):
        for exclude in (0, 1):
            word = f"{mode}_excluding" if exclude else mode
            how: dict[str, Any] = {"mode": mode, "antialias": 1, "exclude_outside": exclude}
            for kind, data in (("float", "distinct"), ("double", "distinct"), ("int32", "random")):
                thin = resizes.of([9], kind=kind, data=data, scales=[THIN], **how)
                yield f"antialias_thin_{kind}_{word}", thin
            yield f"antialias_thinner_{word}", resizes.of([7], scales=[THINNER], **how)
        for name in ("asymmetric", "align_corners", "pytorch_half_pixel"):
            thin = resizes.of([3, 6], scales=[0.75, THIN], mode=mode, antialias=1, **{COORDINATES: name})
            yield f"antialias_thin_{name}_{mode}", thin


def _axes_and_policies(resizes: Resizes) -> Edges:
    for policy in ("not_larger", "not_smaller"):
        # One half of 3 is 1.5: halfway cases go up.
        yield f"{policy}_halfway", resizes.of([4, 3], sizes=[2, 3], **{POLICY: policy})
        yield f"{policy}_same", resizes.of([4, 3], sizes=[4, 3], **{POLICY: policy})
        yield f"{policy}_axes", resizes.of([2, 3, 4], sizes=[8, 3], axes=[2, 1], **{POLICY: policy})
    for mode in ("linear", "cubic"):
        # The elements along the other axis are none of this one's business.
        alone = resizes.of([4, 3], data="nonfinite", sizes=[3], axes=[0], mode=mode)
        yield f"one_axis_nonfinite_{mode}", alone
    yield "empty_axis_listed", resizes.of([0, 3], scales=[2.0, 2.0], axes=[0, 1])
    wide: dict[str, Any] = {"kind": "uint32", "data": "extremes"}
    yield "one_axis_extremes", resizes.of([2, 3, 4], scales=[2.0], axes=[-2], **wide)
    yield "one_axis", resizes.of([2, 3, 4], scales=[2.0], axes=[-2], mode="linear")


def breaches_of(subject: KindSubject, pack: str, scope: Partial, nothing: Nothing) -> Edges:
    """Rule and values, from a valid call; some break a rule only of operators that have it."""
    given = {name: _list_of(scope, name) for name in ("scales", "sizes", "axes", "roi") if subject.has(name)}
    shape = list(scope.shape(pack))
    if (scales := given["scales"]) is not None and scales:
        yield from _of_scales(scales)
        if subject.input("scales") is not None:
            yield "lists_of_one_axis", {"scales": np.array([scales])}
    if (sizes := given.get("sizes")) is not None and sizes:
        yield from _of_sizes(sizes)
        yield from _of_empty_axes(pack, subject.spec.inputs[0].name, shape, given)
    if "sizes" in given and shape:
        yield from _of_both(given, shape, nothing)
        yield from _of_no_elements(subject, pack, nothing)
    yield from _of_averages(subject)
    if "axes" in given:
        yield from _of_axes(given, len(shape))
    if given.get("roi"):
        yield from _of_regions(subject, given, nothing)
    if scales and subject.has(POLICY):
        for policy in ("not_larger", "not_smaller"):
            yield "policy_beside_scales", {POLICY: policy}


def _list_of(scope: Partial, name: str) -> list[Any] | None:
    value = scope.find(name)
    return None if value is None else list(value)


def _of_scales(scales: list[float]) -> Edges:
    for values in (scales[:-1], [*scales, 1.0]):
        yield "scales_length", {"scales": values}
    for wrong in (0.0, -2.0, NAN):
        yield "scales_positive", {"scales": [wrong, *scales[1:]]}
    for wrong in (0.5, 0.0, NAN):
        yield "scales_range", {"scales": [wrong, *scales[1:]]}
    yield "scales_finite", {"scales": [INFINITY, *scales[1:]]}


def _of_sizes(sizes: list[int]) -> Edges:
    for values in (sizes[:-1], [*sizes, 1]):
        yield "sizes_length", {"sizes": values}
    yield "sizes_not_negative", {"sizes": [-6, *sizes[1:]]}


def _of_empty_axes(pack: str, tensor: str, shape: list[int], given: Mapping[str, Any]) -> Edges:
    axes = given.get("axes") or list(range(len(shape)))
    emptied = [0 if axis == axes[-1] % len(shape) else length for axis, length in enumerate(shape)]
    empty = {pack: emptied, f"shape:{tensor}": tuple(emptied)}
    yield "empty_axis_stays_empty", {**empty, "sizes": [*given["sizes"][:-1], 3]}
    zeros = {"sizes": [0] * len(axes), POLICY: "not_larger"}
    yield "aspect_ratio_of_elements", {**empty, **zeros}


def _of_both(given: Mapping[str, Any], shape: list[int], nothing: Nothing) -> Edges:
    yield "scales_or_sizes", {"scales": nothing("scales"), "sizes": None}
    count = len(given.get("axes") or shape)
    if given["scales"]:
        yield "not_scales_and_sizes", {"sizes": [2] * count}
    else:
        yield "not_scales_and_sizes", {"scales": [2.0] * count}


def _of_no_elements(subject: KindSubject, pack: str, nothing: Nothing) -> Edges:
    """Scales or sizes in no number: of a tensor without axes, or for a list of no axes."""
    tensor = subject.spec.inputs[0].name
    plain: dict[str, Any] = {name: None for name in (COORDINATES, POLICY, "axes") if subject.has(name)}
    plain |= {"roi": nothing("roi"), "scales": nothing("scales"), "sizes": None}
    scalar = {**plain, pack: [], f"shape:{tensor}": ()}
    yield "asked_in_no_elements", {**scalar, "scales": []}
    yield "asked_in_no_elements", {**scalar, "sizes": []}
    if subject.has("axes"):
        yield "asked_in_no_elements", {**plain, "scales": [], "axes": []}


def _of_averages(subject: KindSubject) -> Edges:
    """Means of what has none."""
    level = f"level:type_{type_variable(subject.spec, subject.spec.inputs[0])}"
    for kind, mode in (("bool", "linear"), ("string", "linear"), ("bool", "cubic"), ("string", "cubic")):
        yield "numbers_to_average", {level: kind, "mode": mode}


def _of_axes(given: Mapping[str, Any], rank: int) -> Edges:
    """Axes in a number that scales and sizes have as well, so that nothing else is wrong."""
    count = len(given["axes"] or range(rank))
    for wrong in (rank, -rank - 1):
        if count:
            yield "axes_in_range", {"axes": [*range(count - 1), wrong]}
    for last in (0, -rank):
        if count > 1:
            yield "axes_unique", {"axes": [*range(count - 1), last]}


def _of_regions(subject: KindSubject, given: Mapping[str, Any], nothing: Nothing) -> Edges:
    roi, half = given["roi"], len(given["roi"]) // 2
    yield "roi_given", {"roi": nothing("roi")}
    yield "roi_length", {"roi": roi[:-1]}
    # By sizes, so that the region makes no length.
    by_sizes = {"scales": nothing("scales"), "sizes": [2] * half}
    for wrong in (NAN, INFINITY, -INFINITY):
        yield "roi_finite", {"roi": [*roi[:-1], wrong], **by_sizes}
    for start in (0.8, 1000.0):
        yield "cropped_length_not_negative", {"roi": [*roi[: half - 1], start, *roi[half:-1], 0.75]}
    strings = {f"level:type_{type_variable(subject.spec, subject.spec.inputs[0])}": "string"}
    plain = {name: None for name in ("mode", "antialias", "exclude_outside") if subject.has(name)}
    for start, end in ((0.0, 1.5), (-0.5, 1.0)):
        region = [*roi[: half - 1], start, *roi[half:-1], end]
        yield "region_of_strings", {"roi": region, **strings, **plain}
    parameter = subject.input("roi")
    if parameter is not None:
        yield "roi_type", {f"level:type_{parameter.type}": "float16"}
