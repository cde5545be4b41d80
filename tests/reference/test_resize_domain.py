"""The constraints of Resize's spec are its domain: the reference has an answer to whatever breaks none."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import UnstableLength
from reference.registry import find_operator
from specs.files.library import load_spec
from specs.model.domain import check_constraints

_spec = cache(load_spec)
Attributes = dict[str, Any]
Inputs = dict[str, Tensor | None]

FAULTS = (
    *[""] * 12,
    *("mode", "coordinates", "nearest_mode", "number", "scale", "size", "bound", "policy", "axes"),
    *("count", "form", "given"),
)
"""What is wrong with a call, mostly nothing."""
SCALES = st.sampled_from([0.5, 1.0, 2.0, 1.5, 0.75, 0.25])
SIZES = st.integers(0, 5)
BOUNDS = st.sampled_from([0.0, 0.125, 0.25, 0.5, 0.75, 1.0, 1.25, -0.25])
MODES = ("nearest", "nearest", "linear", "cubic")
COORDINATES = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize")
NOT_FINITE = (np.nan, np.inf, -np.inf)


@st.composite
def resize_calls(draw: st.DrawFn, version: int) -> tuple[Attributes, Inputs]:
    """Small calls of a version, about half of which have one thing wrong with them."""
    fault = draw(st.sampled_from(FAULTS))
    shape = draw(
        st.lists(
            st.sampled_from([1, 2, 3, 3, 4, 4, 0]), min_size=draw(st.sampled_from([0, 1, 1])), max_size=3
        )
    )
    attributes: Attributes = {"mode": "area" if fault == "mode" else draw(st.sampled_from(MODES))}
    if version == 10 and attributes["mode"] == "cubic":
        attributes["mode"] = "linear"
    count = len(shape)
    crop = False
    if version > 10:
        attributes |= draw(_attributes(version, fault, nearest=attributes["mode"] == "nearest"))
        crop = attributes["coordinate_transformation_mode"] == "tf_crop_and_resize"
    if version >= 18 and draw(st.booleans()):
        axes = draw(st.permutations(range(count)))[: draw(st.integers(1, 3))]
        if fault == "axes":
            axes = [*axes, draw(st.integers(-count - 1, count))]
        attributes["axes"] = tuple(axes)
        count = len(axes)
    types = ["float", "float", "int32", "float", "bool", "string"]
    inputs: Inputs = {"X": _elements(shape, draw(st.sampled_from(types)))}
    by_scales = version == 10 or draw(st.booleans())
    both, neither = fault == "given" and draw(st.booleans()), fault == "given" and version > 10
    if (by_scales and not neither) or both:
        wrong = draw(st.sampled_from([0.0, -1.0, *NOT_FINITE])) if fault == "scale" else None
        inputs["scales"] = _listed(draw, SCALES, count, wrong, fault)
    if version > 10:
        if (not by_scales and not neither) or both:
            wrong = draw(st.sampled_from([-1, -(2**40)])) if fault == "size" else None
            inputs["sizes"] = _listed(draw, SIZES, count, wrong, fault, np.int64)
        if crop or draw(st.booleans()):
            wrong = draw(st.sampled_from(NOT_FINITE)) if fault == "bound" else None
            inputs["roi"] = _listed(draw, BOUNDS, 2 * count, wrong, fault)
    if version == 11 and fault != "form":
        inputs |= {name: inputs.get(name) or tensor(np.zeros(0, np.float32)) for name in ("scales", "roi")}
    return attributes, inputs


@st.composite
def _attributes(draw: st.DrawFn, version: int, fault: str, *, nearest: bool) -> Attributes:
    coordinates = draw(st.sampled_from(COORDINATES))
    if fault == "coordinates":
        coordinates = draw(st.sampled_from(["tf_half_pixel_for_nn", "half_pixel_symmetric", "other"]))
    rounding = draw(st.sampled_from(["floor", "ceil", "round_prefer_ceil"]))
    found: Attributes = {
        "coordinate_transformation_mode": coordinates,
        "nearest_mode": "round" if fault == "nearest_mode" else rounding,
        "exclude_outside": 0 if nearest else draw(st.sampled_from([0, 0, 1])),
        "cubic_coeff_a": draw(st.sampled_from([-0.75, -0.5])),
        "extrapolation_value": draw(st.sampled_from([0.0, 7.5])),
    }
    if fault == "number":
        name = draw(st.sampled_from(["cubic_coeff_a", "extrapolation_value"]))
        found[name] = draw(st.sampled_from(NOT_FINITE))
    if version >= 18:
        found["antialias"] = draw(st.sampled_from([0, 0, 1]))
        policies = ["keep"] if fault == "policy" else ["stretch", "stretch", "not_larger", "not_smaller"]
        found["keep_aspect_ratio_policy"] = draw(st.sampled_from(policies))
    return found


def _elements(shape: list[int], element_type: str) -> Tensor:
    if element_type == "string":
        return tensor(np.full(shape, b"a", object), element_type)
    return tensor(np.ones(shape), element_type)


def _listed(
    draw: st.DrawFn,
    items: st.SearchStrategy[Any],
    count: int,
    wrong: float | None,
    fault: str,
    storage: Any = np.float32,
) -> Tensor:
    """A list of that many items; the first is the wrong one, where there is one."""
    if fault == "count":
        count = max(0, count + draw(st.sampled_from([1, -1])))
    found = np.array(draw(st.lists(items, min_size=count, max_size=count)), storage)
    if wrong is not None and count:
        found[0] = wrong
    return tensor(found.reshape(1, -1) if fault == "form" and count else found)


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("version", [10, 11, 13, 18, 19])
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(draw=st.data())
def test_what_breaks_no_constraint_has_an_answer(version: int, draw: st.DataObject) -> None:
    operator = OperatorName("ai.onnx", "Resize", version)
    attributes, inputs = draw.draw(resize_calls(version))
    broken = [constraint.id for constraint in check_constraints(_spec(operator), attributes, inputs)]
    if broken:
        return
    with suppress(UnstableLength):
        find_operator(operator).evaluate(attributes, inputs)


def violations(version: int, X: Tensor, **given: Any) -> list[str]:
    """The rules that a call breaks, its inputs given as lists."""
    storage = {"scales": np.float32, "sizes": np.int64, "roi": np.float32}
    inputs: Inputs = {"X": X}
    attributes: Attributes = {}
    for name, value in given.items():
        if name in storage:
            inputs[name] = tensor(np.array(value, storage[name]))
        else:
            attributes[name] = value
    spec = _spec(OperatorName("ai.onnx", "Resize", version))
    return [constraint.id for constraint in check_constraints(spec, attributes, inputs)]


@pytest.mark.parametrize(
    ("call", "rule"),
    [
        ({"scales": [2.0], "sizes": [2]}, "not_scales_and_sizes"),
        ({}, "scales_or_sizes"),
        ({"scales": [2.0, 2.0]}, "scales_length"),
        ({"scales": [[2.0]]}, "lists_of_one_axis"),
        ({"scales": [0.0]}, "scales_positive"),
        ({"scales": [np.nan]}, "scales_positive"),
        ({"scales": [np.inf]}, "scales_finite"),
        ({"sizes": [-1]}, "sizes_not_negative"),
        ({"scales": [2.0], "mode": "area"}, "mode_value"),
        ({"scales": [2.0], "nearest_mode": "round"}, "nearest_mode_value"),
        ({"scales": [2.0], "axes": (1,)}, "axes_in_range"),
        ({"scales": [2.0, 2.0], "axes": (0, -1)}, "axes_unique"),
        ({"scales": [2.0], "coordinate_transformation_mode": "tf_crop_and_resize"}, "roi_given"),
        (
            {"scales": [2.0], "coordinate_transformation_mode": "tf_half_pixel_for_nn"},
            "coordinate_transformation_mode_value",
        ),
        ({"sizes": [2], "keep_aspect_ratio_policy": "keep"}, "keep_aspect_ratio_policy_value"),
        ({"scales": [2.0], "cubic_coeff_a": np.nan}, "cubic_coeff_a_finite"),
        ({"scales": [2.0], "extrapolation_value": -np.inf}, "extrapolation_value_finite"),
    ],
)
def test_calls_outside_the_document(call: dict[str, Any], rule: str) -> None:
    assert violations(18, tensor(np.ones(3)), **call) == [rule]


@pytest.mark.parametrize("name", ["bool", "string"])
@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_weighted_sums_of_booleans_and_strings_are_undefined(name: str, mode: str) -> None:
    assert violations(18, _elements([2], name), scales=[2.0], mode=mode) == ["numbers_to_average"]


def test_an_empty_axis_has_no_elements_to_make_others_from() -> None:
    empty = tensor(np.zeros((0, 2)))
    assert violations(18, empty, sizes=[0, 5]) == []
    assert violations(18, empty, sizes=[1, 5]) == ["empty_axis_stays_empty"]
    policy = {"keep_aspect_ratio_policy": "not_larger"}
    assert violations(18, empty, sizes=[0, 5], **policy) == ["aspect_ratio_of_elements"]
    assert violations(18, empty, sizes=[5], axes=(1,), **policy) == []


def test_a_string_is_not_extrapolated() -> None:
    crop = {"coordinate_transformation_mode": "tf_crop_and_resize", "sizes": [2]}
    assert violations(18, _elements([3], "string"), roi=[0.0, 1.0], **crop) == []
    assert violations(18, _elements([3], "string"), roi=[0.0, 1.5], **crop) == ["region_of_strings"]
    assert violations(18, _elements([3], "bool"), roi=[0.0, 1.5], **crop) == []


def test_version_11_has_roi_and_scales_always() -> None:
    x = tensor(np.ones(2))
    assert violations(11, x, roi=[], scales=[], sizes=[4]) == []
    assert violations(11, x, roi=[], scales=[2.0], sizes=[4]) == ["not_scales_and_sizes"]
    assert violations(13, x, scales=[], sizes=[4]) == ["not_scales_and_sizes", "scales_length"]
