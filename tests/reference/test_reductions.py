"""Sums, products and extremes along axes against plain loops over Fractions and numpy's own float32."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from operator import itemgetter
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import tensor
from reference.answers import Answer
from reference.answers.orders import NanInMaxMin, greater_of
from reference.numbers.number_arrays import Numbers
from reference.readings.choices import Choice
from reference.registry import find_operator
from reference.shared.extremes import beside_nan, greatest
from tests.reference.test_number_arrays import accepted
from tools.bounds_of_sums import measure

Array = NDArray[Any]
DRAW = np.random.default_rng(20)


def evaluate(
    name: str, given: dict[str, Any], readings: dict[str, str] | None = None, **attributes: Any
) -> Answer:
    inputs = {
        key: tuple(tensor(each) for each in value) if isinstance(value, tuple) else tensor(value)
        for key, value in given.items()
    }
    return find_operator(OperatorName.parse(f"ai.onnx::{name}")).evaluate(attributes, inputs, readings)[0]


def groups(data: Array, axes: Sequence[int]) -> Iterator[tuple[tuple[int, ...], list[Any]]]:
    """By the index of what is kept (reduced axes at 0), the elements in row-major order."""
    chosen = {axis % data.ndim for axis in axes}
    kept = [range(1) if axis in chosen else range(extent) for axis, extent in enumerate(data.shape)]
    gone = [range(extent) if axis in chosen else range(1) for axis, extent in enumerate(data.shape)]
    for index in itertools.product(*kept):
        yield (
            index,
            [
                data[tuple(a + b for a, b in zip(index, more, strict=True))].item()
                for more in itertools.product(*gone)
            ],
        )


def by_loops(formula: Callable[[list[Fraction]], float], data: Array, axes: Sequence[int]) -> Array:
    shape = [1 if each in {a % data.ndim for a in axes} else n for each, n in enumerate(data.shape)]
    found = np.zeros(shape, np.float64)
    for index, elements in groups(data, axes):
        found[index] = formula([Fraction(element) for element in elements])
    return found


FORMULAS: dict[str, Callable[[list[Fraction]], float]] = {
    "ReduceSum-13": lambda each: float(sum(each, Fraction(0))),
    "ReduceMean-18": lambda each: float(sum(each, Fraction(0)) / len(each)),
    "ReduceProd-18": lambda each: float(math.prod(each, start=Fraction(1))),
    "ReduceL1-18": lambda each: float(sum(map(abs, each), Fraction(0))),
    "ReduceSumSquare-18": lambda each: float(sum((a * a for a in each), Fraction(0))),
    "ReduceL2-18": lambda each: math.sqrt(float(sum((a * a for a in each), Fraction(0)))),
    "ReduceMax-20": lambda each: float(max(each)),
    "ReduceMin-20": lambda each: float(min(each)),
}
IN_FLOAT32: dict[str, Callable[[Array], Any]] = {
    "ReduceSum-13": np.sum,
    "ReduceMean-18": np.mean,
    "ReduceProd-18": np.prod,
    "ReduceL1-18": lambda array: np.abs(array).sum(),
    "ReduceSumSquare-18": lambda array: (array * array).sum(),
    "ReduceL2-18": lambda array: np.sqrt((array * array).sum()),
    "ReduceMax-20": np.max,
    "ReduceMin-20": np.min,
}


IN_INTEGERS: dict[str, Callable[[list[int]], int]] = {
    "ReduceSum-13": sum,
    "ReduceProd-18": math.prod,
    "ReduceL1-18": lambda each: sum(map(abs, each)),
    "ReduceSumSquare-18": lambda each: sum(a * a for a in each),
}


def random_axes(rank: int) -> list[int]:
    count = int(DRAW.integers(1, rank + 1))
    return [int(each) - rank * int(DRAW.integers(2)) for each in DRAW.permutation(rank)[:count]]


@pytest.mark.parametrize("name", FORMULAS)
def test_floats_agree_with_loops_and_leave_room_for_float32(name: str) -> None:
    for _ in range(150):
        shape = DRAW.integers(1, 5, size=int(DRAW.integers(1, 5)))
        data = (DRAW.normal(size=shape) * 10.0 ** DRAW.integers(-3, 4)).astype(np.float32)
        axes = random_axes(data.ndim)
        answer = evaluate(name, {"data": data, "axes": np.array(axes, np.int64)})
        exact = by_loops(FORMULAS[name], data, axes)
        np.testing.assert_array_equal(answer.expected.array, exact.astype(np.float32))
        single = np.zeros(exact.shape, np.float32)
        for index, elements in groups(data, axes):
            single[index] = IN_FLOAT32[name](np.array(elements, np.float32))
        assert accepted(answer, single).all()


@pytest.mark.parametrize("name", sorted(set(FORMULAS) - {"ReduceMax-20", "ReduceMin-20"}))
def test_a_term_less_is_noticed(name: str) -> None:
    for _ in range(100):
        data = DRAW.uniform(1.25, 2.0, size=(3, int(DRAW.integers(2, 40)))).astype(np.float32)
        answer = evaluate(name, {"data": data, "axes": np.array([1], np.int64)})
        fewer = by_loops(FORMULAS[name], data[:, 1:], [1])
        if name == "ReduceMean-18":
            fewer = fewer * (data.shape[1] - 1) / data.shape[1]
        assert not accepted(answer, fewer.astype(np.float32)).any()


@pytest.mark.parametrize("name", ["ReduceSum-13", "ReduceProd-18", "ReduceL1-18", "ReduceSumSquare-18"])
@pytest.mark.parametrize("kind", [np.int32, np.int64, np.uint32, np.uint64])
def test_integers_are_exact_and_wrap_around(name: str, kind: Any) -> None:
    ends = np.iinfo(kind)
    for _ in range(40):
        data = DRAW.integers(ends.min, ends.max, size=(3, 4), dtype=kind, endpoint=True)
        exact = [IN_INTEGERS[name](row) for row in data.tolist()]
        wrapped = [(each - ends.min) % (ends.max - ends.min + 1) + ends.min for each in exact]
        answer = evaluate(name, {"data": data, "axes": np.array([1], np.int64)}, keepdims=0)
        assert answer.expected.array.tolist() == wrapped
        limited = evaluate(
            name,
            {"data": data, "axes": np.array([1], np.int64)},
            {"integer_overflow": "saturate"},
            keepdims=0,
        )
        assert limited.expected.array.tolist() == [min(max(each, ends.min), ends.max) for each in exact]


@pytest.mark.parametrize(
    ("conversion", "wanted"),
    [("truncate", [-1, 2]), ("floor", [-2, 2]), ("half_even", [-2, 2]), ("half_up", [-1, 3])],
)
def test_means_of_integers_follow_the_conversion(conversion: str, wanted: list[int]) -> None:
    data = np.array([[-1, -2], [2, 3]], np.int32)
    answer = evaluate(
        "ReduceMean-13", {"data": data}, {"integer_conversion": conversion}, axes=(1,), keepdims=0
    )
    assert answer.expected.array.tolist() == wanted
    assert not answer.alternatives
    roots = evaluate("ReduceL2-13", {"data": data}, {"integer_conversion": conversion}, axes=(1,), keepdims=0)
    assert roots.expected.array.tolist() == [2, 4 if conversion in ("half_even", "half_up") else 3]


def test_no_elements() -> None:
    data = np.zeros((2, 0), np.float32)
    wanted = {"ReduceSum-13": 0.0, "ReduceProd-18": 1.0, "ReduceMax-20": -math.inf, "ReduceMin-20": math.inf}
    for name, value in wanted.items():
        answer = evaluate(name, {"data": data, "axes": np.array([1], np.int64)}, keepdims=0)
        assert answer.expected.array.tolist() == [value, value]
    none = evaluate("ReduceMax-20", {"data": np.zeros((0,), np.bool_)}, keepdims=0)
    assert none.expected.array.tolist() is False
    least = evaluate("ReduceMax-20", {"data": np.zeros((0,), np.int8)}, keepdims=0)
    assert least.expected.array.tolist() == -128


def test_no_axes_are_all_or_none() -> None:
    data = np.array([[1, -2], [3, 4]], np.float32)
    assert evaluate("ReduceSumSquare-18", {"data": data}, keepdims=0).expected.array.tolist() == 30
    squares = evaluate("ReduceSumSquare-18", {"data": data}, noop_with_empty_axes=1)
    assert squares.expected.array.tolist() == [[1, 4], [9, 16]]
    given = {"data": data, "axes": np.zeros((0,), np.int64)}
    assert evaluate("ReduceSum-13", given).expected.array.tolist() == [[6]]


def test_nan_in_extremes_is_a_reading() -> None:
    data = np.array([[1, math.nan, 3], [math.nan, 2, 1], [4, 6, 5]], np.float32)
    for option, wanted, beside in (
        ("propagates", [math.nan, math.nan, 6], 0),
        ("ignored", [3, 2, 6], 0),
        ("first_operand", None, math.inf),  # what the order of comparisons makes of it: anything
    ):
        answer = evaluate("ReduceMax-13", {"data": data}, {"nan_in_max_min": option}, axes=(1,), keepdims=0)
        assert wanted is None or np.array_equal(answer.expected.array, wanted, equal_nan=True)
        assert answer.expected.array[2] == 6
        assert answer.allowed is not None
        assert answer.allowed.tolist() == [beside, beside, 0]


@pytest.mark.parametrize(("name", "operation"), [("CumSum-14", np.add), ("CumProd-26", np.multiply)])
def test_running_sums_and_products(name: str, operation: np.ufunc) -> None:
    for _ in range(200):
        x = DRAW.normal(size=DRAW.integers(1, 5, size=3)).astype(np.float32)
        axis, exclusive, reverse = int(DRAW.integers(-3, 3)), int(DRAW.integers(2)), int(DRAW.integers(2))
        answer = evaluate(name, {"x": x, "axis": np.array(axis)}, exclusive=exclusive, reverse=reverse)
        rows = np.moveaxis(x, axis, -1)[..., :: -1 if reverse else 1]
        for wide in (np.float64, np.float32):
            start = np.full((*rows.shape[:-1], 1), operation.identity, wide)
            sums = operation.accumulate(np.concatenate([start, rows], -1, dtype=wide), axis=-1)
            sums = sums[..., :-1] if exclusive else sums[..., 1:]
            got = np.moveaxis(sums[..., :: -1 if reverse else 1], -1, axis).astype(np.float32)
            assert accepted(answer, got).all()


def test_products_in_any_order_may_pass_the_ends_on_their_way() -> None:
    x = np.array([1e-30, 1e-30, 1e30, 1e30], np.float32)
    answer = evaluate("ReduceProd-18", {"data": x})
    assert answer.expected.array == np.float32(1)
    with np.errstate(over="ignore"):
        for order in itertools.permutations(x):
            got = np.multiply.reduce(np.array(order, np.float32), keepdims=True)
            assert accepted(answer, got).all()
    infinite = evaluate("ReduceProd-18", {"data": np.array([1e-30, 1e-30, math.inf], np.float32)})
    assert infinite.allowed is not None
    assert infinite.allowed.tolist() == [math.inf]


def test_sums_and_means_of_inputs_are_broadcast() -> None:
    for _ in range(200):
        one, two, three = (
            DRAW.normal(size=shape).astype(np.float32)
            for shape in ((3, 1), (1, 4), tuple(DRAW.integers(1, 2, 1)))
        )
        exact = one.astype(np.float64) + two + three
        total = evaluate("Sum-13", {"data_0": (one, two, three)})
        np.testing.assert_array_equal(total.expected.array, exact.astype(np.float32))
        assert accepted(total, one + two + three).all()
        mean = evaluate("Mean-13", {"data_0": (one, two, three)})
        assert accepted(mean, (one + two + three) / np.float32(3)).all()
        assert accepted(mean, (one + two + three) * np.float32(1 / 3)).all()
        assert not accepted(mean, (one + two + three) / np.float32(2)).all()


def test_narrow_sums_in_their_own_type_are_a_reading() -> None:
    data = np.array([[2048, 1, 1, 1]], np.float16)
    asked: set[str] = set()
    reference = find_operator(OperatorName.parse("ai.onnx::ReduceSum-11"))
    answers = {
        option: reference.evaluate(
            {"axes": (1,)}, {"data": tensor(data)}, {"accumulation_type": option}, asked
        )[0]
        for option in ("float32", "input")
    }
    assert "accumulation_type" in asked
    step_by_step = np.array([[2048]], np.float16)
    assert not accepted(answers["float32"], step_by_step).any()
    assert accepted(answers["input"], step_by_step).all()


def test_three_orders_stay_well_inside_and_a_term_less_is_outside() -> None:
    for name, (worst, least) in measure(20).items():
        assert 0 < worst < 0.8, name
        assert least > 10, name


@pytest.mark.parametrize("kind", ["int64", "uint64"])
@pytest.mark.parametrize("bits", [8, 30, 52, 55, 60])
@pytest.mark.parametrize("name", ["ReduceMean-18", "ReduceL2-18"])
def test_wide_integers_in_double_are_honest_and_the_next_integer_is_not(
    name: str, bits: int, kind: str
) -> None:
    """Sums in double precision, forwards, backwards and pairwise; small ones allow nothing else."""
    high = 1 << (bits if name == "ReduceMean-18" else bits // 2)
    for size in (1, 2, 7, 33):
        data = DRAW.integers(0 if kind == "uint64" else -high, high, size=(3, size), dtype=kind)
        answer = evaluate(name, {"data": data, "axes": np.array([1])}, {"integer_conversion": "truncate"})
        assert answer.allowed is not None
        expected = answer.expected.array.reshape(-1)
        doubles = data.astype(np.float64)
        terms = doubles if name == "ReduceMean-18" else doubles * doubles
        for row, row_terms in enumerate(terms):
            sums = [
                math.fsum(row_terms),
                np.cumsum(row_terms)[-1],
                np.cumsum(row_terms[::-1])[-1],
                row_terms.sum(),
            ]
            for each in sums:
                honest = int(each / size) if name == "ReduceMean-18" else int(math.sqrt(each))
                distance = abs(honest - int(expected[row]))
                others = (answer.alternatives or {}).get(row, ())
                assert distance <= answer.allowed.reshape(-1)[row] or honest in map(int, others)
        most = np.abs(terms).max() * size
        assert most >= 2**52 or (answer.allowed < 1).all()
        assert np.isfinite(answer.allowed).all()


@pytest.mark.parametrize("kind", ["int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("name", ["ReduceMean-18", "ReduceL2-18"])
def test_sums_beyond_the_type_may_wrap_or_stay_at_its_end_and_nothing_else(name: str, kind: str) -> None:
    ends = np.iinfo(kind)
    span = ends.max - ends.min + 1
    for size in (4, 9, 33):
        high = ends.max if name == "ReduceMean-18" else ends.max // 16
        data = DRAW.integers(high // 3 * 2, high, size=(3, size), dtype=kind)
        answer = evaluate(name, {"data": data, "axes": np.array([1])}, {"integer_conversion": "truncate"})
        assert answer.allowed is not None
        for row, elements in enumerate(data.tolist()):
            total = sum(elements if name == "ReduceMean-18" else [each * each for each in elements])
            sums = [total, (total - ends.min) % span + ends.min, min(total, ends.max)]
            if name == "ReduceMean-18":
                honest = [int(Fraction(each, size)) for each in sums]
                honest.append(int(float(sums[1]) / size))
            else:
                honest = [math.isqrt(each) if each >= 0 else ends.min for each in sums]
                with np.errstate(over="ignore"):
                    squares = np.square(np.array(elements, kind)).tolist()
                honest.append(int(math.sqrt(max(sum(squares), 0))))
            centre, reach = int(answer.expected.array[row, 0]), float(answer.allowed[row, 0])
            others = [int(each) for each in (answer.alternatives or {}).get(row, ())]
            assert all(abs(each - centre) <= reach or each in others for each in honest)
            wrong = honest[0] + 3 * (honest[0] // 2)
            assert abs(wrong - centre) > reach
            assert wrong not in others


@pytest.mark.parametrize("length", [1, 2, 3, 5, 8, 13])
@pytest.mark.parametrize("option", ["propagates", "ignored", "first_operand", "second_operand"])
def test_extremes_by_pairs_are_those_of_one_after_the_other(length: int, option: NanInMaxMin) -> None:
    """Zeros of both signs, infinities and NaN: of equals the first stays, as it does one by one."""
    held = DRAW.choice([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, 1e-40, np.nan], (40, length))
    for data in (held, np.where(np.isnan(held), 2.0, held)):
        numbers = Numbers.of(tensor(data.astype(np.float32)))
        nan = Choice(option)
        found, one = greatest(numbers, 1, nan), numbers.arranged(itemgetter((..., 0)))
        for place in range(1, length):
            one = greater_of(one, numbers.arranged(itemgetter((..., place))), nan)
        one = beside_nan(one, np.asarray(np.isnan(numbers.sign).any(axis=-1)), nan)
        assert np.array_equal(found.value.floats(), one.value.floats())
        assert found.sign.tobytes() == one.sign.tobytes()
        assert np.array_equal(found.error, one.error)
        assert np.array_equal(found.lost, one.lost)
