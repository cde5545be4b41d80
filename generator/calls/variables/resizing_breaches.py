"""Values of a resize that break one rule: of scales and sizes, of the axes that they are for, of regions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import KindSubject
from generator.calls.variables.resizing_edges import COORDINATES, POLICY
from specs.model.structures import type_variable

Breaches = Iterator[tuple[str, Bindings]]
Nothing = Callable[[str], Any]
NAN, INFINITY = float("nan"), float("inf")


def breaches_of(subject: KindSubject, pack: str, scope: Partial, nothing: Nothing) -> Breaches:
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


def _of_scales(scales: list[float]) -> Breaches:
    for values in (scales[:-1], [*scales, 1.0]):
        yield "scales_length", {"scales": values}
    for wrong in (0.0, -2.0, NAN):
        yield "scales_positive", {"scales": [wrong, *scales[1:]]}
    for wrong in (0.5, 0.0, NAN):
        yield "scales_range", {"scales": [wrong, *scales[1:]]}
    yield "scales_finite", {"scales": [INFINITY, *scales[1:]]}


def _of_sizes(sizes: list[int]) -> Breaches:
    for values in (sizes[:-1], [*sizes, 1]):
        yield "sizes_length", {"sizes": values}
    yield "sizes_not_negative", {"sizes": [-6, *sizes[1:]]}


def _of_empty_axes(pack: str, tensor: str, shape: list[int], given: Mapping[str, Any]) -> Breaches:
    axes = given.get("axes") or list(range(len(shape)))
    emptied = [0 if axis == axes[-1] % len(shape) else length for axis, length in enumerate(shape)]
    empty = {pack: emptied, f"shape:{tensor}": tuple(emptied)}
    yield "empty_axis_stays_empty", {**empty, "sizes": [*given["sizes"][:-1], 3]}
    zeros = {"sizes": [0] * len(axes), POLICY: "not_larger"}
    yield "aspect_ratio_of_elements", {**empty, **zeros}


def _of_both(given: Mapping[str, Any], shape: list[int], nothing: Nothing) -> Breaches:
    yield "scales_or_sizes", {"scales": nothing("scales"), "sizes": None}
    count = len(given.get("axes") or shape)
    if given["scales"]:
        yield "not_scales_and_sizes", {"sizes": [2] * count}
    else:
        yield "not_scales_and_sizes", {"scales": [2.0] * count}


def _of_no_elements(subject: KindSubject, pack: str, nothing: Nothing) -> Breaches:
    """Scales or sizes in no number: of a tensor without axes, or for a list of no axes."""
    tensor = subject.spec.inputs[0].name
    plain: dict[str, Any] = {name: None for name in (COORDINATES, POLICY, "axes") if subject.has(name)}
    plain |= {"roi": nothing("roi"), "scales": nothing("scales"), "sizes": None}
    scalar = {**plain, pack: [], f"shape:{tensor}": ()}
    yield "asked_in_no_elements", {**scalar, "scales": []}
    yield "asked_in_no_elements", {**scalar, "sizes": []}
    if subject.has("axes"):
        yield "asked_in_no_elements", {**plain, "scales": [], "axes": []}


def _of_averages(subject: KindSubject) -> Breaches:
    """Means of what has none."""
    level = f"level:type_{type_variable(subject.spec, subject.spec.inputs[0])}"
    for kind, mode in (("bool", "linear"), ("string", "linear"), ("bool", "cubic"), ("string", "cubic")):
        yield "numbers_to_average", {level: kind, "mode": mode}


def _of_axes(given: Mapping[str, Any], rank: int) -> Breaches:
    """Axes in a number that scales and sizes have as well, so that nothing else is wrong."""
    count = len(given["axes"] or range(rank))
    for wrong in (rank, -rank - 1):
        if count:
            yield "axes_in_range", {"axes": [*range(count - 1), wrong]}
    for last in (0, -rank):
        if count > 1:
            yield "axes_unique", {"axes": [*range(count - 1), last]}


def _of_regions(subject: KindSubject, given: Mapping[str, Any], nothing: Nothing) -> Breaches:
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
