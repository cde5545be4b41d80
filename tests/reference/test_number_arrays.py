"""Numbers against numpy: its double precision, its float32 in several orders, and its integers."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import Answer
from reference.answers.number_answers import answer_of
from reference.answers.orders import compare, greater_of, lesser_of, whole
from reference.numbers.number_arrays import Numbers
from reference.numbers.working import Working
from reference.readings.choices import Choice
from reference.sums.products import product_of_matrices
from reference.sums.summation import sum_of_products, total

Array = NDArray[Any]
SPECIAL = (
    0.0,
    -0.0,
    math.inf,
    -math.inf,
    math.nan,
    1.0,
    -1.0,
    0.5,
    3.0,
    1e-3,
    7e4,
    -6e4,
    3e38,
    -3e38,
    1e-45,
    1e-39,
)
single = st.one_of(st.sampled_from(SPECIAL), st.floats(width=32, allow_nan=False, allow_infinity=False))
arrays = st.lists(single, min_size=4, max_size=4).map(lambda each: np.array(each, np.float32))
OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
}


def working(kind: str, *, flush: bool = False, narrow: bool = False) -> Working:
    element_type = tensor([0], kind).element_type
    return Working(
        element_type, Choice("flushed" if flush else "kept"), Choice("input" if narrow else "float32")
    )


def computed(
    function: Callable[..., Numbers], *given: Array, flush: bool = False, narrow: bool = False
) -> Answer:
    tensors = [tensor(array) for array in given]
    shared = working(tensors[0].element_type.name, flush=flush, narrow=narrow)
    return answer_of(function(*(Numbers.of(each, shared) for each in tensors)), Choice("wrap"))


def accepted(answer: Answer, got: Array) -> Array:
    """Which elements of a result the answer accepts."""
    expected = np.asarray(answer.expected.array, dtype=np.float64)
    got = np.asarray(got, dtype=np.float64)
    assert answer.allowed is not None
    with np.errstate(invalid="ignore"):
        near = np.abs(expected - got) <= answer.allowed
    found = near | (expected == got) | (np.isnan(expected) & np.isnan(got))
    for index, others in (answer.alternatives or {}).items():
        value = float(got.flat[index])
        found.flat[index] |= any(
            value == other or (math.isnan(value) and math.isnan(other)) for other in others
        )
    return np.asarray(found)


@pytest.mark.parametrize("name", OPERATIONS)
@given(arrays, arrays)
def test_one_operation_is_rounded_as_double_precision_rounded_once_more(
    name: str, a: Array, b: Array
) -> None:
    """Twice the bits and two more make the second rounding of one operation harmless (Figueroa)."""
    with np.errstate(all="ignore"):
        wide = OPERATIONS[name](a.astype(np.float64), b.astype(np.float64)).astype(np.float32)
    answer = computed(OPERATIONS[name], a, b)
    assert np.array_equal(answer.expected.array, wide, equal_nan=True)
    assert np.array_equal(np.signbit(answer.expected.array), np.signbit(wide) & ~np.isnan(wide))
    with np.errstate(all="ignore"):
        assert accepted(answer, OPERATIONS[name](a, b)).all()


@pytest.mark.parametrize("name", OPERATIONS)
@given(arrays, arrays)
def test_double_precision_is_the_processors(name: str, a: Array, b: Array) -> None:
    a, b = a.astype(np.float64) / 3, b.astype(np.float64) / 7
    with np.errstate(all="ignore"):
        theirs = OPERATIONS[name](a, b)
    assert np.array_equal(computed(OPERATIONS[name], a, b).expected.array, theirs, equal_nan=True)


@given(arrays)
def test_the_square_root_is_rounded_once(a: Array) -> None:
    with np.errstate(all="ignore"):
        wide = np.sqrt(a.astype(np.float64)).astype(np.float32)
    answer = computed(lambda each: each.sqrt(), a)
    assert np.array_equal(answer.expected.array, wide, equal_nan=True)


@pytest.mark.parametrize("name", ["add", "multiply"])
def test_the_number_on_the_other_side_of_the_result_is_not_accepted(name: str) -> None:
    draw = np.random.default_rng(1)
    a, b = draw.normal(size=(2, 300)).astype(np.float32)
    exact = OPERATIONS[name](a.astype(np.float64), b.astype(np.float64))
    answer = computed(OPERATIONS[name], a, b)
    expected = answer.expected.array
    away = np.nextafter(expected, np.where(exact > expected, -np.inf, np.inf).astype(np.float32))
    # Of two numbers as near either is accepted, as any within the same distance.
    tie = 2 * np.abs(exact - expected) == np.spacing(np.abs(expected))
    inexact = exact != expected
    assert (inexact & ~tie).sum() > 100
    assert not accepted(answer, away)[inexact & ~tie].any()
    assert answer.allowed is not None
    assert (answer.allowed[~inexact] == 0).all()


def test_a_result_far_from_double_precision_is_refused_by_the_oracle() -> None:
    a = np.array([1.0, 2.0], np.float32)
    answer = computed(lambda each: each + 1, a)
    assert not accepted(answer, np.array([2.0, 3.0000005])).all()


def _orders(terms: Array) -> list[Array]:
    """Sums of the last axis: from the front, from the back, pairwise, and in blocks of four."""
    kind = terms.dtype
    front, back = np.zeros(terms.shape[:-1], kind), np.zeros(terms.shape[:-1], kind)
    for index in range(terms.shape[-1]):
        front, back = (front + terms[..., index]).astype(kind), (back + terms[..., -1 - index]).astype(kind)
    pairs = [terms[..., index] for index in range(terms.shape[-1])]
    while len(pairs) > 1:
        pairs = [
            (pairs[i] + pairs[i + 1]).astype(kind) if i + 1 < len(pairs) else pairs[i]
            for i in range(0, len(pairs), 2)
        ]
    return [front, back, pairs[0]]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_a_sum_in_any_order_is_accepted_and_one_term_less_is_not(kind: Any, offset: float) -> None:
    terms = (np.random.default_rng(2).normal(size=(40, 17)) + offset).astype(kind)
    answer = computed(lambda term: total(term, 1), terms)
    for got in _orders(terms):
        assert accepted(answer, got).all()
    short = _orders(terms[:, 1:])[0]
    assert not accepted(answer, short)[np.abs(terms[:, 0]) > 1e-2].any()
    exact = [float(sum(map(Fraction, row.tolist()))) for row in terms.astype(np.float64)]
    assert np.array_equal(answer.expected.array, np.array(exact).astype(kind))


def test_a_sum_in_the_type_of_the_input_is_a_reading_of_its_own() -> None:
    terms = np.random.default_rng(3).normal(size=(60, 33)).astype(np.float16)
    narrow, wide = _orders(terms), [order.astype(np.float16) for order in _orders(terms.astype(np.float32))]
    strict = computed(lambda term: total(term, 1), terms)
    lenient = computed(lambda term: total(term, 1), terms, narrow=True)
    assert all(accepted(strict, array).all() for array in wide)
    assert not all(accepted(strict, array).all() for array in narrow)
    assert all(accepted(lenient, array).all() for array in narrow)


def test_products_are_summed_in_any_order_fused_or_not() -> None:
    draw = np.random.default_rng(4)
    a, b = draw.normal(size=(9, 21)).astype(np.float32), draw.normal(size=(21, 8)).astype(np.float32)
    answer = computed(product_of_matrices, a, b)
    products = a[:, None, :] * b.T[None]
    for got in _orders(products):
        assert accepted(answer, got).all()
    fused = np.zeros((9, 8), np.float32)
    for index in range(21):
        fused = (
            fused.astype(np.float64)
            + np.multiply.outer(a[:, index].astype(np.float64), b[index].astype(np.float64))
        ).astype(np.float32)
    assert accepted(answer, fused).all()
    exact = np.array(
        [
            [
                float(sum(Fraction(float(x)) * Fraction(float(y)) for x, y in zip(row, column, strict=True)))
                for column in b.T
            ]
            for row in a
        ]
    )
    assert np.array_equal(answer.expected.array, exact.astype(np.float32))
    assert not accepted(answer, exact + np.abs(products).max(axis=-1)).any()


@given(arrays, arrays)
def test_infinities_and_nan_in_a_sum_of_products_are_those_of_ieee(a: Array, b: Array) -> None:
    answer = computed(lambda x, y: sum_of_products(x, y, 1), a, b)
    with np.errstate(all="ignore"):
        wide = np.float64(0)
        for x, y in zip(a.astype(np.float64), b.astype(np.float64), strict=True):
            wide = wide + x * y
    got = float(answer.expected.array)
    if math.isnan(wide) or math.isinf(wide):
        assert math.isnan(got) if math.isnan(wide) else got == wide
    else:
        assert not math.isnan(got)
        with np.errstate(over="ignore"):
            assert accepted(answer, np.array(wide).astype(np.float32)).all()


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.int64, np.uint64])
def test_integers_wrap_as_the_processors_do(kind: Any) -> None:
    ends = np.iinfo(kind)
    draw = np.random.default_rng(5)
    a, b = draw.integers(ends.min, ends.max, (2, 50), dtype=kind, endpoint=True)
    with np.errstate(over="ignore"):
        for name in ("add", "subtract", "multiply"):
            answer = computed(OPERATIONS[name], a, b)
            assert np.array_equal(answer.expected.array, OPERATIONS[name](a, b))
    saturated = answer_of(Numbers.of(tensor(a)) + Numbers.of(tensor(b)), Choice("saturate"))
    whole_sums = [int(x) + int(y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    assert saturated.expected.array.tolist() == [
        min(max(whole_sum, ends.min), ends.max) for whole_sum in whole_sums
    ]
    b = np.where(b == 0, 1, b).astype(kind)
    quotient = computed(lambda x, y: x.truncated_quotient(y), a, b)
    exact = [
        abs(int(x)) // abs(int(y)) * (1 if (x < 0) == (y < 0) else -1) for x, y in zip(a, b, strict=True)
    ]
    wrapped = np.array([each & (2**ends.bits - 1) for each in exact], np.uint64).astype(kind)
    assert np.array_equal(quotient.expected.array, wrapped)


@pytest.mark.parametrize("relation", ["less", "less_or_equal", "equal", "greater", "greater_or_equal"])
@given(arrays, arrays)
def test_relations_are_numpys(relation: Any, a: Array, b: Array) -> None:
    answer = compare(Numbers.of(tensor(a)), Numbers.of(tensor(b)), relation)
    name = {"less_or_equal": "less_equal", "greater_or_equal": "greater_equal"}.get(relation, relation)
    assert np.array_equal(answer.expected.array, getattr(np, name)(a, b))
    assert answer.alternatives is None


@given(arrays, arrays)
def test_the_greater_and_the_lesser_are_numpys_where_nan_propagates_and_where_it_is_ignored(
    a: Array, b: Array
) -> None:
    for mine, theirs, ignoring in ((greater_of, np.maximum, np.fmax), (lesser_of, np.minimum, np.fmin)):
        for option, oracle in (("propagates", theirs), ("ignored", ignoring)):
            found = computed(lambda x, y, mine=mine, option=option: mine(x, y, Choice(option)), a, b)
            assert np.array_equal(found.expected.array, oracle(a, b), equal_nan=True)


@pytest.mark.parametrize(
    ("conversion", "oracle"), [("floor", np.floor), ("ceil", np.ceil), ("half_even", np.rint)]
)
@given(arrays)
def test_whole_numbers_are_numpys(conversion: Any, oracle: Callable[[Array], Array], a: Array) -> None:
    found = computed(lambda each: whole(each, conversion), a).expected.array
    assert np.array_equal(found, oracle(a), equal_nan=True)
    assert np.array_equal(np.signbit(found)[~np.isnan(a)], np.signbit(oracle(a))[~np.isnan(a)])


def test_flushing_lets_subnormal_numbers_be_zero_and_nothing_else() -> None:
    a, b = np.array([1e-39, 1.0, 2e-38], np.float32), np.array([1e-39, 1e-39, -1.9e-38], np.float32)
    kept, flushed = (computed(lambda x, y: x + y, a, b, flush=each) for each in (False, True))
    assert accepted(kept, a + b).all()
    zeros = np.array([0.0, 1.0, 0.0], np.float32)
    assert accepted(kept, zeros).tolist() == [False, True, False]
    assert accepted(flushed, zeros).all()
    assert accepted(flushed, a + b).all()
    assert not accepted(flushed, np.array([1e-30, 1.0001, 1e-30])).any()


@pytest.mark.parametrize("values", [[1.0, 2.0], [0.0, -0.0, math.inf, math.nan]])
def test_nobody_asks_for_subnormals_where_there_are_none(values: list[float]) -> None:
    asked: list[str] = []
    shared = Working(
        tensor([0.0], "float").element_type,
        Choice("kept", lambda: asked.append("subnormals")),
        Choice("float32", lambda: asked.append("accumulation")),
    )
    number = Numbers.of(tensor(values, "float"), shared)
    answer_of(number + number * 3, Choice("wrap", lambda: asked.append("overflow")))
    assert asked == []
    answer_of(Numbers.of(tensor([1e-40], "float"), shared) * 1, Choice("wrap"))
    assert asked[0] == "subnormals"


def test_what_overflows_on_the_way_may_be_lost() -> None:
    terms = np.array([[3e38, 3e38, -3e38]], np.float32)
    answer = computed(lambda term: total(term, 1), terms)
    assert float(answer.expected.array[0]) == np.float32(3e38)
    for got in (3e38, math.inf, math.nan):
        assert accepted(answer, np.array([got], np.float32)).all()
    assert not accepted(answer, np.array([1e38], np.float32)).any()


def test_moving_numbers_moves_all_that_is_known_of_them() -> None:
    given = np.array([[1.0, math.nan, -0.0], [1e-40, 3.0, -math.inf]], np.float32)
    number = Numbers.of(tensor(given))
    for moved, oracle in (
        (number.transposed(), given.T),
        (number.reshape((3, 2)), given.reshape(3, 2)),
        (number.broadcast((2, 2, 3)), np.broadcast_to(given, (2, 2, 3))),
        (number.gather(np.array([[5, 0]])), given.reshape(-1)[[[5, 0]]]),
    ):
        answer = answer_of(moved, Choice("wrap"))
        assert answer.expected == Tensor(answer.expected.element_type, np.ascontiguousarray(oracle))
    padded = number.gather(np.array([0, 99, 4]), np.array([True, False, True]))
    assert answer_of(padded, Choice("wrap")).expected.array.tolist() == [1.0, 0.0, 3.0]
