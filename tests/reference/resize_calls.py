"""Random calls of Resize for hypothesis, and the same call put to the reference."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import Answer, OutsideDomain
from reference.registry import find_operator
from specs.files.library import load_spec
from specs.model.domain import check_constraints
from tests.reference.resize_by_loops import Call

COORDINATES = (
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_crop_and_resize",
)
NEAREST_MODES = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
POLICIES = ("stretch", "not_larger", "not_smaller")


def single(value: float) -> Fraction:
    """The float32 nearest to a float, exactly."""
    return Fraction(float(np.float32(value)))


SCALES = st.one_of(
    st.sampled_from([0.5, 1.0, 2.0, 3.0, 0.25, 1.5, 0.6, 0.8, 4.0]), st.floats(0.25, 4.0, width=32)
).map(single)
BOUNDS = st.one_of(st.sampled_from([0.0, 1.0, 0.5, 0.25, 1.25, -0.25]), st.floats(-0.5, 1.5, width=32)).map(
    single
)
ELEMENTS = st.one_of(st.integers(-20, 20).map(float), st.floats(-100, 100, width=32)).map(single)


@st.composite
def calls(draw: st.DrawFn, modes: tuple[str, ...] = ("nearest", "linear", "cubic")) -> Call:
    """Calls of version 19, the widest one, of at most 3 axes."""
    rank = draw(st.integers(1, 3))
    shape = tuple(draw(st.lists(st.integers(1, 5), min_size=rank, max_size=rank)))
    data = tuple(draw(st.lists(ELEMENTS, min_size=int(np.prod(shape)), max_size=int(np.prod(shape)))))
    axes: tuple[int, ...] | None = None
    if draw(st.booleans()):
        order = draw(st.permutations(range(rank)))[: draw(st.integers(1, rank))]
        axes = tuple(axis - rank if draw(st.booleans()) else axis for axis in order)
    count = rank if axes is None else len(axes)
    coordinates = draw(st.sampled_from(COORDINATES))
    by_scales = draw(st.booleans())
    roi = tuple(draw(st.lists(BOUNDS, min_size=2 * count, max_size=2 * count)))
    if by_scales and draw(st.booleans()):
        # A whole region, so that lengths do not hang on rounding in most calls.
        roi = (Fraction(0),) * count + (Fraction(1),) * count
    mode = draw(st.sampled_from(modes))
    return Call(
        shape=shape,
        data=data,
        scales=tuple(draw(st.lists(SCALES, min_size=count, max_size=count))) if by_scales else None,
        sizes=None if by_scales else tuple(draw(st.lists(st.integers(0, 6), min_size=count, max_size=count))),
        roi=roi if coordinates == "tf_crop_and_resize" or draw(st.booleans()) else None,
        axes=axes,
        mode=mode,
        coordinates=coordinates,
        nearest_mode=draw(st.sampled_from(NEAREST_MODES)),
        cubic_coeff_a=single(draw(st.sampled_from([-0.75, -0.5, -0.3]))),
        exclude_outside=mode != "nearest" and draw(st.booleans()),
        antialias=draw(st.booleans()),
        extrapolation_value=single(draw(st.sampled_from([0.0, 10.0, 0.1]))),
        policy="stretch" if by_scales else draw(st.sampled_from(POLICIES)),
        given_scale=draw(st.booleans()),
        fractional_length=draw(st.booleans()),
        corners_of_one_at_center=draw(st.booleans()),
        common_policy_scale=draw(st.booleans()),
        fractional_policy_length=draw(st.booleans()),
        fractional_symmetric_width=draw(st.booleans()),
        **draw(
            st.sampled_from([{}, {"roi_always_in_length": True}, {"roi_never_in_length": True}]),
        ),
    )


def ask(call: Call, element_type: str = "float", version: int = 19) -> Answer:
    """The reference's answer to a call whose data is exact in the element type."""
    floats = np.array([float(each) for each in call.data]).reshape(call.shape)
    return answer_to(call, tensor(floats, element_type), version)


def answer_to(call: Call, X: Tensor, version: int = 19) -> Answer:
    """The reference's answer to a call with other data; OutsideDomain where the call breaks a rule."""
    operator = find_operator(OperatorName("ai.onnx", "Resize", version))
    attributes = _attributes(call)
    inputs = _inputs(call, X)
    if broken := check_constraints(load_spec(operator.operator), attributes, inputs):
        raise OutsideDomain("the call breaks a rule", got=broken[0].id)
    readings = {
        "scale": "given" if call.given_scale else "recomputed",
        "length_resized": "fractional" if call.fractional_length else "integer",
        "align_corners_of_one": "center" if call.corners_of_one_at_center else "start",
        "roi_in_length": _roi_in_length(call),
        "policy_scale": "common" if call.common_policy_scale else "recomputed",
        "policy_length": "fractional" if call.fractional_policy_length else "integer",
        "symmetric_width": "fractional" if call.fractional_symmetric_width else "whole",
        "aspect_index": "position" if call.aspect_by_position else "axis",
    }
    known = {name: option for name, option in readings.items() if name in operator.readings}
    (answer,) = operator.evaluate(attributes, inputs, known)
    return answer


def _attributes(call: Call) -> dict[str, Any]:
    found: dict[str, Any] = {
        "antialias": int(call.antialias),
        "coordinate_transformation_mode": call.coordinates,
        "cubic_coeff_a": float(call.cubic_coeff_a),
        "exclude_outside": int(call.exclude_outside),
        "extrapolation_value": float(call.extrapolation_value),
        "keep_aspect_ratio_policy": call.policy,
        "mode": call.mode,
        "nearest_mode": call.nearest_mode,
    }
    if call.axes is not None:
        found["axes"] = call.axes
    return found


def _inputs(call: Call, X: Tensor) -> dict[str, Tensor | None]:
    return {
        "X": X,
        "roi": None if call.roi is None else tensor([float(number) for number in call.roi], "float"),
        "scales": None if call.scales is None else tensor([float(scale) for scale in call.scales], "float"),
        "sizes": None if call.sizes is None else tensor(np.array(call.sizes, np.int64), "int64"),
    }


def _roi_in_length(call: Call) -> str:
    if call.roi_always_in_length:
        return "always"
    return "never" if call.roi_never_in_length else "crop_and_resize"


def scaled(call: Call, factor: float) -> Call:
    """The call with its data multiplied."""
    return replace(call, data=tuple(each * Fraction(factor) for each in call.data))
