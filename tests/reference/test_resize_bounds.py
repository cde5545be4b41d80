"""The allowed error from both sides: every listed route stays inside it, planted faults do not."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from numpy.typing import NDArray

from reference.answers import Answer, OutsideDomain, UnstableLength
from tests.reference.measured_calls import ELEMENT_TYPES_MEASURED, MODES, random_calls, shares
from tests.reference.resize_by_loops import AxisNumbers, Call, axis_numbers, nearest, resize
from tests.reference.resize_calls import ask, calls, single
from tests.reference.resize_routes import F32, F64, ROUTES, HonestRoute, axis_taps, compute, coordinate

pytestmark = pytest.mark.slow

EXAMPLES = int(os.environ.get("OPCERT_EXAMPLES", "100"))
WEIGHTED = ("linear", "cubic")
PAGE = Path(__file__).parents[2] / "docs" / "why-believe.md"


def ratios(answer: Answer, got: NDArray[Any]) -> NDArray[np.float64]:
    """How much of the allowed error each element takes; 0 where it is an alternative."""
    assert answer.allowed is not None
    expected = answer.expected.array.astype(np.float64)
    apart = np.abs(got.astype(np.float64) - expected)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(apart == 0, 0.0, apart / answer.allowed)
    for index, others in (answer.alternatives or {}).items():
        if any(other == got.reshape(-1)[index] for other in others):
            share.reshape(-1)[index] = 0.0
    return share


@pytest.mark.nightly
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
@given(calls(WEIGHTED))
def test_every_route_stays_inside(call: Call) -> None:
    try:
        answers = {F32: ask(call), F64: ask(call, "double")}
    except (OutsideDomain, UnstableLength):
        assume(False)
    for route in ROUTES:
        for kind in (F32, F64):
            answer = answers[kind]
            got = compute(call, route, kind)
            assert got.shape == answer.expected.shape
            worst = float(ratios(answer, got).max(initial=0.0))
            assert worst <= 1, f"{route.name} in {kind.__name__}: {worst} of what is allowed"


@pytest.mark.nightly
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(calls(("nearest",)))
def test_every_route_takes_an_accepted_pixel(call: Call) -> None:
    try:
        answer = ask(call)
    except (OutsideDomain, UnstableLength):
        assume(False)
    expected, others = answer.expected.array, answer.alternatives or {}
    for how in ("division", "reciprocal", "fused", "step", "double"):
        got = move_by(call, how)
        assert got.shape == expected.shape
        for index, (each, wanted) in enumerate(zip(got.flat, expected.flat, strict=True)):
            assert each == wanted or each in others.get(index, ()), (how, index)


def move_by(call: Call, how: str) -> NDArray[Any]:
    """Nearest by coordinates of one kind, the same in every axis."""
    axes = axis_numbers(call)
    result = np.array([float(each) for each in call.data], F32).reshape(call.shape)
    outside = np.zeros([axes[d].new if d in axes else old for d, old in enumerate(call.shape)], bool)
    for d, n in axes.items():
        where = [coordinate(call, n, x, how) for x in range(n.new)]
        pixels = [min(max(nearest(call, Fraction(number)), 0), n.old - 1) for number in where]
        result = np.take(result, np.array(pixels, dtype=np.intp), axis=d)
        if call.coordinates == "tf_crop_and_resize":
            mask = np.array([not 0 <= number <= n.old - 1 for number in where], dtype=bool)
            outside |= mask.reshape([-1 if each == d else 1 for each in range(len(call.shape))])
    return np.where(outside, F32(float(call.extrapolation_value)), result)


def ordinary_calls() -> Iterator[Call]:
    """Calls as a suite has them: two axes, distinct data, every mode and coordinate mode."""
    rng = random.Random(20)
    for mode in WEIGHTED:
        for coordinates in ("half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize"):
            for sizes in ((7, 9), (3, 4), (11, 3)):
                shape = (5, 6)
                data = tuple(single(rng.uniform(-10, 10)) for _ in range(30))
                yield Call(
                    shape=shape,
                    data=data,
                    sizes=sizes,
                    roi=tuple(map(single, (0.1, 0.2, 0.9, 0.8))),
                    mode=mode,
                    coordinates=coordinates,
                    extrapolation_value=Fraction(3),
                )


Fault = tuple[str, Callable[[Call], bool], Callable[[Call], NDArray[Any]]]


def exactly(call: Call) -> NDArray[Any]:
    """The call's exact result, rounded to float32."""
    shape, exact = resize(call)
    return np.array([float(each) for each in exact], F64).astype(F32).reshape(shape)


def with_weights(change: Callable[[list[int], list[Any]], tuple[list[int], list[Any]]]) -> Any:
    """Taps of the direct route with something done to them."""

    def taps(call: Call, n: AxisNumbers, x: int, route: HonestRoute) -> Any:
        found = axis_taps(call, n, x, route)
        return None if found is None else change(*found)

    return lambda call: compute(call, ROUTES[0], F32, taps)


def shifted(call: Call) -> NDArray[Any]:
    return np.roll(exactly(call), 1, axis=1)


def always(call: Call) -> bool:
    return True


def swapped_roi(call: Call) -> Call:
    assert call.roi is not None
    return replace(call, roi=(call.roi[1], call.roi[0], *call.roi[2:]))


FAULTS: tuple[Fault, ...] = (
    ("half_pixel as asymmetric", lambda c: c.coordinates == "half_pixel",
     lambda c: exactly(replace(c, coordinates="asymmetric"))),
    ("asymmetric as half_pixel", lambda c: c.coordinates == "asymmetric",
     lambda c: exactly(replace(c, coordinates="half_pixel"))),
    ("align_corners as half_pixel", lambda c: c.coordinates == "align_corners",
     lambda c: exactly(replace(c, coordinates="half_pixel"))),
    ("wrong cubic_coeff_a", lambda c: c.mode == "cubic",
     lambda c: exactly(replace(c, cubic_coeff_a=Fraction(-1, 2)))),
    ("cubic_coeff_a off by 1e-3", lambda c: c.mode == "cubic",
     lambda c: exactly(replace(c, cubic_coeff_a=Fraction(-751, 1000)))),
    ("cubic as linear", lambda c: c.mode == "cubic", lambda c: exactly(replace(c, mode="linear"))),
    ("antialias where none is asked", lambda c: c.sizes is not None and c.sizes[0] < 5,
     lambda c: exactly(replace(c, antialias=True))),
    ("outside excluded", lambda c: c.mode == "cubic" and c.coordinates != "align_corners",
     lambda c: exactly(replace(c, exclude_outside=True))),
    ("regions of the axes swapped", lambda c: c.coordinates == "tf_crop_and_resize",
     lambda c: exactly(swapped_roi(c))),
    ("one element shifted", always, shifted),
    ("weights in float16", always, with_weights(lambda i, w: (i, [F32(np.float16(each)) for each in w]))),
    ("weights in 11-bit fixed point", always,
     with_weights(lambda i, w: (i, [F32(round(float(each) * 2048) / 2048) for each in w]))),
    ("weights in 15-bit fixed point", always,
     with_weights(lambda i, w: (i, [F32(round(float(each) * 32768) / 32768) for each in w]))),
    ("weights that sum to 1 + 1e-4", always,
     with_weights(lambda i, w: (i, [each * F32(1.0001) for each in w]))),
    ("last tap left out", always, with_weights(lambda i, w: (i[:-1], w[:-1]))),
    ("output in bfloat16", always,
     lambda c: (exactly(c).view(np.uint32) & np.uint32(0xFFFF0000)).view(F32)),
    ("output in float16", always, lambda c: exactly(c).astype(np.float16).astype(F32)),
)  # fmt: skip


KEPT = ("half_pixel as asymmetric", "cubic as linear", "one element shifted", "output in float16")
"""A fault of coordinates, of the formula, of places and of precision; the others show the same again."""


@pytest.mark.parametrize(
    ("name", "concerns", "faulty"),
    [
        pytest.param(*fault, id=fault[0], marks=[] if fault[0] in KEPT else [pytest.mark.nightly])
        for fault in FAULTS
    ],
)
def test_planted_faults_fall_outside(
    name: str, concerns: Callable[[Call], bool], faulty: Callable[[Call], NDArray[Any]]
) -> None:
    concerned = [call for call in ordinary_calls() if concerns(call)]
    assert len(concerned) >= 3
    for call in concerned:
        assert fault_ratio(call, faulty) > 1


def fault_ratio(call: Call, faulty: Callable[[Call], NDArray[Any]]) -> float:
    answer = ask(call)
    share = ratios(answer, faulty(call))
    return float(share[np.isfinite(share)].max(initial=0.0)) if np.isfinite(share).any() else float("inf")


@pytest.mark.parametrize("element_type", ELEMENT_TYPES_MEASURED)
@pytest.mark.parametrize(("mode", "antialias"), MODES)
def test_margins_are_as_the_page_states_them(mode: str, antialias: bool, element_type: str) -> None:
    name = f"{mode}, antialias" if antialias else mode
    (line,) = [
        each for each in PAGE.read_text().splitlines() if each.startswith(f"| {name} | {element_type} |")
    ]
    stated = float(line.split("|")[3])
    assert stated <= 1
    for call, answer in islice(random_calls(mode, antialias, element_type), max(EXAMPLES // 20, 1)):
        for route, share in shares(call, answer):
            assert share <= stated + 0.005, f"{route}: {share:.3f} of what is allowed"
