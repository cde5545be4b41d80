"""Resize in every element type: what is moved bit for bit, converted, overflows, or is not finite."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import Answer, OutsideDomain, UnstableLength
from reference.numbers.numbers import encode, numbers
from reference.registry import find_operator

SIXTEEN = (
    "bfloat16", "bool", "complex128", "complex64", "double", "float", "float16", "int16", "int32", "int64",
    "int8", "string", "uint16", "uint32", "uint64", "uint8",
)  # fmt: skip


def resize(
    X: Tensor,
    scales: list[float] | None = None,
    sizes: list[int] | None = None,
    roi: list[float] | None = None,
    readings: Mapping[str, str] | None = None,
    version: int = 18,
    **attributes: Any,
) -> Answer:
    operator = find_operator(OperatorName("ai.onnx", "Resize", version))
    inputs = {
        "X": X,
        "scales": None if scales is None else tensor(scales, "float"),
        "sizes": None if sizes is None else tensor(sizes, "int64"),
        "roi": None if roi is None else tensor(roi, "float"),
    }
    (answer,) = operator.evaluate(attributes, {k: v for k, v in inputs.items() if v}, readings or {})
    return answer


def floats(*values: float, name: str = "float") -> Tensor:
    element_type = ELEMENT_TYPES[name]
    return Tensor(element_type, encode(element_type, values))


def plain(answer: Answer) -> list[float]:
    return [float(number) for number in numbers(answer.expected.element_type, answer.expected.array)]


@pytest.mark.parametrize("name", SIXTEEN)
def test_nearest_moves_every_bit(name: str) -> None:
    element_type = ELEMENT_TYPES[name]
    if name == "string":
        X = tensor(np.array(["", "zwei", b"\xff\x00"], dtype=object), "string")
    elif name == "bool":
        X = tensor([True, False, True], "bool")
    else:
        size = np.dtype(element_type.storage).itemsize
        raw = bytes(range(1, 3 * size)) + b"\xff"
        X = Tensor(element_type, np.frombuffer(raw, element_type.storage).copy())
    answer = resize(X, scales=[2.0])
    assert answer.allowed is None
    assert answer.alternatives is None
    assert answer.expected == Tensor(element_type, np.repeat(X.array, 2))


def test_nearest_keeps_nan_payloads_and_minus_zero() -> None:
    bits = np.array([0x7FC12345, 0x80000000, 0xFFA00001], np.uint32)
    answer = resize(Tensor(ELEMENT_TYPES["float"], bits.view(np.float32)), sizes=[6])
    np.testing.assert_array_equal(answer.expected.array.view(np.uint32), np.repeat(bits, 2))


def test_a_tie_that_no_route_computes_exactly_has_both_pixels() -> None:
    x = floats(*range(15))
    strict = resize(x, scales=[0.5], nearest_mode="floor", coordinate_transformation_mode="asymmetric")
    assert strict.alternatives is None
    # Every other coordinate is a whole number that some route misses by a unit in the last place.
    hanging = [
        resize(floats(*range(length)), sizes=[other], nearest_mode="ceil",
               coordinate_transformation_mode="asymmetric").alternatives
        for length, other in ((49, 7), (98, 14), (41, 82), (55, 22), (22, 55))
    ]  # fmt: skip
    assert any(hanging)
    for each in hanging:
        assert all(len(values) == 1 for values in (each or {}).values())


CONVERSIONS = {
    # Of 1, 1.75, 2.5, 3.25, and of the same below zero.
    "truncate": ([1, 1, 2, 3], [-1, -1, -2, -3]),
    "floor": ([1, 1, 2, 3], [-1, -2, -3, -4]),
    "half_even": ([1, 2, 2, 3], [-1, -2, -2, -3]),
    "half_away": ([1, 2, 3, 3], [-1, -2, -3, -3]),
    "half_up": ([1, 2, 3, 3], [-1, -2, -2, -3]),
}


@pytest.mark.parametrize("conversion", CONVERSIONS)
def test_integers_are_converted_by_the_rule_that_is_asked_for(conversion: str) -> None:
    readings = {"integer_conversion": conversion}
    wanted, negated = CONVERSIONS[conversion]
    attributes: dict[str, Any] = {"mode": "linear", "coordinate_transformation_mode": "asymmetric"}
    for sign, values in ((1, wanted), (-1, negated)):
        answer = resize(tensor([sign, sign * 4], "int8"), sizes=[8], readings=readings, **attributes)
        assert answer.expected.array[:4].tolist() == values
        assert answer.allowed is not None
        assert not answer.allowed.any()


def test_a_conversion_that_hangs_on_rounding_lists_both_integers() -> None:
    answer = resize(tensor([0, 30], "uint8"), sizes=[31], mode="linear",
                    coordinate_transformation_mode="align_corners")  # fmt: skip
    # Every exact result is an integer, and float32 may come to lie just below it.
    assert answer.expected.array.tolist() == list(range(31))
    assert answer.alternatives is not None
    assert all(values in ((index - 1,), (index + 1,)) for index, values in answer.alternatives.items())


def test_overshoot_saturates_or_wraps() -> None:
    x = tensor([0, 0, 255, 255], "uint8")
    saturated = resize(x, scales=[2.0], mode="cubic", readings={"integer_overflow": "saturate"})
    wrapped = resize(x, scales=[2.0], mode="cubic", readings={"integer_overflow": "wrap"})
    apart = saturated.expected.array != wrapped.expected.array
    assert apart.any()
    assert set(saturated.expected.array[apart].tolist()) <= {0, 255}


def test_wide_integers_are_allowed_what_float32_loses() -> None:
    answer = resize(tensor([2**60, 2**60 + 2**40], "int64"), sizes=[7], mode="linear")
    assert answer.allowed is not None
    assert 2.0**37 < answer.allowed.max() < 2.0**45


def test_copies_of_wide_integers_lose_what_float32_does_not_hold() -> None:
    answer = resize(tensor([2**31 - 1, 5, -(2**31)], "int32"), scales=[1.0], mode="linear")
    assert answer.expected.array.tolist() == [2**31 - 1, 5, -(2**31)]
    assert answer.allowed is not None
    # The greatest one becomes 2**31 in float32, which is out of range.
    assert answer.allowed[0] > 0 or answer.alternatives
    assert answer.allowed[1] == answer.allowed[2] == 0


def test_complex_parts_are_resized_apart() -> None:
    x = tensor([1 + 4j, 2 - 4j], "complex64")
    answer = resize(x, scales=[2.0], mode="linear")
    assert answer.expected.array.tolist() == [1 + 4j, 1.25 + 2j, 1.75 - 2j, 2 - 4j]
    moved = resize(x, sizes=[2], roi=[0.5, 2.0], mode="linear", extrapolation_value=7.0,
                   coordinate_transformation_mode="tf_crop_and_resize")  # fmt: skip
    assert moved.expected.array.tolist() == [1.5 + 0j, 7 + 0j]


def test_a_doubtful_complex_part_leaves_the_other_as_it_is() -> None:
    x = tensor([complex(1, 1), complex(math.inf, 2), complex(3, 3)], "complex64")
    answer = resize(x, sizes=[3], mode="linear")
    assert answer.allowed is not None
    assert np.isfinite(answer.allowed).all()
    assert answer.alternatives is not None
    # In the middle `a + t (b - a)` takes the infinity from itself.
    assert sorted(answer.alternatives) == [0, 1, 2]
    for index, imaginary in ((0, 1.0), (1, 2.0), (2, 3.0)):
        assert all(math.isnan(alternative.real) for alternative in answer.alternatives[index])
        assert all(alternative.imag == imaginary for alternative in answer.alternatives[index])


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_narrow_floats_are_rounded_once_and_allowed_half_a_unit(name: str) -> None:
    answer = resize(floats(1, 2, name=name), sizes=[7], mode="linear")
    assert answer.allowed is not None
    for got, allowed in zip(plain(answer), answer.allowed.tolist(), strict=True):
        ulp = 2.0 ** (math.floor(math.log2(got)) - (10 if name == "float16" else 7))
        assert allowed < 1.01 * ulp


def test_nan_and_infinity_pass_where_their_weight_is_not_zero() -> None:
    x = floats(1, math.inf, 3, math.nan, 5, 6)
    answer = resize(x, sizes=[12], mode="linear")
    got = plain(answer)
    assert got[1:5] == [math.inf] * 4
    assert all(math.isnan(number) for number in got[5:9])
    assert got[0] == 1
    # A route that brings -0.25 inside multiplies the infinity with 0; at the end nothing strange is near.
    assert answer.alternatives is not None
    assert [math.isnan(alternative) for alternative in answer.alternatives[0]] == [True]
    assert not {9, 10, 11} & set(answer.alternatives)


def test_zero_times_infinity_is_left_open() -> None:
    answer = resize(floats(1, math.inf, 3), sizes=[3], mode="linear")
    assert plain(answer) == [1, math.inf, 3]
    assert answer.alternatives is not None
    assert any(math.isnan(alternative) for alternative in answer.alternatives[0])
    assert any(math.isnan(alternative) for alternative in answer.alternatives[2])
    assert math.inf not in answer.alternatives[0]


def test_infinities_of_both_signs_make_nan() -> None:
    answer = resize(floats(math.inf, -math.inf), sizes=[4], mode="linear")
    got = plain(answer)
    assert got[0] == math.inf
    assert got[3] == -math.inf
    assert math.isnan(got[1])
    assert math.isnan(got[2])


def test_overflow_of_partial_sums_may_be_infinite_or_nan() -> None:
    largest = float(np.finfo(np.float32).max)
    answer = resize(floats(largest, largest, -largest, -largest), sizes=[8], mode="cubic")
    assert answer.alternatives is not None
    assert any(any(math.isnan(value) for value in values) for values in answer.alternatives.values())


def test_subnormals_are_kept_or_flushed() -> None:
    tiny = float(np.float32(1e-40))
    kept = resize(floats(tiny, 3 * tiny), scales=[2.0], mode="linear")
    flushed = resize(floats(tiny, 3 * tiny), scales=[2.0], mode="linear", readings={"subnormals": "flushed"})
    assert 0 not in plain(kept)
    assert plain(flushed) == [0.0] * 4
    x = floats(1.25, 3)
    same = resize(x, sizes=[5], mode="linear", readings={"subnormals": "flushed"})
    np.testing.assert_array_equal(same.allowed, resize(x, sizes=[5], mode="linear").allowed)


def test_empty_outputs_and_inputs() -> None:
    assert resize(floats(1, 2, 3), scales=[0.25]).expected.shape == (0,)
    empty = Tensor(ELEMENT_TYPES["float"], np.zeros((0, 2), np.float32))
    assert resize(empty, sizes=[0, 5], mode="linear").expected.shape == (0, 5)


def test_rank_zero() -> None:
    scalar = tensor(np.array(1.5, np.float32))
    assert resize(scalar, scales=[]).expected == scalar
    assert resize(scalar, sizes=[], mode="cubic").expected == scalar


def test_lengths_that_hang_on_rounding_are_refused() -> None:
    with pytest.raises(UnstableLength, match=r"7 or 6|6 or 7"):
        resize(floats(*range(10)), scales=[0.7])
    assert resize(floats(*range(10)), scales=[0.75]).expected.shape == (7,)


def test_version_11_asks_for_sizes_by_an_empty_scales() -> None:
    answer = resize(floats(1, 2), scales=[], sizes=[4], roi=[], version=11)
    assert plain(answer) == [1, 1, 2, 2]
    with pytest.raises(OutsideDomain, match="needs its input scales"):
        resize(floats(1, 2), sizes=[4], roi=[], version=11)


def test_version_11_alone_moves_unit_axes_under_tf_half_pixel_for_nn() -> None:
    call: dict[str, Any] = {"mode": "linear", "coordinate_transformation_mode": "tf_half_pixel_for_nn"}
    moved = resize(floats(1, 2, 3), scales=[1.0], roi=[], version=11, **call)
    left = resize(
        floats(1, 2, 3), scales=[1.0], roi=[], version=11, readings={"unit_axis": "unchanged"}, **call
    )
    assert plain(moved) == [1.5, 2.5, 3]
    assert plain(left) == [1, 2, 3]


def test_an_axis_that_stays_may_make_nan_of_a_weight_of_zero_all_the_same() -> None:
    """A cubic sum at a position takes its neighbours with 0: of one beside NaN a program may make NaN."""
    answer = resize(
        floats(3, 1, 0, 2, math.nan),
        scales=[1.0],
        roi=[],
        version=11,
        readings={"unit_axis": "unchanged"},
        mode="cubic",
        coordinate_transformation_mode="tf_half_pixel_for_nn",
    )
    assert plain(answer)[:4] == [3, 1, 0, 2]
    assert sorted(answer.alternatives or {}) == [2, 3]


def test_version_10_leaves_coordinates_and_rounding_to_readings() -> None:
    def pick(**readings: str) -> list[float]:
        return plain(resize(floats(0, 1, 2, 3), scales=[0.75], readings=readings, version=10))

    assert pick() == [0, 1, 2]
    assert pick(nearest_rounding="ceil_downsampling") == pick(nearest_rounding="ceil") == [0, 2, 3]
    assert pick(coordinates="half_pixel", nearest_rounding="round_prefer_floor") == [0, 1, 3]
    assert pick(coordinates="align_corners", nearest_rounding="round_prefer_floor") == [0, 1, 3]


def test_region_of_interest_enters_the_length_where_its_reading_says() -> None:
    x = floats(*range(8))
    call: dict[str, Any] = {"scales": [2.0], "roi": [0.25, 0.75]}
    assert resize(x, **call).expected.shape == (16,)
    assert resize(x, readings={"roi_in_length": "always"}, **call).expected.shape == (8,)
    cropping = {**call, "coordinate_transformation_mode": "tf_crop_and_resize", "mode": "linear"}
    assert resize(x, **cropping).expected.shape == (8,)
    never = resize(x, readings={"roi_in_length": "never"}, **cropping)
    assert never.expected.shape == (16,)
    # The region still says where the elements lie: from 0.25 * 7 to 0.75 * 7.
    assert plain(never)[0] == 1.75
    assert plain(never)[-1] == 5.25
    whole = resize(x, readings={"roi_in_length": "never"}, **call)
    assert whole.expected == resize(x, **call).expected


def test_policies_and_their_readings() -> None:
    x = Tensor(ELEMENT_TYPES["float"], np.zeros((1, 1, 2, 4), np.float32))
    call: dict[str, Any] = {"sizes": [7, 8], "axes": (2, 3)}
    assert resize(x, keep_aspect_ratio_policy="not_larger", **call).expected.shape == (1, 1, 4, 8)
    assert resize(x, keep_aspect_ratio_policy="not_smaller", **call).expected.shape == (1, 1, 7, 14)
    by_position = {"aspect_index": "position"}
    got = resize(x, keep_aspect_ratio_policy="not_larger", readings=by_position, **call)
    assert got.expected.shape == (1, 1, 2, 2)


def test_what_a_policy_rounds_is_a_length_by_its_reading() -> None:
    """Sizes [3, 3] of [5, 7] by 3/7: 15/7 rows, which are 2."""
    x = floats(*range(35)).array.reshape(5, 7)
    call: dict[str, Any] = {"sizes": [3, 3], "keep_aspect_ratio_policy": "not_larger", "mode": "linear"}
    image = Tensor(ELEMENT_TYPES["float"], x)

    def rows(**asked: Any) -> list[float]:
        return [float(each) for each in resize(image, **call, **asked).expected.array[:, 0]]

    align = {"coordinate_transformation_mode": "align_corners"}
    assert rows(**align) == [0, 28]
    # The second row lies at 4 / (15/7 - 1) = 3.5, in steps of 7 elements.
    assert rows(readings={"policy_length": "fractional"}, **align) == [0, 24.5]
    symmetric = {"coordinate_transformation_mode": "half_pixel_symmetric", "version": 19}
    assert [row // 7 for row in rows(**symmetric)] == [0, 3]
    narrower = rows(readings={"symmetric_width": "fractional"}, **symmetric)
    # Less is resized than the axis has: 5/2 * (1 - 2/(15/7)) = 1/6 of an element is left out on either side.
    assert [round(number - other, 5) for number, other in zip(narrower, rows(**symmetric), strict=True)] == [
        round(7 / 6, 5)
    ] * 2


def test_a_fractional_length_that_float32_takes_for_one_is_refused() -> None:
    x, scales, mode = floats(1, 2, 3), [1 / 3], "align_corners"
    assert float(np.float32(1 / 3)) * 3 > 1
    assert plain(resize(x, scales=scales, coordinate_transformation_mode=mode)) == [1]
    fractional = {"length_resized": "fractional"}
    with pytest.raises(UnstableLength, match="single element hangs on rounding"):
        resize(x, scales=scales, coordinate_transformation_mode=mode, readings=fractional)
