"""GridSample, AffineGrid, RoiAlign and DeformConv against loops over fractions; programs and faults."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from opcert.vocabulary.element_types import ELEMENT_TYPES
from reference.numbers.number_arrays import Numbers
from reference.numbers.working import Working
from reference.shared.interpolation.sampling import Samples, means
from tests.reference.honest_programs import KINDS, Asked
from tests.reference.sampling_by_loops import EXACT, Way, affine_grid, deform_conv, grid_sample, roi_align

Array = NDArray[Any]
F32 = np.float32
WAYS: Mapping[str, Way] = {
    "products of weights in float": Way(F32, by_products=True),
    "steps along axes in float": Way(F32, by_steps=True, multiplied=True),
    "weights along axes in float": Way(F32),
    "in double": Way(np.float64, by_products=True, multiplied=True),
    "elements brought to borders": Way(F32, by_products=True, brings_elements=True),
    "elements brought to borders, axis after axis": Way(F32, multiplied=True, brings_elements=True),
}


@dataclass(frozen=True)
class Tried:
    """A call of an operator, and what the loops make of it."""

    name: str
    inputs: Mapping[str, Array]
    attributes: Mapping[str, Any]
    loops: Callable[[Way], Array]

    def asked(self) -> Asked:
        return Asked.of(self.name, "float", list(self.inputs.items()), self.attributes)

    def computed(self, way: Way) -> Array:
        found = self.loops(way)
        return np.array([float(each) for each in found.reshape(-1)], dtype=F32).reshape(found.shape)


def elements(draw: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return np.asarray(draw.normal(0, 3, shape), dtype=F32)


def sampled_grid(seed: int) -> Tried:
    draw = np.random.default_rng([1, seed])
    rank = (2, 2, 3, 1)[seed % 4]
    mode, padding, aligned = list(
        product(("linear", "nearest", "cubic"), ("zeros", "border", "reflection"), (0, 1))
    )[seed % 18]
    extents = tuple(int(integer) for integer in draw.integers(2, 6, rank))
    X = elements(draw, (1, 1, *extents))
    shape = (1, *(int(integer) for integer in draw.integers(2, 4, rank)), rank)
    grid = np.asarray(draw.uniform(-1.6, 1.6, shape), dtype=F32)
    if seed % 3 == 0:
        grid = np.asarray(np.rint(grid * 8) / 8, dtype=F32)
    attributes = {"mode": mode, "padding_mode": padding, "align_corners": aligned}
    return Tried(
        "GridSample",
        {"X": X, "grid": grid},
        attributes,
        lambda way: grid_sample(way, X, grid, mode, padding, aligned),
    )


def moved_places(seed: int) -> Tried:
    draw = np.random.default_rng([2, seed])
    rank, aligned = 2 + seed % 2, seed // 2 % 2
    theta = elements(draw, (2, rank, rank + 1))
    size = [2, 3, *(int(integer) for integer in draw.integers(1, 6, rank))]
    return Tried(
        "AffineGrid",
        {"theta": theta, "size": np.array(size, dtype=np.int64)},
        {"align_corners": aligned},
        lambda way: affine_grid(way, theta, size, aligned),
    )


def pooled_regions(seed: int) -> Tried:
    draw = np.random.default_rng([3, seed])
    X = elements(draw, (2, 1, *(int(integer) for integer in draw.integers(4, 8, 2))))
    first = draw.uniform(0.6, 2.2, (2, 2))
    corners = np.concatenate([first, first + draw.uniform(0.4, 2.6, (2, 2))], axis=1)
    corners = np.rint(corners * 8) / 8 if seed % 3 == 0 else corners
    attributes: dict[str, Any] = {
        "mode": ("avg", "max")[seed // 2 % 2],
        "coordinate_transformation_mode": ("half_pixel", "output_half_pixel")[seed % 2],
        "output_height": 1 + seed % 3,
        "output_width": 1 + seed % 2,
        "sampling_ratio": seed % 4,
        "spatial_scale": (1.0, 0.5, 1.25)[seed % 3],
    }
    rois = np.asarray(corners / attributes["spatial_scale"], dtype=F32)
    images = [int(integer) for integer in draw.integers(0, 2, 2)]
    inputs = {"X": X, "rois": rois, "batch_indices": np.array(images, dtype=np.int64)}
    return Tried("RoiAlign", inputs, attributes, lambda way: roi_align(way, X, rois, images, attributes))


def convolved(seed: int) -> Tried:
    draw = np.random.default_rng([4, seed])
    group, parts = ((1, 1), (2, 1), (1, 2), (2, 2))[seed % 4]
    rank = 2 if seed % 5 else 1
    kernel = tuple(int(integer) for integer in draw.integers(1, 4, rank))
    strides, dilations = ([int(integer) for integer in draw.integers(1, 3, rank)] for _ in range(2))
    pads = [int(integer) for integer in draw.integers(1, 3, 2 * rank)]
    extents = tuple((length - 1) * step + 2 for length, step in zip(kernel, dilations, strict=True))
    lengths = tuple((pads[axis] + pads[axis + rank] + 1) // strides[axis] + 1 for axis in range(rank))
    steps = int(np.prod(kernel))
    X, W = elements(draw, (1, 4, *extents)), elements(draw, (2, 4 // group, *kernel))
    offset = np.asarray(draw.uniform(-1.5, 1.5, (1, parts * steps * rank, *lengths)), dtype=F32)
    inputs = {"X": X, "W": W, "offset": offset, "B": elements(draw, (2,))}
    if rank == 2:
        inputs["mask"] = elements(draw, (1, parts * steps, *lengths))
    given = {"group": group, "offset_group": parts, "strides": strides, "dilations": dilations, "pads": pads}
    mask = inputs.get("mask")
    return Tried(
        "DeformConv", inputs, given, lambda way: deform_conv(way, X, W, offset, inputs["B"], mask, given)
    )


MAKERS = {
    "GridSample": sampled_grid,
    "AffineGrid": moved_places,
    "RoiAlign": pooled_regions,
    "DeformConv": convolved,
}
SEEDS = {"GridSample": 54, "AffineGrid": 16, "RoiAlign": 36, "DeformConv": 10}
CALLS = [(name, seed) for name, count in SEEDS.items() for seed in range(count)]
MORE = [(name, seed) for name, count in SEEDS.items() for seed in range(count, 8 * count)]


@cache
def tried(name: str, seed: int) -> tuple[Tried, Asked]:
    found = MAKERS[name](seed)
    return found, found.asked()


def check(name: str, seed: int) -> None:
    call, asked = tried(name, seed)
    exact = call.computed(EXACT)
    first = asked.accepted[0][0].expected.array
    assert any(np.array_equal(each[0].expected.array, exact) for each in asked.accepted), (
        f"{first} for {exact}: {call.attributes}"
    )
    for word, way in WAYS.items():
        assert not asked.wrong(call.computed(way)).any(), word


@pytest.mark.parametrize(("name", "seed"), CALLS)
def test_expectations_are_those_of_loops_over_fractions_and_honest_programs_are_inside(
    name: str, seed: int
) -> None:
    check(name, seed)


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize(("name", "seed"), MORE)
def test_more_of_them(name: str, seed: int) -> None:
    check(name, seed)


NARROW = [(kind, seed) for kind in ("float16", "bfloat16") for seed in range(24)]


@pytest.mark.parametrize(
    ("kind", "seed"),
    [pytest.param(*each, marks=() if each[1] < 4 else pytest.mark.slow) for each in NARROW],
)
def test_regions_pooled_in_steps_of_narrow_types_are_inside(kind: str, seed: int) -> None:
    given, narrow = pooled_regions(seed), KINDS[kind]
    X, rois = (given.inputs[each].astype(narrow) for each in ("X", "rois"))
    inputs = {**given.inputs, "X": X, "rois": rois}
    asked = Asked.of("RoiAlign", kind, list(inputs.items()), given.attributes)
    images = [int(each) for each in given.inputs["batch_indices"]]
    for way in WAYS.values():
        for number in (narrow, F32):
            found = roi_align(replace(way, number=number), X, rois, images, given.attributes)
            got = np.array([float(each) for each in found.reshape(-1)]).astype(narrow)
            assert not asked.wrong(got.reshape(found.shape)).any()
    once = roi_align(replace(EXACT, faults=("one sample less",)), X, rois, images, given.attributes)
    right = roi_align(EXACT, X, rois, images, given.attributes)
    if max(abs(a - b) for a, b in zip(once.flat, right.flat, strict=True)) > 1:
        assert asked.wrong(once.astype(np.float64).astype(narrow)).any()


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_an_element_at_a_corner_may_be_weighed_as_often_as_a_mean_has_elements(rank: int, mode: str) -> None:
    draw = np.random.default_rng([5, rank])
    X = np.asarray(draw.uniform(1, 2, (1, 1, *[3] * rank)), dtype=F32)
    beyond = [*draw.uniform(1.4, 9, (46, rank)), *draw.uniform(1e3, 1e10, (2, rank))]
    grid = np.asarray(beyond, dtype=F32).reshape((1, *[1] * (rank - 1), 48, rank))
    inputs = {"X": X, "grid": grid}
    asked = Asked.of("GridSample", "float", list(inputs.items()), {"mode": mode, "padding_mode": "border"})
    ways = (WAYS["elements brought to borders"], WAYS["elements brought to borders, axis after axis"])
    found = [grid_sample(way, X, grid, mode, "border", 0).astype(F32) for way in ways]
    corner = X.reshape(-1)[-1]
    assert any((got != corner).any() for got in found), "nothing is rounded"
    assert not any(asked.wrong(got).any() for got in found)
    assert asked.wrong(np.full(found[0].shape, corner * F32(1 + 2.0**-14), F32)).all()


def test_an_error_beyond_all_numbers_without_weight_leaves_a_mean_open_and_nothing_is_warned_of() -> None:
    working, sure = Working(ELEMENT_TYPES["float"]), np.zeros(1, np.bool_)
    data = replace(Numbers.exact([1, 2], working), error=np.array([np.inf, 0.0]))
    places, inside, weights = np.array([[0, 1]]), np.ones((1, 2), np.bool_), Numbers.exact([[0, 1]], working)
    with np.errstate(invalid="raise"):
        found = means(data, Samples(places, inside, weights, sure, sure, is_linear=False), 2)
    assert found.value.floats().tolist() == [2.0]
    assert found.lost.all()


@pytest.mark.parametrize(
    ("kind", "given", "accepted"),
    [
        ("int32", 16777217, {16777217, 16777216}),
        ("int32", 16777216, {16777216}),
        ("int32", -16777219, {-16777219, -16777220}),
        ("uint64", 2**64 - 2**39 - 1, {2**64 - 2**39 - 1, 2**64 - 2**40}),
        ("int16", 32767, {32767}),
    ],
)
def test_nearest_integers_pass_through_numbers_that_hold_them_or_through_float32(
    kind: str, given: int, accepted: set[int]
) -> None:
    X, grid = np.full((1, 1, 1, 1), given, kind), np.zeros((1, 1, 1, 2), F32)
    asked = Asked.of("GridSample", "float", [("X", X), ("grid", grid)], {"mode": "nearest"})
    assert {int(each[0].expected.array.item()) for each in asked.accepted} == accepted


FAULTS = {
    "GridSample": (
        "align_corners ignored",
        "half a pixel off",
        "x and y exchanged",
        "cubic -0.5",
        "ties upwards",
        "reflected at the middles",
        "reflected at the outer ends",
    ),
    "AffineGrid": ("align_corners ignored", "half a pixel off", "x and y exchanged", "translation forgotten"),
    "RoiAlign": (
        "half a pixel off",
        "x and y exchanged",
        "one sample less",
        "samples at the beginnings",
        "mean for max",
    ),
    "DeformConv": (
        "offsets exchanged",
        "offsets rounded",
        "mask forgotten",
        "bias forgotten",
        "first offset group alone",
        "dilations forgotten",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "fault"), [(name, each) for name in FAULTS for each in FAULTS[name]])
def test_a_planted_fault_is_outside_wherever_it_changes_a_number_that_counts(name: str, fault: str) -> None:
    changed = noticed = 0
    for seed in range(SEEDS[name]):
        call, asked = tried(name, seed)
        if fault == "ties upwards" and call.attributes["mode"] != "nearest":
            continue
        right, got = call.computed(EXACT), call.computed(Way(faults=(fault,)))
        apart = np.abs(right - got) > 1e-4
        if apart.any():
            changed += 1
            noticed += bool(asked.wrong(got).any())
    assert changed, "the fault changes nothing"
    assert noticed >= 0.9 * changed, f"{noticed} of {changed}"


def test_beside_the_border_a_sample_is_interpolated_or_zero_and_nothing_else() -> None:
    """The same everywhere in a call: 0.42 beside 1.26 either way would take -0.84."""
    X, W = np.array([[[[2, 3]]]], F32), np.array([[[[1, 4]]]], F32)
    # The first element of the kernel lies three quarters of a step before X, the second on its last element.
    offset = np.array([0, -0.75, 0, 0], F32).reshape((1, 4, 1, 1))
    asked = Asked.of("DeformConv", "float", [("X", X), ("W", W), ("offset", offset)])
    for honest in (2 * 0.25 + 12, 12.0):
        assert not asked.wrong(np.full((1, 1, 1, 1), honest, F32)).any(), honest
    for fault in (12.25, 11.75, 0.0, -12.5, 12.6, np.nan):
        assert asked.wrong(np.full((1, 1, 1, 1), fault, F32)).all(), fault
