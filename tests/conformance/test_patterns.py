"""Patterns: each planted one is named in every element type that can show it, random answers have none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from conformance.cases import ExpectedOutput
from conformance.comparison import compare_output
from conformance.patterns import find_pattern
from conformance.values import decode_floats
from opcert.element_types import ELEMENT_TYPES, ElementType
from opcert.tensors import Tensor

SHAPE = (3, 4, 5, 5)
Array = NDArray[Any]
Change = Callable[[Array], Array]
ALL = sorted(ELEMENT_TYPES)
FLOATS = ["float", "double", "float16", "bfloat16"]
INTEGERS = ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"]


def draw(element_type: ElementType, seed: int, shape: tuple[int, ...] = SHAPE) -> Array:
    """Elements in storage: finite numbers of ordinary size, as different as the type has them."""
    source = np.random.default_rng(seed)
    if element_type.kind == "string":
        made = np.empty(shape, dtype=np.object_)
        made.reshape(-1)[:] = [f"s{each}".encode() for each in source.integers(0, 500, made.size)]
        return made
    if element_type.kind == "bool":
        return np.asarray(source.random(shape) > 0.5)
    if element_type.is_integer:
        low, high = element_type.integer_range
        least, greatest = (low // 4, high // 4) if element_type.bits > 4 else (low, high)
        return np.asarray(source.integers(least, greatest, shape, endpoint=True)).astype(element_type.storage)
    if element_type.kind == "complex":
        parts = source.uniform(-9, 9, (2, *shape))
        return np.asarray(parts[0] + 1j * parts[1]).astype(element_type.storage)
    if element_type.bits == 8:
        found: Array = np.asarray(source.integers(1, 0x70, shape)).astype(np.uint8)
        return found
    return encode(element_type, source.uniform(-9, 9, shape))


def encode(element_type: ElementType, values: Array) -> Array:
    """Numbers in storage; bfloat16 by cutting off what it has no room for."""
    if element_type.name == "bfloat16":
        bits = np.asarray(values, dtype=np.float32).view(np.uint32) >> np.uint32(16)
        return np.asarray(bits).astype(np.uint16)
    return np.asarray(values).astype(element_type.storage)


def pattern_of(
    name: str,
    expected: Array,
    got: Array,
    allowed: Array | None = None,
    inputs: tuple[tuple[str, Tensor], ...] = (),
) -> str | None:
    element_type = ELEMENT_TYPES[name]
    wanted = ExpectedOutput("Y", Tensor(element_type, expected), allowed)
    answer = Tensor(element_type, got)
    compared = compare_output(wanted, answer)
    assert compared.difference in ("value", "shape"), "the planted fault changes nothing"
    return find_pattern(wanted, answer, compared.wrong, inputs)


MOVES: list[tuple[Change, str]] = [
    (lambda array: array.swapaxes(2, 3), "the expected output with its axes in the order [0, 1, 3, 2]"),
    (lambda array: array.swapaxes(0, 1), "the expected output with its axes in the order [1, 0, 2, 3]"),
    (lambda array: array.reshape(12, 25), "the expected elements in another shape"),
    (lambda array: np.flip(array, 3), "the expected output reversed along axis 3"),
    (lambda array: np.roll(array, 1, 2), "the expected output shifted by one towards the end of axis 2"),
    (lambda array: np.roll(array, -1, 1), "the expected output shifted by one towards the start of axis 1"),
    (
        lambda array: np.take(array, [0, 0, 1, 2, 3], 3),
        "the expected output shifted by one towards the end of axis 3",
    ),
]


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(("change", "phrase"), MOVES)
def test_elements_in_other_places_are_recognised(name: str, change: Change, phrase: str) -> None:
    expected = draw(ELEMENT_TYPES[name], 1)
    assert pattern_of(name, expected, np.ascontiguousarray(change(expected))) == phrase


@pytest.mark.parametrize("name", ALL)
def test_an_output_that_is_an_input_is_said_to_be(name: str) -> None:
    element_type = ELEMENT_TYPES[name]
    given, expected = draw(element_type, 1), draw(element_type, 2)
    inputs = (("A", Tensor(element_type, draw(element_type, 3))), ("B", Tensor(element_type, given)))
    assert pattern_of(name, expected, given, inputs=inputs) == "equals the input B"
    assert pattern_of(name, expected[:1], given, inputs=inputs) == "equals the input B"


@pytest.mark.parametrize("name", ALL)
def test_constant_outputs_are_recognised(name: str) -> None:
    element_type = ELEMENT_TYPES[name]
    expected = draw(element_type, 1)
    zero = np.zeros_like(expected)
    if element_type.kind == "string":
        zero[...] = b""
    said = "all elements are empty" if element_type.kind == "string" else "all elements are zero"
    assert pattern_of(name, expected, zero) == said
    other = np.broadcast_to(expected[:1, :1, :1, :1], SHAPE)
    if element_type.kind != "bool":
        assert pattern_of(name, expected, other) == "all elements are the same"


PLACES: list[tuple[Any, str]] = [
    (np.s_[:, :, 0, :], "wrong only at the start of axis 2"),
    (np.s_[..., -1], "wrong only at the end of axis 3"),
    (np.s_[..., [0, -1]], "wrong only at the ends of axis 3"),
    (np.s_[:, 1:], "wrong only after the first channel (axis 1)"),
    (np.s_[1:], "wrong only after the first batch (axis 0)"),
]


def spoil(element_type: ElementType, array: Array, where: Array) -> Array:
    """A copy in which every element of a mask is wrong in its own way."""
    spoiled = array.copy()
    if element_type.kind == "string":
        spoiled[where] = [each + b"!" for each in spoiled[where]]
    elif element_type.kind == "bool":
        spoiled[where] = ~spoiled[where]
    elif element_type.kind == "complex":
        spoiled[where] += np.random.default_rng(5).uniform(1, 9, int(where.sum()))
    elif element_type.bits == 4:
        low, high = element_type.integer_range
        moved = spoiled[where].astype(np.int64) + np.random.default_rng(5).integers(1, 15, int(where.sum()))
        spoiled[where] = ((moved - low) % (high - low + 1) + low).astype(element_type.storage)
    else:
        bits = spoiled.view(f"u{spoiled.itemsize}")
        steps = np.random.default_rng(5).integers(1, 12, int(where.sum()))
        bits[where] = bits[where] ^ steps.astype(bits.dtype)
    return spoiled


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(("place", "phrase"), PLACES)
def test_places_are_recognised(name: str, place: Any, phrase: str) -> None:
    element_type = ELEMENT_TYPES[name]
    expected = draw(element_type, 1)
    where = np.zeros(SHAPE, dtype=np.bool_)
    where[place] = True
    assert pattern_of(name, expected, spoil(element_type, expected, where)) == phrase


@pytest.mark.parametrize("name", ALL)
def test_a_border_on_several_axes_is_recognised(name: str) -> None:
    element_type = ELEMENT_TYPES[name]
    expected = draw(element_type, 1, (6, 7))
    where = np.ones((6, 7), dtype=np.bool_)
    where[1:-1, 1:-1] = False
    assert pattern_of(name, expected, spoil(element_type, expected, where)) == "wrong only at the border"


@pytest.mark.parametrize("name", INTEGERS)
def test_integer_arithmetic_is_recognised(name: str) -> None:
    element_type = ELEMENT_TYPES[name]
    one: Any = np.dtype(element_type.storage).type(1)
    expected = draw(element_type, 1) // 2 * 2
    assert pattern_of(name, expected, expected + 3 * one) == "every element is off by 3"
    assert pattern_of(name, expected, expected * (2 * one)) == "every element is scaled by 2"
    assert pattern_of(name, expected, expected // (2 * one)) == "every element is scaled by 1/2"
    if element_type.kind == "signed":
        assert pattern_of(name, expected, -expected) == "every element has the other sign"
        assert pattern_of(name, expected, expected - 3 * one) == "every element is off by -3"


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("bounded", [False, True])
def test_arithmetic_in_floats_is_recognised(name: str, bounded: bool) -> None:
    element_type = ELEMENT_TYPES[name]
    expected = draw(element_type, 1)
    values = decode_floats(element_type, expected)
    allowed = np.full(SHAPE, 1e-3) if bounded else None

    def named(got: Array) -> str | None:
        return pattern_of(name, expected, encode(element_type, got), allowed)

    assert str(named(values + 4)).startswith("every element is off by ")
    assert named(values * -1) == "every element has the other sign"
    assert named(values * 2) == "every element is scaled by 2"
    assert str(named(values * 0.7)).startswith("every element is scaled by 0.")


@pytest.mark.parametrize("name", FLOATS)
def test_a_shift_is_recognised_through_rounding_noise(name: str) -> None:
    element_type = ELEMENT_TYPES[name]
    expected = draw(element_type, 1)
    noise = np.random.default_rng(2).integers(0, 2, SHAPE).astype(f"u{expected.itemsize}")
    got = (np.roll(expected, 1, 3).view(noise.dtype) + noise).view(expected.dtype)
    allowed = np.full(SHAPE, 0.1)
    said = pattern_of(name, expected, got, allowed)
    assert said == "the expected output shifted by one towards the end of axis 3"
    assert pattern_of(name, expected, got) is None


@pytest.mark.parametrize(
    ("name", "narrow", "said"),
    [
        ("double", "float", "computed in or converted through float32"),
        ("double", "float16", "computed in or converted through float16"),
        ("double", "bfloat16", "computed in or converted through bfloat16"),
        ("float", "float16", "computed in or converted through float16"),
        ("float", "bfloat16", "computed in or converted through bfloat16"),
        ("complex128", "complex64", "computed in or converted through float32"),
        ("int64", "int32", "the expected output wrapped to int32"),
        ("int64", "int16", "the expected output wrapped to int16"),
        ("uint64", "uint32", "the expected output wrapped to uint32"),
        ("int32", "int16", "the expected output wrapped to int16"),
        ("int64", "double", "computed in or converted through float64"),
        ("int64", "float", "computed in or converted through float32"),
        ("int32", "float", "computed in or converted through float32"),
    ],
)
def test_narrower_types_are_recognised(name: str, narrow: str, said: str) -> None:
    wide, through = ELEMENT_TYPES[name], ELEMENT_TYPES[narrow]
    expected = draw(wide, 1)
    if narrow == "bfloat16":
        got = decode_floats(through, encode(through, expected)).astype(wide.storage)
    else:
        got = expected.astype(through.storage).astype(wide.storage)
    assert pattern_of(name, expected, got) == said


def test_a_computation_in_a_narrower_type_is_recognised_by_its_elements() -> None:
    expected = draw(ELEMENT_TYPES["double"], 1)
    got = np.nextafter(expected.astype(np.float32), np.float32(9)).astype(np.float64)
    assert pattern_of("double", expected, got) == "computed in or converted through float32"
    # Whole numbers are float16 numbers too, but far from what was expected.
    whole = np.random.default_rng(1).integers(-9, 9, SHAPE).astype(np.float64)
    assert pattern_of("double", expected, whole) is None


@pytest.mark.parametrize("name", ["int64", "uint64", "int32"])
def test_saturation_to_a_narrower_type_is_recognised(name: str) -> None:
    element_type = ELEMENT_TYPES[name]
    narrow = {"int64": "int32", "uint64": "int32", "int32": "int16"}[name]
    low, high = ELEMENT_TYPES[narrow].integer_range
    expected = draw(element_type, 1)
    expected.reshape(-1)[::2] %= 100
    got = np.clip(expected, max(low, element_type.integer_range[0]), high)
    assert pattern_of(name, expected, got) == f"the expected output saturated to {narrow}"


@pytest.mark.parametrize("name", ["float", "double", "float16"])
def test_whole_numbers_in_place_of_fractions_are_recognised(name: str) -> None:
    expected = draw(ELEMENT_TYPES[name], 1)
    for way, word in ((np.trunc, "truncated"), (np.rint, "rounded"), (np.floor, "rounded down")):
        assert pattern_of(name, expected, way(expected)) == f"the expected output {word} to whole numbers"


@pytest.mark.parametrize("name", INTEGERS)
def test_whole_numbers_off_by_one_in_one_direction_are_recognised(name: str) -> None:
    element_type = ELEMENT_TYPES[name]
    fractions = np.random.default_rng(1).uniform(-30 if element_type.kind == "signed" else 0, 30, SHAPE)
    expected = np.rint(fractions).astype(element_type.storage)
    down, zero = (way(fractions).astype(element_type.storage) for way in (np.floor, np.trunc))
    assert pattern_of(name, expected, down) == "every wrong element is one too small"
    if element_type.kind == "signed":
        said = "every wrong element is one too near to zero, as truncation makes it"
        assert pattern_of(name, expected, zero) == said
        assert pattern_of(name, zero, expected) == "every wrong element is one too far from zero"


@pytest.mark.parametrize("name", [*FLOATS, *INTEGERS])
def test_clipping_is_recognised(name: str) -> None:
    element_type = ELEMENT_TYPES[name]
    expected = draw(element_type, 1)
    values = decode_floats(element_type, expected) if element_type.is_float else expected
    low, high = (expected.reshape(-1)[np.argsort(values.reshape(-1))[each]] for each in (60, 240))
    below, beyond = (
        values < values.reshape(-1)[np.argsort(values.reshape(-1))[60]],
        values > values.reshape(-1)[np.argsort(values.reshape(-1))[240]],
    )
    got = expected.copy()
    got[beyond] = high
    assert str(pattern_of(name, expected, got)).startswith("the expected output clipped to at most ")
    got[below] = low
    assert " and at least " in str(pattern_of(name, expected, got))


@pytest.mark.parametrize("name", [*FLOATS, *INTEGERS, "float8e5m2"])
def test_saturation_at_the_types_limit_and_its_absence_are_recognised(name: str) -> None:
    element_type = ELEMENT_TYPES[name]
    ordinary = draw(element_type, 1)
    where = np.random.default_rng(4).random(SHAPE) > 0.8
    infinite = {"bfloat16": 0x7F80, "float8e5m2": 0x7C}.get(name, np.inf)
    limit = element_type.integer_range[1] if element_type.is_integer else infinite
    full = np.where(where, np.asarray(limit).astype(element_type.storage), ordinary)
    stands = expected = "infinite"
    if element_type.is_integer:
        low, high = element_type.integer_range
        stands, expected = f"{low} or {high}", f"{low} or {high}" if low else str(high)
    assert pattern_of(name, ordinary, full) == f"saturated: every wrong element is {stands}"
    said = f"wrong only where {expected.replace('infinite', 'infinity')} is expected"
    assert pattern_of(name, full, ordinary) == said


@pytest.mark.parametrize("name", ["float", "double", "float16"])
def test_special_values_are_recognised(name: str) -> None:
    element_type = ELEMENT_TYPES[name]
    expected = draw(element_type, 1)
    where = np.random.default_rng(3).random(SHAPE) > 0.7
    zeros = np.where(where, np.zeros_like(expected), expected)
    assert pattern_of(name, zeros, np.where(where, -zeros, zeros)) == "wrong only in the sign of zero"
    nan = np.where(where, np.full_like(expected, np.nan), expected)
    assert pattern_of(name, expected, nan) == "every wrong element is NaN"
    assert pattern_of(name, nan, expected) == "wrong only where NaN is expected"
    tiny = np.where(where, np.full_like(expected, np.finfo(expected.dtype).tiny / 4), expected)
    said = "wrong only where subnormal numbers are expected: they are zero"
    assert pattern_of(name, tiny, zeros) == said


def random_answers(element_type: ElementType, seed: int) -> tuple[Array, list[Array]]:
    """An expectation, and answers wrong in no particular way: other elements, another order, some spoiled."""
    source = np.random.default_rng(seed)
    rank = int(source.integers(0, 5))
    shape = tuple(int(each) for each in source.integers(1, 6, rank))
    expected = draw(element_type, 2 * seed, shape)
    shuffled = expected.reshape(-1).copy()
    source.shuffle(shuffled)
    some = np.asarray(source.random(shape) > source.random())
    one = np.zeros(shape, dtype=np.bool_)
    one.reshape(-1)[int(source.integers(0, one.size))] = True
    return expected, [
        draw(element_type, 2 * seed + 1, shape),
        shuffled.reshape(shape),
        spoil(element_type, expected, some),
        spoil(element_type, expected, one),
    ]


@pytest.mark.parametrize("name", ALL)
def test_answers_wrong_in_no_particular_way_have_no_pattern(name: str) -> None:
    element_type = ELEMENT_TYPES[name]
    tried, named = 0, []
    for seed in range(150):
        expected, answers = random_answers(element_type, seed)
        given = Tensor(element_type, draw(element_type, 1000 + seed, expected.shape))
        for got in answers:
            wanted = ExpectedOutput("Y", Tensor(element_type, expected))
            compared = compare_output(wanted, Tensor(element_type, got))
            if compared.difference == "value":
                tried += 1
                found = find_pattern(wanted, Tensor(element_type, got), compared.wrong, (("X", given),))
                if found is not None:
                    named.append((seed, expected.shape, found))
    assert tried > 300
    assert named == []
