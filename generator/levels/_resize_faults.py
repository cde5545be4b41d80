"""Resize calls that break one constraint, each with the valid call that it was made from."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from generator.calls import Call
from generator.data import fill
from generator.draws import Draw
from generator.levels._resize_calls import plain_call
from opcert.vocabulary.attributes import attribute
from opcert.vocabulary.tensors import Tensor, tensor
from specs.model import Spec

Fault = tuple[str, Call, Call]


def faults(spec: Spec, draw: Draw) -> Iterator[Fault]:
    """Constraint id, valid call, broken call; ids that a version does not have are left to the caller."""
    X = fill("float", (2, 3, 4), "distinct", draw.child("X"))
    by_scales = plain_call(spec, X, scales=[1.0, 2.0, 0.5])
    for values in ([1.0, 2.0], [1.0, 2.0, 0.5, 1.0]):
        yield "scales_length", by_scales, by_scales.with_input("scales", _floats(values))
    for values in ([1.0, 0.0, 0.5], [1.0, -2.0, 0.5], [1.0, float("nan"), 0.5]):
        yield "scales_positive", by_scales, by_scales.with_input("scales", _floats(values))
    for mode in ("bilinear", "", "NEAREST"):
        yield "mode_value", by_scales, by_scales.with_attribute("mode", attribute("string", mode))
    for kind in ("bool", "string"):
        plain = plain_call(spec, fill(kind, (2, 3), "distinct", draw.child(kind)), scales=[1.0, 2.0])
        for mode in ("linear", "cubic"):
            if mode == "linear" or spec.operator.since_version > 10:
                yield "numbers_to_average", plain, plain.with_attribute("mode", attribute("string", mode))
    if spec.operator.since_version > 10:
        yield from _faults_since_11(spec, X, by_scales)
    if spec.operator.since_version >= 18:
        yield from _faults_of_axes(spec, X)


def _faults_since_11(spec: Spec, X: Tensor, by_scales: Call) -> Iterator[Fault]:
    by_sizes = plain_call(spec, X, sizes=[2, 6, 2])
    yield "scales_or_sizes", by_scales, plain_call(spec, X)
    yield "scales_or_sizes", by_sizes, plain_call(spec, X)
    yield "not_scales_and_sizes", by_scales, by_scales.with_input("sizes", _integers([2, 6, 2]))
    for values in ([2, 6], [2, 6, 2, 1]):
        yield "sizes_length", by_sizes, by_sizes.with_input("sizes", _integers(values))
    yield "sizes_not_negative", by_sizes, by_sizes.with_input("sizes", _integers([2, -6, 2]))
    yield (
        "exclude_outside_of_nearest",
        by_scales,
        by_scales.with_attribute("exclude_outside", attribute("int", 1)),
    )
    for name, attr, value in (
        ("nearest_mode_value", "nearest_mode", "round"),
        ("coordinate_mode_value", "coordinate_transformation_mode", "half_pixels"),
    ):
        yield name, by_scales, by_scales.with_attribute(attr, attribute("string", value))
    crop = plain_call(
        spec,
        X,
        roi=[0.0, 0.0, 0.25, 1.0, 1.0, 0.75],
        sizes=[2, 6, 2],
        mode="linear",
        coordinate_transformation_mode="tf_crop_and_resize",
    )
    yield "roi_length", crop, crop.with_input("roi", _floats([0.0, 0.0, 0.25, 1.0, 1.0]))
    halves = tensor(np.array([0.0, 0.0, 0.25, 1.0, 1.0, 0.75], np.float16), "float16")
    yield "roi_type", crop, crop.with_input("roi", halves)
    for end in (float("nan"), float("inf"), float("-inf")):
        yield "roi_finite", crop, crop.with_input("roi", _floats([0.0, 0.0, 0.25, 1.0, 1.0, end]))
    by_region = plain_call(
        spec,
        X,
        roi=[0.0, 0.0, 0.25, 1.0, 1.0, 0.75],
        scales=[1.0, 2.0, 2.0],
        coordinate_transformation_mode="tf_crop_and_resize",
    )
    for start in (0.8, 1000.0):
        turned = _floats([0.0, 0.0, start, 1.0, 1.0, 0.75])
        yield "cropped_length_not_negative", by_region, by_region.with_input("roi", turned)
    if spec.operator.since_version == 11:
        yield "roi_given", crop, crop.with_input("roi", _floats([]))
    else:
        yield "roi_given", crop, crop.with_input("roi", None)
    yield from _asked_in_no_elements(spec, X, by_scales, by_sizes)
    empty = plain_call(spec, Tensor(X.element_type, np.zeros((2, 0), np.float32)), sizes=[2, 0])
    yield "empty_axis_stays_empty", empty, empty.with_input("sizes", _integers([2, 3]))


def _asked_in_no_elements(spec: Spec, X: Tensor, by_scales: Call, by_sizes: Call) -> Iterator[Fault]:
    name = "asked_in_no_elements"
    scalar = Tensor(X.element_type, np.array(1.5, np.float32))
    yield name, by_scales, plain_call(spec, scalar, scales=[])
    if spec.operator.since_version == 11:
        return
    yield name, by_scales, plain_call(spec, tensor(np.array(b"a", np.object_), "string"), scales=[])
    yield name, by_sizes, plain_call(spec, scalar, sizes=[])
    if spec.operator.since_version >= 18:
        for policy in ("not_larger", "not_smaller"):
            yield name, by_sizes, plain_call(spec, scalar, sizes=[], keep_aspect_ratio_policy=policy)
        nothing = Tensor(X.element_type, np.zeros((0, 3), np.float32))
        yield name, by_scales, plain_call(spec, X, scales=[], axes=[])
        yield name, by_scales, plain_call(spec, nothing, scales=[], axes=[])


def _faults_of_axes(spec: Spec, X: Tensor) -> Iterator[Fault]:
    listed = plain_call(spec, X, scales=[2.0, 0.5], axes=[1, 2])
    for policy in ("not_larger", "not_smaller"):
        beside = attribute("string", policy)
        yield "policy_beside_scales", listed, listed.with_attribute("keep_aspect_ratio_policy", beside)
    for axes in ([1, 3], [1, -4]):
        yield "axes_in_range", listed, listed.with_attribute("axes", attribute("ints", axes))
    for axes in ([1, 1], [1, -2]):
        yield "axes_unique", listed, listed.with_attribute("axes", attribute("ints", axes))
    yield "scales_length", listed, listed.with_input("scales", _floats([1.0, 2.0, 0.5]))
    by_sizes = plain_call(spec, X, sizes=[6, 2], axes=[1, 2])
    yield "sizes_length", by_sizes, by_sizes.with_input("sizes", _integers([2, 6, 2]))
    yield (
        "policy_value",
        by_sizes,
        by_sizes.with_attribute("keep_aspect_ratio_policy", attribute("string", "keep")),
    )


def _floats(values: list[float]) -> Tensor:
    return tensor(np.array(values, np.float32), "float")


def _integers(values: list[int]) -> Tensor:
    return tensor(np.array(values, np.int64), "int64")
