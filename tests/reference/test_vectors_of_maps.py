"""DictVectorizer and CastMap beside dictionaries of Python."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import numpy as np
import pytest

from opcert.vocabulary.tensors import Tensor, tensor
from tests.reference.learned_models import answers, listed, texts
from tests.reference.test_number_arrays import accepted

KEYS: dict[str, list[Any]] = {"int64": [3, 0, -1, 2**40, 10, 9], "string": ["b", "", "ä", "a", "10", "9"]}
VALUES: dict[str, list[Any]] = {
    "int64": [5, -(2**63), 2**63 - 1],
    "float": [0.5, -1.25, math.inf],
    "double": [0.1, -2.5e300, 7.0],
    "string": ["x", "", "ä b"],
}


def held(kind: str, elements: list[Any]) -> Tensor:
    if kind == "string":
        return texts(elements, (len(elements),))
    return tensor(np.array(elements, {"int64": np.int64, "float": np.float32, "double": np.float64}[kind]))


@pytest.mark.parametrize("key", list(KEYS))
@pytest.mark.parametrize("value", list(VALUES))
def test_a_dictionary_is_looked_up_word_by_word(key: str, value: str) -> None:
    random = Random(f"{key}{value}")
    zero = "" if value == "string" else 0
    for count in (0, 1, 3, 3, 3):
        given = dict(zip(random.sample(KEYS[key], count), random.sample(VALUES[value], count), strict=True))
        vocabulary = random.sample([*given, *(word for word in KEYS[key] if word not in given)][:5], 5)
        X = (held(key, [*given]), held(value, [*given.values()]))
        words = {f"{key}_vocabulary": tuple(vocabulary)}
        for shape, outer in (("flat", ()), ("row", (1,))):
            (got,) = answers("DictVectorizer", 1, {"X": X}, {"of_shape": shape}, **words)
            assert got.expected.shape == (*outer, 5)
            assert got.expected.element_type.name == value
            assert listed(got.expected) == [given.get(word, zero) for word in vocabulary]


def test_zero_among_texts_is_a_reading() -> None:
    X = (held("int64", [2]), held("string", ["x"]))
    for reading, nothing in (("empty", ""), ("digit", "0")):
        (got,) = answers("DictVectorizer", 1, {"X": X}, {"zero_text": reading}, int64_vocabulary=(1, 2))
        assert listed(got.expected) == [nothing, "x"]


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("value", ["float", "string"])
@pytest.mark.parametrize("cast", ["TO_FLOAT", "TO_INT64", "TO_STRING", None])
def test_values_stand_by_their_keys(dense: bool, value: str, cast: str | None) -> None:
    random = Random(f"{dense}{value}{cast}")
    pool = [3.0, -7.0, 0.0, 12.0, 100.0]
    for count in (0, 1, 4):
        keys = random.sample(range(6), count) if not dense else random.sample([10, 9, -3, 2**40, 0], count)
        numbers = random.sample(pool, count)
        given = [f"{number:.0f}" for number in numbers] if value == "string" else numbers
        form: dict[str, Any] = {} if dense else {"map_form": "SPARSE", "max_map": 6}
        X = (held("int64", keys), held(value, given))
        (got,) = answers("CastMap", 1, {"X": X}, cast_to=cast, **form)
        found = dict(zip(keys, numbers, strict=True))
        places = sorted(keys) if dense else range(6)
        assert got.expected.shape == (len(places),)
        if cast == "TO_STRING":
            said = [f"{found[key]:.0f}" if key in found else "" for key in places]
            assert accepted_texts(got, said)
            assert not count or not accepted_texts(got, ["5", *said[1:]]) or said[0] == "5"
        else:
            kind = np.int64 if cast == "TO_INT64" else np.float32
            assert got.expected.array.dtype == kind
            assert got.expected.array.tolist() == [found.get(key, 0) for key in places]
            assert got.allowed is None or not got.allowed.any()


def accepted_texts(got: Any, said: list[str]) -> bool:
    """Whether each text is what is expected, or as good."""
    others = got.alternatives or {}
    return all(
        text == expected or text.encode() in others.get(place, ())
        for place, (text, expected) in enumerate(zip(said, listed(got.expected), strict=True))
    )


def test_fractions_become_integers_beside_them_and_texts_are_rounded_to_float() -> None:
    (got,) = answers(
        "CastMap", 1, {"X": (held("int64", [1, 0]), held("float", [2.5, -0.5]))}, cast_to="TO_INT64"
    )
    assert listed(got.expected) == [0, 2]
    assert {place: set(others) for place, others in (got.alternatives or {}).items()} == {0: {-1}, 1: {3}}
    numbers = held("string", ["0.1", "16777217"])
    (got,) = answers("CastMap", 1, {"X": (held("int64", [0, 1]), numbers)})
    assert accepted(got, np.array([0.1, 16777216], np.float32)).all()
    assert not accepted(got, np.array([0.1, 16777218], np.float32)).all()
    (got,) = answers("CastMap", 1, {"X": (held("int64", [2]), held("float", [1.5]))}, cast_to="TO_STRING",
                     map_form="SPARSE", max_map=4)  # fmt: skip
    assert accepted_texts(got, ["", "", "1.500000", ""])
    assert accepted_texts(got, ["", "", "1.5", ""])
    assert not accepted_texts(got, ["1.5", "", "", ""])
