"""Resize at the edges of its input space."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from generator.calls import Call
from generator.data import fill
from generator.draws import Draw
from generator.kinds.one_sign import of_one_sign
from generator.levels._resize_calls import plain_call
from opcert.vocabulary.tensors import Tensor, tensor
from specs.model import Spec

Edge = tuple[str, Call]
ABOVE_ONE = float(np.nextafter(np.float32(1), np.float32(2)))
BELOW_ONE = float(np.nextafter(np.float32(1), np.float32(0)))


def edges(spec: Spec, draw: Draw) -> Iterator[Edge]:
    """A word and a call each; every version takes the ones that its inputs and attributes allow."""
    version = spec.operator.since_version
    parts: list[Callable[[Spec, Draw], Iterator[Edge]]] = [_shapes, _values, _scales]
    if version >= 11:
        parts += [_coordinates, _outer_pixels, _sizes, _regions, _weights]
    if version >= 18:
        parts += [_antialias, _thin_taps, _axes_and_policies]
    for part in parts:
        yield from part(spec, draw.child(part.__name__))


def _modes(spec: Spec) -> tuple[str, ...]:
    return ("nearest", "linear") if spec.operator.since_version == 10 else ("nearest", "linear", "cubic")


def _ramp(draw: Draw, *shape: int, kind: str = "float", data: str = "distinct") -> Tensor:
    return fill(kind, shape, data, draw.child(f"{kind} {data} {shape}"))


def _shapes(spec: Spec, draw: Draw) -> Iterator[Edge]:
    for mode in _modes(spec):
        yield f"length_one_{mode}", plain_call(spec, _ramp(draw, 1), scales=[4.0], mode=mode)
        yield (
            f"length_zero_{mode}",
            plain_call(spec, _ramp(draw, 0, 3), scales=[2.0, 2.0], mode=mode),
        )
        yield (
            f"length_two_{mode}",
            plain_call(spec, _ramp(draw, 2, 1), scales=[1.5, 1.0], mode=mode),
        )
    yield "output_length_zero", plain_call(spec, _ramp(draw, 3, 2), scales=[0.25, 1.0])
    if spec.operator.since_version == 10:  # later, no scales may mean that none are given
        yield "rank_zero", plain_call(spec, _ramp(draw), scales=[])
        yield "rank_zero_string", plain_call(spec, _ramp(draw, kind="string"), scales=[])
    for mode in _modes(spec):
        word = "rank_six" if mode == "nearest" else f"rank_six_{mode}"
        X = _ramp(draw, 1, 2, 1, 3, 1, 2)
        yield word, plain_call(spec, X, scales=[1.0, 1.0, 1.0, 1.0, 2.0, 2.0], mode=mode)


def _values(spec: Spec, draw: Draw) -> Iterator[Edge]:
    floats = ["float", "double", "float16"] + (["bfloat16"] if spec.operator.since_version >= 13 else [])
    for kind in floats:
        for data in ("nonfinite", "signed_zero", "subnormal", "huge"):
            yield (
                f"{kind}_{data}",
                plain_call(spec, _ramp(draw, 3, 4, kind=kind, data=data), scales=[1.0, 2.0]),
            )
    for data in ("nonfinite", "signed_zero", "subnormal", "huge", "large_offset"):
        X = _ramp(draw, 2, 4, data=data)
        yield f"linear_{data}", plain_call(spec, X, scales=[1.0, 2.0], mode="linear")
        yield f"linear_identity_{data}", plain_call(spec, X, scales=[1.0, 1.0], mode="linear")
        if "cubic" in _modes(spec):
            yield f"cubic_{data}", plain_call(spec, X, scales=[1.0, 2.0], mode="cubic")
    for kind in floats:
        X = of_one_sign(_ramp(draw, 2, 4, kind=kind, data="huge"))
        yield f"linear_{kind}_huge_of_one_sign", plain_call(spec, X, scales=[1.0, 2.0], mode="linear")
    if "cubic" in _modes(spec):
        # The greatest weights are above 1: what was finite is not any more.
        steep = tensor(np.array([64160, 0, 0], np.float16))
        yield "cubic_overflow_float16", plain_call(spec, steep, scales=[1.5], mode="cubic")
    for kind in ("int8", "uint8", "int32", "int64", "uint64"):
        for mode in _modes(spec):
            X = _ramp(draw, 2, 5, kind=kind, data="extremes")
            yield f"{kind}_extremes_{mode}", plain_call(spec, X, scales=[1.0, 2.0], mode=mode)
    yield (
        "empty_strings",
        plain_call(spec, _ramp(draw, 3, 3, kind="string", data="random"), scales=[2.0, 1.0]),
    )


def _scales(spec: Spec, draw: Draw) -> Iterator[Edge]:
    for mode in _modes(spec):
        yield f"identity_{mode}", plain_call(spec, _ramp(draw, 2, 3, 4), scales=[1.0] * 3, mode=mode)
        yield f"far_up_{mode}", plain_call(spec, _ramp(draw, 2), scales=[33.0], mode=mode)
        yield f"far_down_{mode}", plain_call(spec, _ramp(draw, 64), scales=[0.03125], mode=mode)
        yield f"just_above_one_{mode}", plain_call(spec, _ramp(draw, 4), scales=[ABOVE_ONE], mode=mode)
        yield f"just_below_one_{mode}", plain_call(spec, _ramp(draw, 4), scales=[BELOW_ONE], mode=mode)


def _coordinates(spec: Spec, draw: Draw) -> Iterator[Edge]:
    values = spec.attributes["coordinate_transformation_mode"].values
    for transform in values.values if values else ():
        if transform == "tf_crop_and_resize":
            continue
        name = str(transform)
        for mode in _modes(spec):
            yield (
                f"to_length_one_{name}_{mode}",
                plain_call(
                    spec, _ramp(draw, 2, 5), sizes=[2, 1], mode=mode, coordinate_transformation_mode=name
                ),
            )
        for rounding in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
            yield (
                f"ties_{name}_{rounding}",
                plain_call(
                    spec,
                    _ramp(draw, 8),
                    scales=[0.5],
                    nearest_mode=rounding,
                    coordinate_transformation_mode=name,
                ),
            )


def _outer_pixels(spec: Spec, draw: Draw) -> Iterator[Edge]:
    """Coordinates of half_pixel that nearest rounds to a pixel before the first or behind the last."""
    for rounding in ("floor", "ceil"):
        X = _ramp(draw, 3, 4)
        yield f"outer_pixels_{rounding}", plain_call(spec, X, scales=[2.0, 3.0], nearest_mode=rounding)


def _sizes(spec: Spec, draw: Draw) -> Iterator[Edge]:
    for mode in _modes(spec):
        yield f"sizes_same_{mode}", plain_call(spec, _ramp(draw, 3, 4), sizes=[3, 4], mode=mode)
        yield f"sizes_coprime_{mode}", plain_call(spec, _ramp(draw, 7), sizes=[11], mode=mode)
    yield "sizes_of_no_elements", plain_call(spec, _ramp(draw, 2, 0), sizes=[4, 0])


def _regions(spec: Spec, draw: Draw) -> Iterator[Edge]:
    regions = {
        "whole": [0.0, 0.0, 1.0, 1.0],
        "point": [0.0, 0.5, 1.0, 0.5],
        "edge": [0.0, 1.0, 1.0, 1.25],
        "far": [0.0, -100.0, 1.0, 100.0],
    }
    for name, roi in regions.items():
        for mode in _modes(spec):
            yield (
                f"roi_{name}_{mode}",
                plain_call(
                    spec,
                    _ramp(draw, 2, 5),
                    roi=roi,
                    sizes=[2, 4],
                    mode=mode,
                    coordinate_transformation_mode="tf_crop_and_resize",
                    extrapolation_value=-7.5,
                ),
            )
    for mode in _modes(spec)[1:]:
        # Where no weight is left to renormalize, the position is extrapolated.
        yield (
            f"roi_far_exclude_outside_{mode}",
            plain_call(
                spec,
                _ramp(draw, 2, 5),
                roi=[0.0, -2.0, 1.0, 3.0],
                sizes=[2, 9],
                mode=mode,
                coordinate_transformation_mode="tf_crop_and_resize",
                exclude_outside=1,
                extrapolation_value=-7.5,
            ),
        )
    yield (
        "roi_to_length_one",
        plain_call(
            spec,
            _ramp(draw, 2, 5),
            roi=[0.0, 0.25, 1.0, 1.0],
            sizes=[2, 1],
            mode="linear",
            coordinate_transformation_mode="tf_crop_and_resize",
        ),
    )


def _weights(spec: Spec, draw: Draw) -> Iterator[Edge]:
    for length in (1, 2, 3):
        X = _ramp(draw, length)
        yield (
            f"exclude_outside_{length}",
            plain_call(spec, X, scales=[4.0], mode="cubic", exclude_outside=1),
        )
    for name, value in (("zero", 0.0), ("minus_one", -1.0), ("positive", 0.25)):
        yield (
            f"cubic_coefficient_{name}",
            plain_call(spec, _ramp(draw, 5), scales=[2.0], mode="cubic", cubic_coeff_a=value),
        )


def _antialias(spec: Spec, draw: Draw) -> Iterator[Edge]:
    for mode in ("linear", "cubic"):
        for name, length, size in (("far_down", 40, 3), ("to_one", 6, 1), ("up", 3, 7), ("same", 5, 5)):
            X = _ramp(draw, length)
            yield f"antialias_{name}_{mode}", plain_call(spec, X, sizes=[size], mode=mode, antialias=1)
        # Cubic sums of these ends leave the range, where no document says what becomes of them.
        ends = "extremes" if mode == "linear" else "random"
        for kind, data in (("uint8", "extremes"), ("int8", "random"), ("int32", ends)):
            X = _ramp(draw, 2, 12, kind=kind, data=data)
            yield f"antialias_{kind}_{mode}", plain_call(spec, X, sizes=[2, 5], mode=mode, antialias=1)


THIN, THINNER = 0.9998, 0.99999
"""Filters stretched so little that their last taps weigh from 3 in 10,000, or in 200,000, on."""


def _thin_taps(spec: Spec, draw: Draw) -> Iterator[Edge]:
    for mode, exclude in (("linear", 0), ("linear", 1), ("cubic", 0), ("cubic", 1)):
        word = f"{mode}_excluding" if exclude else mode
        for kind, data in (("float", "distinct"), ("double", "distinct"), ("int32", "random")):
            X = _ramp(draw, 9, kind=kind, data=data)
            yield (
                f"antialias_thin_{kind}_{word}",
                plain_call(spec, X, scales=[THIN], mode=mode, antialias=1, exclude_outside=exclude),
            )
        X = _ramp(draw, 7)
        yield (
            f"antialias_thinner_{word}",
            plain_call(spec, X, scales=[THINNER], mode=mode, antialias=1, exclude_outside=exclude),
        )
    for mode in ("linear", "cubic"):
        for name in ("asymmetric", "align_corners", "pytorch_half_pixel"):
            yield (
                f"antialias_thin_{name}_{mode}",
                plain_call(
                    spec,
                    _ramp(draw, 3, 6),
                    scales=[0.75, THIN],
                    mode=mode,
                    antialias=1,
                    coordinate_transformation_mode=name,
                ),
            )


def _axes_and_policies(spec: Spec, draw: Draw) -> Iterator[Edge]:
    X = _ramp(draw, 4, 3)
    for policy in ("not_larger", "not_smaller"):
        # One half of 3 is 1.5: halfway cases go up.
        yield f"{policy}_halfway", plain_call(spec, X, sizes=[2, 3], keep_aspect_ratio_policy=policy)
        yield f"{policy}_same", plain_call(spec, X, sizes=[4, 3], keep_aspect_ratio_policy=policy)
        yield (
            f"{policy}_axes",
            plain_call(
                spec, _ramp(draw, 2, 3, 4), sizes=[8, 3], axes=[2, 1], keep_aspect_ratio_policy=policy
            ),
        )
    nonfinite = _ramp(draw, 4, 3, data="nonfinite")
    for mode in ("linear", "cubic"):
        # The elements along the other axis are none of this one's business.
        yield f"one_axis_nonfinite_{mode}", plain_call(spec, nonfinite, sizes=[3], axes=[0], mode=mode)
    yield "empty_axis_listed", plain_call(spec, _ramp(draw, 0, 3), scales=[2.0, 2.0], axes=[0, 1])
    yield "one_axis", plain_call(spec, _ramp(draw, 2, 3, 4), scales=[2.0], axes=[-2], mode="linear")
