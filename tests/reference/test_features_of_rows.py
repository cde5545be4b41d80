"""Scaler, Normalizer, Imputer and their like beside plain Python in double precision and by loops."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

from opcert.vocabulary.tensors import tensor
from reference.answers import Answer
from tests.reference.learned_models import answers, listed, texts
from tests.reference.test_number_arrays import accepted

TYPES = {"float": np.float32, "double": np.float64, "int64": np.int64, "int32": np.int32}


def drawn(random: Random, kind: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    numbers = [random.uniform(-50, 50) for _ in range(math.prod(shape))]
    return np.array(numbers).reshape(shape).astype(TYPES[kind])


@pytest.mark.parametrize("kind", TYPES)
def test_scaled_as_double_precision_does(kind: str) -> None:
    random = Random(kind)
    for _ in range(30):
        X = drawn(random, kind, (2, 3))
        count = random.choice([1, 3])
        offset = [float(np.float32(random.uniform(-3, 3))) for _ in range(count)]
        scale = [float(np.float32(random.uniform(-3, 3))) for _ in range(count)]
        (got,) = answers("Scaler", 1, {"X": tensor(X)}, offset=tuple(offset), scale=tuple(scale))
        double = (X.astype(np.float64) - np.array(offset)) * np.array(scale)
        single = (X.astype(np.float32) - np.array(offset, np.float32)) * np.array(scale, np.float32)
        assert got.expected.element_type.name == "float"
        assert accepted(got, double.astype(np.float32)).all()
        assert accepted(got, single).all()
        assert not accepted(got, (double * 1.00001).astype(np.float32)).all()


NORMS: dict[str, Callable[[list[float]], float]] = {
    "MAX": max,
    "L1": lambda row: sum(abs(each) for each in row),
    "L2": lambda row: math.sqrt(sum(each * each for each in row)),
}


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("norm", NORMS)
def test_rows_are_divided_by_their_norm(kind: str, norm: str) -> None:
    random = Random(f"{kind}{norm}")
    for _ in range(20):
        X = drawn(random, kind, random.choice([(2, 3), (3, 1), (4,)]))
        X[..., :1] = abs(X[..., :1]) + 1
        (got,) = answers("Normalizer", 1, {"X": tensor(X)}, norm=norm)
        rows = X.reshape(-1, X.shape[-1]).tolist()
        expected = [[each / NORMS[norm](row) for each in row] for row in rows]
        assert accepted(got, np.array(expected, np.float32).reshape(X.shape)).all()


def test_norms_have_the_readings_of_the_text() -> None:
    X = tensor(np.array([[3.0, -4.0]], np.float32))
    for norm, reading, expected in (
        ("MAX", {"max_of": "magnitudes"}, [0.75, -1.0]),
        ("MAX", {"max_of": "numbers"}, [1.0, -4 / 3]),
        ("L1", {"sum_of": "signed"}, [-3.0, 4.0]),
        ("L2", {"root_sign": "dropped"}, [0.6, 0.8]),
        ("L2", {"root_sign": "kept"}, [0.6, -0.8]),
    ):
        (got,) = answers("Normalizer", 1, {"X": X}, reading, norm=norm)
        assert accepted(got, np.array([expected], np.float32)).all()


@pytest.mark.parametrize("norm", NORMS)
def test_rows_of_zeros_stay_as_they_are(norm: str) -> None:
    (got,) = answers("Normalizer", 1, {"X": tensor(np.zeros((2, 2), np.float32))}, norm=norm)
    assert listed(got.expected) == [0, 0, 0, 0]


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("count", [1, 3])
def test_imputed_where_it_equals_the_replaced_number(kind: str, count: int) -> None:
    random = Random(f"{kind}{count}")
    is_float = kind in ("float", "double")
    end = "float" if is_float else "int64"
    for replaced in (None, math.nan if is_float else -5, 2):
        numbers: list[Any] = [random.choice([0, 2, -5, math.nan if is_float else 1]) for _ in range(6)]
        values = [random.randint(10, 99) for _ in range(count)]
        given: dict[str, Any] = {f"imputed_value_{end}s": tuple(values), f"replaced_value_{end}": replaced}
        X = np.array(numbers).reshape(2, 3).astype(TYPES[kind])
        (got,) = answers("Imputer", 1, {"X": tensor(X)}, **given)
        wanted = 0 if replaced is None else replaced
        for place, (before, after) in enumerate(zip(numbers, listed(got.expected), strict=True)):
            hit = math.isnan(before) if math.isnan(wanted) else before == wanted
            expected = values[place % 3 % count] if hit else before
            assert after == expected or (math.isnan(after) and math.isnan(expected))


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("threshold", [None, 0.5, -0.5, 3.0])
def test_binarized_by_what_is_greater(kind: str, threshold: float | None) -> None:
    X = np.array([-1, 0, 1, 3, 4], TYPES[kind])
    (got,) = answers("Binarizer", 1, {"X": tensor(X)}, threshold=threshold)
    assert listed(got.expected) == [int(float(each) > (threshold or 0)) for each in X]
    assert got.expected.element_type.name == kind


def test_what_is_no_number_is_not_greater() -> None:
    (got,) = answers("Binarizer", 1, {"X": tensor(np.array([math.nan, math.inf], np.float32))})
    assert listed(got.expected) == [0, 1]


def test_features_are_extracted_from_the_last_axis() -> None:
    X = np.arange(12).reshape(2, 2, 3)
    (got,) = answers("ArrayFeatureExtractor", 1, {"X": tensor(X), "Y": tensor(np.array([2, 0]))})
    assert got.expected.array.tolist() == [[[2, 0], [5, 3]], [[8, 6], [11, 9]]]
    strings = texts(["a", "b", "c", "d"], (2, 2))
    (got,) = answers("ArrayFeatureExtractor", 1, {"X": strings, "Y": tensor(np.array([1, 1, 0]))})
    assert listed(got.expected) == ["b", "b", "a", "d", "d", "c"]


@pytest.mark.parametrize("kind", TYPES)
def test_tensors_stand_beside_each_other_as_floats(kind: str) -> None:
    one, other = np.array([[1, 2], [3, 4]], TYPES[kind]), np.array([[16777217], [-5]], TYPES[kind])
    (got,) = answers("FeatureVectorizer", 1, {"X": (tensor(one), tensor(other))}, inputdimensions=(2, 1))
    assert got.expected.array.tolist() == [[1, 2, 16777216], [3, 4, -5]]
    assert got.expected.element_type.name == "float"


def test_elements_of_one_axis_are_a_row_or_flat() -> None:
    X, places = tensor(np.array([5.0, 7.0, 9.0], np.float32)), tensor(np.array([[2], [0]]))
    for reading, expected in (("row", [[9, 5]]), ("flat", [9, 5])):
        (got,) = answers("ArrayFeatureExtractor", 1, {"X": X, "Y": places}, {"of_one_axis": reading})
        assert got.expected.array.tolist() == expected
    (got,) = answers("ArrayFeatureExtractor", 1, {"X": X, "Y": tensor(np.array(1))})
    assert got.expected.array.tolist() == [[7]]
    matrix = tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    (got,) = answers("ArrayFeatureExtractor", 1, {"X": matrix, "Y": tensor(np.array(1))})
    assert got.expected.array.tolist() == [[1], [4]]


def test_indices_have_one_axis_or_their_own_in_place_of_the_last() -> None:
    matrix = np.arange(12, dtype=np.float32).reshape(3, 4)
    for places, own in (
        ([[3, 0], [1, 1]], [[[row[3], row[0]], [row[1], row[1]]] for row in matrix.tolist()]),
        (2, [2, 6, 10]),
    ):
        given = {"X": tensor(matrix), "Y": tensor(np.array(places))}
        (got,) = answers("ArrayFeatureExtractor", 1, given, {"axes_of_indices": "own"})
        assert got.expected.array.tolist() == own
        (got,) = answers("ArrayFeatureExtractor", 1, given, {"axes_of_indices": "one"})
        assert got.expected.array.tolist() == np.reshape(own, (3, -1)).tolist()
    line = {"X": tensor(np.array([5.0, 7.0])), "Y": tensor(np.array([[1], [0]]))}
    (got,) = answers("ArrayFeatureExtractor", 1, line, {"axes_of_indices": "own", "of_one_axis": "row"})
    assert got.expected.array.tolist() == [[7], [5]]
    strings = {"X": texts(["a", "b"], (2,)), "Y": tensor(np.array(1))}
    (got,) = answers("ArrayFeatureExtractor", 1, strings, {"axes_of_indices": "own"})
    assert got.expected.shape == ()
    assert listed(got.expected) == ["b"]


@pytest.mark.parametrize("names", [("b", "", "ä"), (7, -1, 2**40)])
def test_each_row_is_a_map_from_names_to_elements(names: tuple[Any, ...]) -> None:
    X = np.array([[0.5, -2.0, 3.0], [1.0, 0.0, 0.1]], np.float32)
    form = "strings" if isinstance(names[0], str) else "int64s"
    given: dict[str, Any] = {f"classlabels_{form}": names}
    (got,) = answers("ZipMap", 1, {"X": tensor(X)}, **given)
    assert int(got.expected.array) == len(X)
    found = []
    for row in got.parts or ():
        assert isinstance(row, Answer)
        keys, values = (part.expected if isinstance(part, Answer) else part for part in row.parts or ())
        assert values.element_type.name == "float"
        assert keys.array.tolist() == sorted(keys.array.tolist())
        found.append(dict(zip(listed(keys), values.array.tolist(), strict=True)))
    assert found == [dict(zip(names, row, strict=True)) for row in X.tolist()]
