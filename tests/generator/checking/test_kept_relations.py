"""Smaller extents make of a call what the model's own make of it: equal parts, cuts, groups of several."""

from __future__ import annotations

from math import prod

import pytest

from conformance.checked_models.model_calls import ModelCall
from generator.calls.data.draws import Draw
from generator.models.check.model_extents import Shapes
from generator.models.check.node_calls import read_node
from generator.models.check.shape_choice import ChosenShapes, choose_shapes
from tests.generator.checking.made_calls import call, fed, fixed, weight

_LAST = 2**63 - 1


def chosen(model: ModelCall) -> ChosenShapes:
    return choose_shapes(read_node(model.first), Draw("here"))


def first_extents(found: ChosenShapes, axis: int) -> set[int]:
    """The extents of the first input along an axis, in all levels."""
    shapes: list[Shapes] = list(found.levels.values())
    return {shape[0][axis] for shape in shapes if shape[0] is not None}


@pytest.mark.parametrize("operator", ["Split-13", "Split-18"])
def test_equal_parts_of_a_split_stay_equal(operator: str) -> None:
    given = {"num_outputs": 4} if operator == "Split-18" else {}
    lengths = first_extents(chosen(call(operator, [fed(1, 512, 8)], outputs=4, axis=1, **given)), 1)
    assert lengths
    assert all(length and not length % 4 for length in lengths)


def test_a_last_part_that_is_shorter_stays_shorter_and_has_elements() -> None:
    lengths = first_extents(chosen(call("Split-18", [fed(1, 511, 8)], outputs=4, axis=1, num_outputs=4)), 1)
    assert all(length % 4 and length > 3 for length in lengths)
    # 9 elements make parts of 3, 3, 3 and none.
    assert 9 not in lengths


def test_what_the_model_leaves_open_may_be_of_any_length() -> None:
    lengths = first_extents(chosen(call("Split-18", [fed(1, "n", 8)], outputs=4, axis=1, num_outputs=4)), 1)
    assert any(length % 4 for length in lengths)


@pytest.mark.parametrize(("start", "end"), [(0, 20), (20, _LAST), (-20, _LAST)])
def test_a_slice_that_cuts_goes_on_cutting(start: int, end: int) -> None:
    bounds = [fixed([start]), fixed([end]), fixed([1]), fixed([1])]
    assert min(first_extents(chosen(call("Slice-13", [fed(1, 40, 3), *bounds])), 1)) > 20
    open_ones = first_extents(chosen(call("Slice-13", [fed(1, "s", 3), *bounds])), 1)
    assert min(open_ones) < 20


def test_a_slice_that_takes_all_goes_on_doing_so() -> None:
    bounds = [fixed([0]), fixed([20]), fixed([1]), fixed([1])]
    assert max(first_extents(chosen(call("Slice-13", [fed(1, 10, 3), *bounds])), 1)) <= 20


def test_what_only_large_cases_keep_is_told() -> None:
    bounds = [fixed([0, 0]), fixed([320, 320]), fixed([1, 2]), fixed([1, 1])]
    found = chosen(call("Slice-13", [fed(1, 640, 640, 3), *bounds]))
    assert "stand to what the node says" in found.given_up[0]
    assert max(first_extents(found, 1)) < 320


@pytest.mark.parametrize(
    ("model", "axis", "part"),
    [
        (call("GroupNormalization-21", [fed(1, 512, 9, 9), weight(512), weight(512)], num_groups=32), 1, 32),
        (call("Attention-23", [fed(1, 16, 512)] * 3, q_num_heads=8, kv_num_heads=8), 2, 8),
        (call("DepthToSpace-13", [fed(1, 256, 8, 8)], blocksize=2), 1, 4),
        (call("Conv-11", [fed(1, 64, 9, 9), weight(64, 4, 3, 3)], group=16), 1, 16),
    ],
)
def test_groups_heads_and_blocks_stay_whole(model: ModelCall, axis: int, part: int) -> None:
    lengths = first_extents(chosen(model), axis)
    assert all(not length % part for length in lengths)
    assert max(lengths) > part


def test_a_new_shape_goes_on_holding_what_it_held() -> None:
    found = chosen(call("Reshape-14", [fed(1, 196, 768), fixed([1, -1, 12, 64])]))
    held = [shapes[0] for shapes in found.levels.values()]
    assert all(each is not None and not prod(each) % (12 * 64) for each in held)
    (own,) = chosen(call("Reshape-14", [fed(1, 4, 6), fixed([1, 4, 2, 3])])).levels.values()
    assert own[0] == (1, 4, 6)


def test_channels_that_are_as_many_as_rows_are_taken_apart_where_only_large_cases_are_alike() -> None:
    image, weights = fed(1, 32, 32, 32), weight(32, 1, 3, 3)
    found = chosen(call("Conv-11", [image, weights], group=32, kernel_shape=[3, 3], pads=[1, 1, 1, 1]))
    assert found.apart
    assert found.given_up == (
        "Only large cases keep all extents alike that are one number in the model: these do not.",
    )
    for first, kernel, _ in found.levels.values():
        assert first is not None
        assert kernel is not None
        assert (first[1] % 32, kernel[0] % 32, *kernel[1:]) == (0, 0, 1, 3, 3)
    assert max(prod(first) for first, *_ in found.levels.values() if first is not None) < 10_000
