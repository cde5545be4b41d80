"""Data classes and draws: every class holds what its name says, the same on every machine."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from generator.calls.data import floats
from generator.calls.data.data import data_classes, fill
from generator.calls.data.draws import Draw
from generator.calls.kinds.data import Data
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.tensors import Tensor
from specs.language.expressions import parse
from tests.library_dtypes import ML_DTYPES

FLOATS = [element_type for element_type in ELEMENT_TYPES.values() if element_type.layout is not None]


def numbers(
    kind: ElementType, data_class: str, count: int = 60
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    array = fill(kind, (count,), data_class, Draw("test")).array
    native = array.view(ML_DTYPES[kind.name]) if kind.name in ML_DTYPES else array
    return native.astype(np.float64)


def limits(kind: ElementType) -> tuple[float, float]:
    """Greatest finite and smallest normal number, as other people know them."""
    info: Any = ml_dtypes.finfo(ML_DTYPES.get(kind.name, kind.storage))  # type: ignore[no-untyped-call] # theirs
    return float(info.max), float(info.smallest_normal)


@pytest.mark.parametrize("kind", FLOATS, ids=str)
def test_the_float_classes_hold_what_their_names_say(kind: ElementType) -> None:
    greatest, least = limits(kind)
    assert np.all(np.abs(numbers(kind, "huge")) >= greatest / 2)
    assert np.all(np.isfinite(numbers(kind, "huge")))
    subnormal = np.abs(numbers(kind, "subnormal"))
    assert np.all((subnormal > 0) & (subnormal < least))
    if kind.layout is not None and kind.layout.nan == "none":
        assert "nonfinite" not in data_classes(kind)
    else:
        assert np.isnan(numbers(kind, "nonfinite")).any()
        infinities = kind.layout is not None and kind.layout.infinities
        assert np.isinf(numbers(kind, "nonfinite")).any() == infinities
    assert np.all(np.abs(numbers(kind, "random")) <= 8)
    signs = np.signbit(numbers(kind, "signed_zero")[numbers(kind, "signed_zero") == 0])
    assert set(signs.tolist()) == ({False} if kind.name.endswith("fnuz") else {False, True})
    assert len(set(numbers(kind, "constant"))) == 1
    assert len(set(numbers(kind, "distinct"))) == min(60, (1 << kind.bits) - 1)


def test_the_classes_of_powers_of_two_hold_what_their_names_say() -> None:
    kind = ELEMENT_TYPES["float8e8m0"]

    def powers(data_class: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        array = fill(kind, (60,), data_class, Draw("test")).array
        values: np.ndarray[tuple[int], np.dtype[np.float64]]
        values = array.view(ml_dtypes.float8_e8m0fnu).astype(np.float64)
        return values

    assert len(set(powers("distinct"))) == 60
    assert np.isfinite(powers("distinct")).all()
    assert powers("distinct").min() < 1 < powers("distinct").max()
    assert ((powers("random") >= 1 / 8) & (powers("random") <= 8)).all()
    assert len(set(powers("constant"))) == 1
    assert (powers("huge") >= 2.0**126).all()
    assert np.isnan(powers("nonfinite")).sum() == 1


@pytest.mark.parametrize("kind", FLOATS, ids=str)
def test_encode_agrees_with_an_independent_conversion(kind: ElementType) -> None:
    small = [(1, 0), (-1, 0), (3, -1), (-3, 1), (0, 0), (1, -1)]
    for significand, exponent in [*small, (5, -2), (1, -6)] if kind.bits > 6 else small:
        dtype = np.dtype(ML_DTYPES.get(kind.name, kind.storage))
        wanted = np.array(significand * 2.0**exponent).astype(dtype)
        unsigned = wanted.view(np.dtype(f"u{dtype.itemsize}"))
        assert floats.encode(kind, significand, exponent) == int(unsigned)


def test_encode_refuses_what_the_type_does_not_hold() -> None:
    with pytest.raises(ValueError, match="not a number"):
        floats.encode(ELEMENT_TYPES["bfloat16"], 257, 0)
    with pytest.raises(ValueError, match="beyond"):
        floats.encode(ELEMENT_TYPES["float16"], 1, 16)


@pytest.mark.parametrize("kind", ELEMENT_TYPES.values(), ids=str)
def test_every_class_fills_every_shape(kind: ElementType) -> None:
    for data_class in data_classes(kind):
        for shape in [(), (0,), (1,), (2, 0, 3), (2, 3)]:
            made = fill(kind, shape, data_class, Draw("shape"))
            assert made.shape == shape
            assert made == fill(kind, shape, data_class, Draw("shape"))


def test_distinct_elements_are_distinct_and_in_no_order() -> None:
    for kind in ELEMENT_TYPES.values():
        if kind.kind == "bool" or kind.is_packed:
            continue
        elements = fill(kind, (100,), "distinct", Draw("d")).array.tolist()
        assert len(set(elements)) == 100, kind
        if kind.is_integer:
            assert elements != sorted(elements)


def test_integer_ties_make_odd_sums_of_neighbours() -> None:
    row = fill("int32", (40,), "ties", Draw("ties")).array.astype(np.int64)
    assert np.all((row[:-1] + row[1:]) % 2 == 1)


@pytest.mark.parametrize("name", ["float", "double", "float16", "bfloat16", "int8"])
def test_a_divisor_that_is_zero_becomes_one(name: str) -> None:
    nothing: Any = None
    kind = ELEMENT_TYPES[name]
    others = [2.0, -3.0] if kind.is_integer else [np.nan, np.inf, 2.0]
    native = np.array([0.0, -0.0, *others]).astype(ML_DTYPES.get(name, kind.storage))
    given = Tensor(kind, native.view(kind.storage))
    found = Data(subject=nothing, domain=parse("'nonzero'")).mend(given, nothing)
    assert found.element_type == kind
    np.testing.assert_array_equal(found.array.view(native.dtype).astype(np.float64), [1.0, 1.0, *others])


def test_a_class_that_the_type_lacks_is_refused() -> None:
    with pytest.raises(ValueError, match="no data class"):
        fill("string", (2,), "nonfinite", Draw("x"))


def test_draws_are_the_same_in_every_process_and_child_streams_are_apart() -> None:
    code = (
        "from generator.calls.data.draws import Draw; "
        "print(Draw('k').child('a').integers(-9, 9, 20).tolist())"
    )
    printed = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "77")
    ]
    assert printed[0] == printed[1]
    parent = Draw("k")
    before = parent.child("a").integers(0, 1000, 8).tolist()
    parent.integer(0, 5)
    assert parent.child("a").integers(0, 1000, 8).tolist() == before
    assert parent.child("b").integers(0, 1000, 8).tolist() != before


def test_draws_stay_in_their_bounds_and_reach_them() -> None:
    drawn = Draw("bounds").integers(-2, 2, (300,)).tolist()
    assert set(drawn) == {-2, -1, 0, 1, 2}
    assert sorted(Draw("s").shuffled(range(10))) == list(range(10))
    with pytest.raises(ValueError, match="nothing between"):
        Draw("x").integer(3, 2)
