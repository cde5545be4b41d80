"""LabelEncoder, CategoryMapper and OneHotEncoder beside searches through lists, element by element."""

from __future__ import annotations

import math
import struct
from random import Random
from typing import Any

import numpy as np
import pytest

from opcert.vocabulary.tensors import Tensor, tensor
from tests.reference.learned_models import answers, listed, texts

KNOWN: dict[str, list[Any]] = {
    "string": ["a", "b", "", "ä", "ab", "A"],
    "int64": [3, 0, -1, 2**63 - 1, -(2**63), 7],
    "float": [0.5, -1.0, math.nan, math.inf, 3.25, 0.0],
}
LISTS = {"string": "strings", "int64": "int64s", "float": "floats"}
SINGLES = {"string": "string", "int64": "int64", "float": "float"}
DEFAULTS: dict[str, Any] = {"string": "_Unused", "int64": -1, "float": -0.0}


def tensor_of(kind: str, elements: list[Any], shape: tuple[int, ...]) -> Tensor:
    return texts(elements, shape) if kind == "string" else tensor(np.array(elements).reshape(shape), kind)


def same(one: Any, other: Any) -> bool:
    """By bits of floats, so that NaN is itself and the zeros differ."""
    if isinstance(one, float):
        return struct.pack("<f", one) == struct.pack("<f", other)
    return bool(one == other)


def last_place(keys: list[Any], element: Any) -> int | None:
    found = None
    for place, key in enumerate(keys):
        if same(key, element):
            found = place
    return found


@pytest.mark.parametrize("version", [2, 4])
@pytest.mark.parametrize("own", list(KNOWN))
@pytest.mark.parametrize("other", list(KNOWN))
def test_label_encoder_is_a_search_for_the_last_key(version: int, own: str, other: str) -> None:
    random = Random(f"{version}{own}{other}")
    for _ in range(40):
        count = random.randint(1, 5)
        keys = random.sample(KNOWN[own], count)
        values = random.sample(KNOWN[other], count)
        if version == 4 and random.random() < 0.5:
            keys[-1] = keys[0]
        elements = [random.choice(KNOWN[own]) for _ in range(6)]
        default = random.choice([None, KNOWN[other][1]])
        given: dict[str, Any] = {f"keys_{LISTS[own]}": tuple(keys), f"values_{LISTS[other]}": tuple(values)}
        if version == 4 and random.random() < 0.5:
            given = {
                "keys_tensor": tensor_of(own, keys, (count,)),
                "values_tensor": tensor_of(other, values, (count,)),
            }
            if default is not None:
                given["default_tensor"] = tensor_of(other, [default], (1,))
        elif default is not None:
            given[f"default_{SINGLES[other]}"] = default
        (got,) = answers("LabelEncoder", version, {"X": tensor_of(own, elements, (2, 3))}, **given)
        beside = DEFAULTS[other] if default is None else default
        places = [last_place(keys, element) for element in elements]
        expected = [beside if place is None else values[place] for place in places]
        assert got.expected.shape == (2, 3)
        assert all(same(*pair) for pair in zip(listed(got.expected), expected, strict=True))


def test_zeros_of_either_sign_are_one_key_where_it_is_read_so() -> None:
    X = tensor(np.array([0.0, -0.0], np.float32))
    given: dict[str, Any] = {"keys_floats": (-0.0,), "values_int64s": (5,)}
    for version, reading, expected in ((4, "equal", [5, 5]), (4, "by_bits", [-1, 5])):
        (got,) = answers("LabelEncoder", version, {"X": X}, {"zeros_as_keys": reading}, **given)
        assert listed(got.expected) == expected
    (got,) = answers("LabelEncoder", 2, {"X": X}, **given)
    assert listed(got.expected) == [-1, 5]


@pytest.mark.parametrize("default", [None, 9])
def test_the_first_label_encoder_counts_places(default: int | None) -> None:
    classes = ("x", "", "y")
    (got,) = answers(
        "LabelEncoder",
        1,
        {"X": texts(["y", "z", "", "x"], (4,))},
        classes_strings=classes,
        default_int64=default,
    )
    beside = -1 if default is None else default
    assert listed(got.expected) == [2, beside, 1, 0]
    (got,) = answers("LabelEncoder", 1, {"X": tensor(np.array([2, -1, 3, 0]))}, classes_strings=classes)
    assert listed(got.expected) == ["y", "_Unused", "_Unused", "x"]


def test_category_mapper_goes_both_ways() -> None:
    given: dict[str, Any] = {"cats_int64s": (5, 2**62), "cats_strings": ("five", "much")}
    (got,) = answers("CategoryMapper", 1, {"X": texts(["much", "five", "none"], (3, 1))}, **given)
    assert (listed(got.expected), got.expected.shape) == ([2**62, 5, -1], (3, 1))
    X = tensor(np.array([5, 6, 2**62]))
    (got,) = answers("CategoryMapper", 1, {"X": X}, default_string="-", **given)
    assert listed(got.expected) == ["five", "-", "much"]


@pytest.mark.parametrize("kind", ["float", "double", "int32", "int64", "string"])
def test_one_hot_rows_have_a_one_where_the_category_is(kind: str) -> None:
    random = Random(kind)
    categories: list[Any] = ["a", "b", "c"] if kind == "string" else [4, -2, 0]
    fractions = [0.0, 0.5, 0.9] if kind in ("float", "double") else [0]
    for _ in range(30):
        chosen = [random.choice([*categories, categories[0] * 3]) for _ in range(4)]
        cats: dict[str, Any] = {"cats_strings" if kind == "string" else "cats_int64s": tuple(categories)}
        shown = list(chosen)
        if kind != "string":
            shown = [each + math.copysign(random.choice(fractions), each) for each in chosen]
        (got,) = answers("OneHotEncoder", 1, {"X": tensor_of(kind, shown, (2, 2))}, **cats)
        rows = got.expected.array.reshape(4, 3).tolist()
        assert got.expected.shape == (2, 2, 3)
        assert rows == [[1.0 if each == category else 0.0 for category in categories] for each in chosen]
