"""Plans of a resize that are kept are those that are made anew, and ask the same questions."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import product

import pytest

from reference.readings.choices import Choice
from reference.shared.interpolation.asked_axes import Readings, _plan_axes, plan_axes
from reference.shared.interpolation.resize_requests import Request, read_method

OPTIONS = {
    "scale": ("given", "recomputed"),
    "length_resized": ("integer", "fractional"),
    "align_corners_of_one": ("start", "center"),
    "roi_in_length": ("crop_and_resize", "always", "never"),
    "unit_axis": ("formula", "unchanged"),
}


def told(options: tuple[str, ...], asked: set[str]) -> Readings:
    named = zip(OPTIONS, options, strict=True)
    return Readings(**{name: Choice(option, partial(asked.add, name)) for name, option in named})


@pytest.mark.parametrize(
    "mode", ["asymmetric", "align_corners", "tf_crop_and_resize", "tf_half_pixel_for_nn", "half_pixel"]
)
def test_kept_plans_are_those_made_anew(mode: str) -> None:
    roi = ((Fraction(1, 8), Fraction(3, 4)), (Fraction(0), Fraction(1)))
    scales = (Fraction(13, 5), Fraction(1))
    requests = [
        Request((5, 1), (0, 1), mode, scales, None, roi, "stretch"),
        Request((5, 1), (0, 1), mode, None, (7, 1), None, "stretch"),
    ]
    several = set()
    methods = [read_method("nearest", "floor"), read_method("nearest", "ceil_downsampling")]
    for request, method, options in product(requests, methods, product(*OPTIONS.values())):
        anew, kept, again = set[str](), set[str](), set[str]()
        expected = _plan_axes(request, told(options, anew), method.by_scale)
        assert plan_axes(request, told(options, kept), method) == expected
        assert plan_axes(request, told(options, again), method) == expected
        assert anew == kept == again
        several.add(expected)
    assert len(several) > 1
