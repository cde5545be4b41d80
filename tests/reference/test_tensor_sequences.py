"""Sequences and optionals against Python's lists, and against the operators of ONNX's own evaluator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import Answer
from reference.registry import find_operator

Array = NDArray[Any]
LISTS = st.lists(st.lists(st.integers(-9, 9), max_size=3), max_size=5)
OF_ONNX = "seq(tensor(int64))"


def arrays_of(lists: Sequence[Sequence[int]]) -> list[Array]:
    return [np.array(each, np.int64) for each in lists]


def given_as(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(tensor(each) for each in value)
    return value if value is None else tensor(np.asarray(value))


def answer(name: str, inputs: Mapping[str, Any], **attributes: Any) -> Any:
    """What the reference answers: an array, a list of these, or None for an optional of nothing."""
    found = find_operator(OperatorName.parse(f"ai.onnx::{name}"))
    (given_back,) = found.evaluate(attributes, {key: given_as(value) for key, value in inputs.items()})
    if given_back.parts is None:
        return None
    if given_back.parts or (given_back.expected.element_type.name == "int64" and name in SEQUENCES):
        parts = [part.expected if isinstance(part, Answer) else part for part in given_back.parts]
        assert given_back.expected == tensor(np.array(len(parts), np.int64))
        return [part.array for part in parts]
    assert isinstance(given_back.expected, Tensor)
    return given_back.expected.array


SEQUENCES = ("SequenceEmpty-11", "SequenceConstruct-11", "SequenceInsert-11", "SequenceErase-11")


def same(got: Any, wanted: Any) -> bool:
    if isinstance(wanted, list):
        return isinstance(got, list) and len(got) == len(wanted) and all(map(same, got, wanted))
    return bool(got.dtype == wanted.dtype and got.shape == wanted.shape and np.array_equal(got, wanted))


@given(LISTS.filter(bool), st.data())
def test_positions_are_those_of_lists(lists: list[list[int]], data: st.DataObject) -> None:
    arrays = arrays_of(lists)
    place = data.draw(st.integers(-len(arrays), len(arrays) - 1))
    position = np.array(place, np.int64)
    taken = answer("SequenceAt-11", {"input_sequence": arrays, "position": position})
    assert same(taken, arrays[place])
    left = list(arrays)
    del left[place]
    assert same(answer("SequenceErase-11", {"input_sequence": arrays, "position": position}), left)
    assert same(answer("SequenceErase-11", {"input_sequence": arrays, "position": None}), arrays[:-1])


@given(LISTS, st.data())
def test_insertion_is_that_of_lists(lists: list[list[int]], data: st.DataObject) -> None:
    arrays, new = arrays_of(lists), np.array([77], np.int64)
    place = data.draw(st.integers(-len(arrays), len(arrays)))
    wanted = list(arrays)
    wanted.insert(place, new)
    inputs = {"input_sequence": arrays, "tensor": new, "position": np.array(place, np.int32)}
    assert same(answer("SequenceInsert-11", inputs), wanted)
    assert same(answer("SequenceInsert-11", {**inputs, "position": None}), [*arrays, new])


@given(LISTS)
def test_a_sequence_is_its_tensors(lists: list[list[int]]) -> None:
    arrays = arrays_of(lists)
    assert answer("SequenceLength-11", {"input_sequence": arrays}) == len(arrays)
    if arrays:
        assert same(answer("SequenceConstruct-11", {"inputs": arrays}), arrays)
    assert same(answer("SequenceEmpty-11", {}, dtype=7), [])


def by_onnx(name: str, inputs: Sequence[Any], **attributes: Any) -> Any:
    """What ONNX's evaluator makes of a node."""
    names = [f"x{place}" for place in range(len(inputs))]
    kinds = []
    for each, value in zip(names, inputs, strict=True):
        if isinstance(value, list):
            kinds.append(helper.make_tensor_sequence_value_info(each, TensorProto.FLOAT, None))
        else:
            code = helper.np_dtype_to_tensor_dtype(value.dtype)
            kinds.append(helper.make_tensor_value_info(each, code, list(value.shape)))
    node = helper.make_node(name, names, ["y"], **attributes)
    output = helper.make_empty_tensor_value_info("y")
    graph = helper.make_graph([node], "g", kinds, [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    (found,) = ReferenceEvaluator(model).run(None, dict(zip(names, inputs, strict=True)))
    return found


@pytest.mark.parametrize(("axis", "new_axis"), [(0, 0), (1, 0), (-2, 0), (0, 1), (2, 1), (-1, 1), (-3, 1)])
def test_concatenation_is_that_of_onnx(axis: int, new_axis: int) -> None:
    arrays = [np.arange(6, dtype=np.float32).reshape(2, 3) + 10 * place for place in range(3)]
    got = answer("ConcatFromSequence-11", {"input_sequence": arrays}, axis=axis, new_axis=new_axis)
    assert same(got, by_onnx("ConcatFromSequence", [arrays], axis=axis, new_axis=new_axis))


@pytest.mark.parametrize("version", [11, 24])
@pytest.mark.parametrize(
    ("split", "axis", "keepdims"),
    [
        (None, 0, 1), (None, 1, 0), (None, -1, 0), (np.array(2), 0, 1), (np.array(4), 1, 1),
        (np.array(7), 0, 1), (np.array([2, 3]), 0, 1), (np.array([1, 2, 1]), -1, 1), (np.array([5]), 0, 1),
    ],
)  # fmt: skip
def test_splitting_is_that_of_onnx(version: int, split: Array | None, axis: int, keepdims: int) -> None:
    x = np.arange(20, dtype=np.float32).reshape(5, 4)
    name = f"SplitToSequence-{version}"
    found = find_operator(OperatorName.parse(f"ai.onnx::{name}"))
    given_split = {} if split is None else {"split": tensor(split.astype(np.int64))}
    (got,) = found.evaluate({"axis": axis, "keepdims": keepdims}, {"input": tensor(x), **given_split})
    parts = [part.expected.array if isinstance(part, Answer) else part.array for part in got.parts or ()]
    inputs = [x] if split is None else [x, split.astype(np.int64)]
    assert same(parts, by_onnx("SplitToSequence", inputs, axis=axis, keepdims=keepdims))


def test_keepdims_is_ignored_beside_split() -> None:
    found = find_operator(OperatorName.parse("ai.onnx::SplitToSequence-24"))
    x, one = tensor(np.zeros((2, 3), np.float32)), tensor(np.array(1, np.int64))
    (got,) = found.evaluate({"keepdims": 0}, {"input": x, "split": one})
    assert [part.expected.shape for part in got.parts or () if isinstance(part, Answer)] == [(1, 3), (1, 3)]


def test_optionals_hold_what_they_are_given() -> None:
    x = np.array([1, 2], np.float32)
    for name in ("Optional-28", "OptionalGetElement-28"):
        assert same(answer(name, {"input": x}), x)
        assert same(answer(name, {"input": [x, x]}), [x, x])
    assert answer("Optional-28", {"input": None}, type="tensor(float)") is None
    for given_value, held in ((x, True), ([x], True), ([], True), (None, False)):
        assert answer("OptionalHasElement-28", {"input": given_value}) == held
