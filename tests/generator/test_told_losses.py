"""What a runtime loses of wide numbers and of words, some case tells; specials stand beside each other."""

from __future__ import annotations

import math

import numpy as np
import pytest

from conformance.judging.judge import judge
from conformance.judging.responses import Answered
from conformance.judging.verdicts import FAILING
from conformance.suite.cases import Case
from generator.making.cases.telling import held_in
from generator.making.cases.told_cases import in_ascii, spoilt, stripped
from generator.making.operators.workshop import Options
from generator.making.suites.operator_cases import generate_operator
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor

pytestmark = pytest.mark.slow

FIRST = ("CenterCropPad-18", "Xor-7", "Ceil-13")


def cases_of(name: str, word: str = "") -> list[Case]:
    made = generate_operator(OperatorName.parse(f"ai.onnx::{name}"), Options()).cases
    return [each for each in made if str(each.id.word).startswith(word)]


def given_to(case: Case, name: str) -> Tensor:
    found = dict(case.inputs)[name]
    assert found is not None
    return found


def fails(case: Case, *outputs: Tensor) -> bool:
    return judge(case, Answered(outputs)).verdict in FAILING


@pytest.mark.parametrize(
    ("numbers", "element_type", "narrow", "held"),
    [
        ([0.1], "double", "float", [float(np.float32(0.1))]),
        ([2**53 + 1], "int64", "double", [2**53]),
        ([2**63 - 1], "int64", "double", [2**63 - 1]),
        ([2**24 + 1], "uint32", "float", [2**24]),
        ([300], "int32", "int8", [44]),
    ],
)
def test_what_a_narrower_type_holds(
    numbers: list[float], element_type: str, narrow: str, held: list[float]
) -> None:
    assert held_in(tensor(numbers, element_type), ELEMENT_TYPES[narrow]) == tensor(held, element_type)


@pytest.mark.parametrize("word", [b"", b"a", b" a", "漢".encode()])
def test_a_spoilt_word_is_plain_text_in_no_way(word: bytes) -> None:
    assert stripped(spoilt(word)) != spoilt(word)
    assert in_ascii(spoilt(word)) != spoilt(word)


def test_a_quotient_of_long_integers_through_double_is_told() -> None:
    (case,) = cases_of("Div-14", "wide_int64_given")
    left, right = (given_to(case, name).array for name in "AB")
    through = np.trunc(left.astype(np.float64) / right.astype(np.float64))
    assert fails(case, tensor(through.astype(np.int64), "int64"))
    # The independent right answer: integers of any length.
    exact = [
        abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        for a, b in zip(left.flat, right.flat, strict=True)
    ]
    assert not fails(case, tensor(np.array(exact, dtype=np.int64).reshape(left.shape), "int64"))


def test_the_greatest_of_neighbours_that_a_float_takes_for_one_is_told() -> None:
    (case,) = cases_of("ArgMax-13", "wide_uint32_given")
    data = given_to(case, "data")
    assert data.array.max() > 2**24
    attributes = {name: attribute.numbers[0] for name, attribute in case.attributes.items()}
    assert not attributes.get("select_last_index")
    axis, keep = int(attributes.get("axis", 0)), bool(attributes.get("keepdims", 1))
    held, right = (
        np.argmax(array, axis, keepdims=keep) for array in (data.array.astype(np.float32), data.array)
    )
    assert fails(case, tensor(held, "int64"))
    assert not fails(case, tensor(right, "int64"))


def test_words_that_lose_their_blanks_are_told() -> None:
    (case,) = cases_of("Flatten-25", "words_with_blanks")
    right = case.expectations[0].outputs[0].expected
    for change in (stripped, in_ascii):
        lost = np.array([change(number) for number in right.array.flat], dtype=object).reshape(right.shape)
        assert fails(case, Tensor(right.element_type, lost))


def test_equal_is_asked_about_words_that_differ_in_blanks_alone() -> None:
    (case,) = cases_of("Equal-19", "words_with_blanks")
    left, right = (given_to(case, name).array.reshape(-1).tolist() for name in "AB")
    pairs = list(zip(left, right, strict=True))
    assert any(a != b and stripped(a) == stripped(b) for a, b in pairs)
    assert any(a != b and in_ascii(a) == in_ascii(b) for a, b in pairs)
    assert any(a == b for a, b in pairs)


@pytest.mark.parametrize("name", FIRST)
def test_an_operator_that_tells_everything_gets_no_more(name: str) -> None:
    words = {str(each.id.word) for each in cases_of(name)}
    assert not [word for word in words if word.startswith(("words_", "nothing_but", "nan_behind"))]
    assert not [word for word in words if word.startswith("wide_") and word.endswith(("_given", "_made"))]


@pytest.mark.parametrize("name", ["Max-13", "Min-13", "Add-14", "Mod-28", "ReduceMax-20"])
def test_specials_stand_beside_each_other(name: str) -> None:
    (case,) = cases_of(name, "specials_together")
    for _, given in case.inputs:
        if given is not None and given.element_type.name == "float" and given.array.size > 20:
            found = set(map(str, given.array.reshape(-1).tolist()))
            assert {"nan", "inf", "-inf", "0.0", "-0.0"} <= found


def test_specials_are_reduced_in_each_way() -> None:
    found = cases_of("ScatterElements-18", "specials_together")
    assert {each.attributes["reduction"].value for each in found} == {"add", "mul", "max", "min"}


def test_a_maximum_that_takes_nan_now_so_and_now_so_is_told() -> None:
    (case,) = cases_of("Max-13", "specials_together")
    inputs = [given.array for _, given in case.inputs if given is not None]
    shape = np.broadcast_shapes(*(array.shape for array in inputs))
    spread = [np.broadcast_to(array, shape) for array in inputs]
    propagated, ignored = np.maximum.reduce(spread), np.fmax.reduce(spread)
    assert not fails(case, tensor(propagated, "float"))
    assert not fails(case, tensor(ignored, "float"))
    turns = np.arange(propagated.size).reshape(shape) % 2 == 0
    assert fails(case, tensor(np.where(turns, propagated, ignored), "float"))


def test_nan_behind_whole_vectors_is_told() -> None:
    (case,) = cases_of("IsNaN-20", "nan_behind_vectors")
    right = case.expectations[0].outputs[0].expected.array
    assert right.size % 16
    assert right.all()
    lost = right.copy().reshape(-1)
    lost[right.size - right.size % 16 :] = False
    assert fails(case, tensor(lost.reshape(right.shape), "bool"))


def test_nan_alone_comes_out_of_what_picks_the_greatest() -> None:
    (case,) = cases_of("TopK-24", "nothing_but_nan")
    values, indices = (output.expected for output in case.expectations[0].outputs)
    assert all(map(math.isnan, values.array.reshape(-1).tolist()))
    assert fails(case, tensor(np.zeros(values.shape), "float"), indices)
