"""Types together, integers in full, and each mechanism alone: kernels that are wrong in one of these fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from conformance.judging.judge import judge
from conformance.judging.responses import Answered
from conformance.judging.verdicts import FAILING
from conformance.suite.cases import Case
from generator.making.operators.workshop import Options
from generator.making.suites.operator_cases import generate_operator
from opcert.vocabulary.element_types import BY_CODE
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor

pytestmark = pytest.mark.slow

Kernel = Callable[..., NDArray[Any]]
PLAIN = (
    *("float", "double", "float16", "bfloat16", "bool", "string"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
)
COMMON = ("float", "float16", "int8", "uint8", "int32", "int64", "bool")


@cache
def cases_of(name: str) -> tuple[Case, ...]:
    made = generate_operator(OperatorName.parse(f"ai.onnx::{name}"), Options()).cases
    return tuple(each for each in made if each.demand == "answer" and each.expectations)


def given_to(case: Case, name: str) -> Tensor | None:
    return dict(case.inputs).get(name)


def pairs_of(name: str, first: str, second: str) -> Counter[tuple[str, str]]:
    """The types that two inputs have together, in cases without empty tensors."""
    found: Counter[tuple[str, str]] = Counter()
    for case in cases_of(name):
        one, other = given_to(case, first), given_to(case, second)
        if one is not None and other is not None and one.array.size and other.array.size:
            found[one.element_type.name, other.element_type.name] += 1
    return found


@pytest.mark.parametrize(
    ("name", "first", "second", "types"),
    [
        ("MatMulInteger-10", "A", "B", (("int8", "uint8"), ("int8", "uint8"))),
        pytest.param(
            "QLinearMatMul-21", "a", "b", (("int8", "uint8"), ("int8", "uint8")), marks=pytest.mark.nightly
        ),
        ("Pow-15", "X", "Y", (("float", "int32"), PLAIN[:3] + PLAIN[6:])),
        ("Gather-13", "data", "indices", (PLAIN, ("int32", "int64"))),
    ],
)
def test_each_pair_of_types_occurs_twice(
    name: str, first: str, second: str, types: tuple[tuple[str, ...], tuple[str, ...]]
) -> None:
    found = pairs_of(name, first, second)
    assert not [pair for pair in product(*types) if found[pair] < 2]


def test_every_cast_between_plain_types_has_ordinary_data_and_common_ones_ten_cases() -> None:
    found: Counter[tuple[str, str]] = Counter()
    for case in cases_of("Cast-28"):
        given = given_to(case, "input")
        if given is not None and given.array.size:
            found[given.element_type.name, BY_CODE[int(str(case.attributes["to"].value))].name] += 1
    assert not [pair for pair in product(PLAIN, PLAIN) if found[pair] < 2]
    assert not [pair for pair in product(COMMON, COMMON) if found[pair] < 10]


def product_of(case: Case, multiply: Kernel) -> Tensor | None:
    """What a kernel for two matrices makes of a case; None where zero points are more than one number."""
    A, B = given_to(case, "A"), given_to(case, "B")
    points = [given_to(case, f"{each}_zero_point") for each in "ab"]
    if A is None or B is None or A.array.ndim < 2 or B.array.ndim < 2:
        return None
    if any(point is not None and point.array.size != 1 for point in points):
        return None
    a, b = (0 if point is None else int(point.array.reshape(-1)[0]) for point in points)
    return tensor(multiply(A.array.astype(np.int64), B.array.astype(np.int64), a, b), "int32")


def right(A: NDArray[Any], B: NDArray[Any], a: int, b: int) -> NDArray[Any]:
    return np.asarray((A - a) @ (B - b), dtype=np.int32)


def saturated_pairs(A: NDArray[Any], B: NDArray[Any], a: int, b: int) -> NDArray[Any]:
    """Products of neighbours are added in 16 bits, saturated; zero points are subtracted afterwards."""
    terms = A[..., :, None, :] * np.swapaxes(B, -1, -2)[..., None, :, :]
    odd = np.zeros((*terms.shape[:-1], terms.shape[-1] % 2), dtype=np.int64)
    neighbours = np.concatenate([terms, odd], axis=-1).reshape(
        *terms.shape[:-1], (terms.shape[-1] + 1) // 2, 2
    )
    total = np.clip(neighbours.sum(axis=-1), -32768, 32767).sum(axis=-1)
    rows, columns = A.sum(axis=-1)[..., None], B.sum(axis=-2)[..., None, :]
    return np.asarray(total - a * columns - b * rows + A.shape[-1] * a * b).astype(np.int32)


def sums_in_16_bits(A: NDArray[Any], B: NDArray[Any], a: int, b: int) -> NDArray[Any]:
    return right(A, B, a, b).astype(np.int16).astype(np.int32)


def signed_taken_for_unsigned(A: NDArray[Any], B: NDArray[Any], a: int, b: int) -> NDArray[Any]:
    return right(A, B.astype(np.uint8).astype(np.int64), a, b % 256)


@pytest.mark.parametrize(
    ("kernel", "noticed"),
    [(right, False), (saturated_pairs, True), (sums_in_16_bits, True), (signed_taken_for_unsigned, True)],
)
def test_a_product_of_bytes_is_one_in_32_bits(kernel: Kernel, noticed: bool) -> None:
    made = [(case, product_of(case, kernel)) for case in cases_of("MatMulInteger-10")]
    known = [(case, output) for case, output in made if output is not None]
    assert len(known) > 20
    failing = [case for case, output in known if judge(case, Answered((output,))).verdict in FAILING]
    assert bool(failing) == noticed


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("QLinearMatMul-21", ["a_scale", "b_scale", "a_zero_point", "b_zero_point"]),
        ("QLinearConv-10", ["w_scale", "w_zero_point"]),
        ("ConvInteger-10", ["w_zero_point"]),
    ],
)
def test_ends_of_bytes_are_asked_with_one_scale_for_a_tensor_and_sizes_of_kernels_with_both(
    name: str, steps: list[str]
) -> None:
    """Every runtime has one scale for a tensor; one for each row or channel is refused by many."""

    def lengths(*words: str) -> list[int]:
        cases = [case for case in cases_of(name) if str(case.id.word).startswith(words)]
        given = (given_to(case, each) for case in cases for each in steps)
        return [step.array.size for step in given if step is not None]

    ends, sizes = lengths("ends_"), lengths("inner_", "channels_")
    assert len(ends) > 20
    assert set(ends) == {1}
    assert sum(length == 1 for length in sizes) > len(sizes) / 2
    assert max(sizes) > 1


def summed(case: Case, add: Callable[[NDArray[Any]], Any]) -> Iterator[Tensor]:
    """What a kernel makes of sums over all axes or the given ones."""
    data, axes = given_to(case, "data"), given_to(case, "axes")
    keeps = "keepdims" not in case.attributes or case.attributes["keepdims"].value == 1
    if data is None or axes is None or data.element_type.name not in ("int32", "int64"):
        return
    over = tuple(map(int, axes.array))
    wide = add(data.array).sum(axis=over, keepdims=keeps)
    with np.errstate(invalid="ignore"):
        yield tensor(np.asarray(wide).astype(data.array.dtype), data.element_type.name)


@pytest.mark.parametrize(
    ("add", "noticed"),
    [
        (lambda array: array, False),
        (lambda array: array.astype(np.float32), True),
        (lambda array: array.astype(np.float64), True),
        (lambda array: array.astype(np.int32).astype(np.int64), True),
    ],
)
def test_sums_of_integers_keep_every_bit(add: Callable[[NDArray[Any]], Any], noticed: bool) -> None:
    beyond = [case for case in cases_of("ReduceSum-13") if str(case.id.word).startswith("beyond_")]
    answers = [(case, output) for case in beyond for output in summed(case, add)]
    assert answers
    assert noticed == any(judge(case, Answered((answer,))).verdict in FAILING for case, answer in answers)


def test_unsigned_numbers_are_no_negative_ones() -> None:
    upper = [case for case in cases_of("Greater-13") if str(case.id.word).startswith("upper_half_uint32")]
    assert upper
    for case in upper:
        A, B = given_to(case, "A"), given_to(case, "B")
        assert A is not None
        assert B is not None
        signed = tensor(A.array.view(np.int32) > B.array.view(np.int32), "bool")
        assert judge(case, Answered((signed,))).verdict in FAILING


@pytest.mark.parametrize(
    ("name", "word"),
    [
        pytest.param("Attention-25", "alone_is_causal_1", marks=pytest.mark.nightly),
        pytest.param("Attention-25", "alone_softcap_0_5", marks=pytest.mark.nightly),
        ("Gemm-13", "alone_transA_1"),
        pytest.param("Conv-22", "alone_auto_pad_SAME_LOWER", marks=pytest.mark.nightly),
    ],
)
def test_a_mechanism_stands_alone_in_float(name: str, word: str) -> None:
    cases = cases_of(name)
    alone = [case for case in cases if case.id.word == word]
    assert alone or any(word in str(case.id) for case in cases), sorted(
        str(case.id.word) for case in cases if "alone" in str(case.id.word)
    )
    assert all(case.element_type.name == "float" for case in alone)
