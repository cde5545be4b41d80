"""Pad of com.microsoft against its worked examples and an oracle that adds one element at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from generator.calls.data.data import data_classes, fill
from generator.calls.data.draws import Draw
from generator.making.operators.discovery import load_rules
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reference.registry import find_operator
from specs.model.domain import check_constraints

RULES = load_rules(OperatorName.parse("com.microsoft::Pad-1"))
OPERATOR = find_operator(OperatorName.parse("com.microsoft::Pad-1"))
TYPES = ("float16", "float", "double")


def answer(data: Tensor, pads: object, mode: str | None = None, value: Tensor | None = None) -> Tensor:
    attributes = {} if mode is None else {"mode": mode}
    inputs = {"data": data, "pads": tensor(np.array(pads, dtype=np.int64)), "value": value}
    (found,) = OPERATOR.evaluate(attributes, inputs)
    assert found.allowed is None
    assert not found.alternatives
    return found.expected


def floats(values: object) -> Tensor:
    return tensor(np.array(values, dtype=np.float32))


def oracle_line(length: int, begin: int, end: int, mode: str) -> list[int | None]:
    """One axis: where each output element comes from, None for the given value.

    What is removed goes first. In reflection a walker leaves the kept elements through their end and comes
    back over the elements that it has left behind.
    """
    kept = list(range(length))
    for _ in range(-begin):
        kept.pop(0)
    for _ in range(-end):
        kept.pop()
    before: list[int | None] = []
    after: list[int | None] = []
    for count, added, source in ((begin, before, kept), (end, after, kept[::-1])):
        for step in range(count):
            if mode == "constant":
                added.append(None)
            else:
                added.append(source[0] if mode == "edge" else source[1:][step])
    return [*reversed(before), *kept, *after]


def oracle(data: Tensor, pads: Sequence[int], mode: str, value: Tensor | None) -> Tensor:
    rank = len(data.shape)
    lines = [oracle_line(data.shape[axis], pads[axis], pads[rank + axis], mode) for axis in range(rank)]
    output = np.zeros([len(line) for line in lines], dtype=data.array.dtype)
    for index in np.ndindex(output.shape):
        source = tuple(line[position] for line, position in zip(lines, index, strict=True))
        if None not in source:
            output[index] = data.array[source]
        elif value is not None:
            output[index] = value.array.reshape(-1)[0]
    return Tensor(data.element_type, output)


def test_example_of_the_summary() -> None:
    data = floats([[1.0, 1.2], [2.3, 3.4], [4.5, 5.7]])
    printed = [[0.0, 0.0, 1.0, 1.2], [0.0, 0.0, 2.3, 3.4], [0.0, 0.0, 4.5, 5.7]]
    assert answer(data, [0, 2, 0, 0]) == floats(printed)


def test_examples_of_another_domain_hold_where_they_fit() -> None:
    """The page shows calls of ai.onnx Pad; two are calls of this operator too (with a float type)."""
    data = fill("float", (1, 3, 4, 5), "distinct", Draw("pad"))
    found = answer(data, [0, 0, 1, 3, 0, 0, 2, 4], "constant", floats(1.2))
    assert found.shape == (1, 3, 7, 12)
    assert np.array_equal(found.array[:, :, 1:5, 3:8], data.array)
    assert np.count_nonzero(found.array == np.float32(1.2)) == found.array.size - data.array.size
    edge = answer(data, [0, 0, 1, 1, 0, 0, 1, 1], "edge").array
    reflect = answer(data, [0, 0, 1, 1, 0, 0, 1, 1], "reflect").array
    assert edge[0, 2, 0, 0] == data.array[0, 2, 0, 0]
    assert reflect[0, 2, 0, 0] == data.array[0, 2, 1, 1]


def test_modes_and_removal_on_one_line() -> None:
    line = floats([1, 2, 3, 4])
    assert answer(line, [3, 3], "reflect").array.tolist() == [4, 3, 2, 1, 2, 3, 4, 3, 2, 1]
    assert answer(line, [2, 5], "edge").array.tolist() == [1, 1, 1, 2, 3, 4, 4, 4, 4, 4, 4]
    assert answer(line, [-1, 2], "reflect").array.tolist() == [2, 3, 4, 3, 2]
    assert answer(line, [2, -2], "edge").array.tolist() == [1, 1, 1, 2]
    assert answer(line, [-1, 2]).array.tolist() == [2, 3, 4, 0, 0]
    assert answer(line, [-4, 3], None, floats([9])).array.tolist() == [9, 9, 9]
    assert answer(line, [[-3, -1]]).shape == (0,)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_equals_the_oracle(draw: st.DataObject) -> None:
    shape = draw.draw(st.lists(st.integers(0, 5), min_size=0, max_size=4))
    element_type = draw.draw(st.sampled_from(TYPES))
    mode = draw.draw(st.sampled_from(["constant", "reflect", "edge"]))
    data = fill(element_type, shape, draw.draw(st.sampled_from(data_classes(element_type))), Draw("x"))
    pads = draw.draw(st.lists(st.integers(-3, 4), min_size=2 * len(shape), max_size=2 * len(shape)))
    value = None
    if draw.draw(st.booleans()):
        form: tuple[int, ...] = draw.draw(st.sampled_from([(), (1,)]))
        value = fill(element_type, form, draw.draw(st.sampled_from(data_classes(element_type))), Draw("v"))
    try:
        expected = oracle(data, pads, mode, value)
    except IndexError:
        assume(False)
    packed = [pads] if draw.draw(st.booleans()) else pads
    assert answer(data, packed, mode, value) == expected


@settings(max_examples=100, deadline=None)
@given(
    st.integers(0, 4),
    st.integers(-5, 5),
    st.integers(-5, 5),
    st.sampled_from(["constant", "reflect", "edge"]),
)
def test_a_rule_is_broken_exactly_where_the_oracle_finds_nothing(
    length: int, begin: int, end: int, mode: str
) -> None:
    line = fill("float", (length,), "distinct", Draw("line"))
    inputs = {"data": line, "pads": tensor([begin, end]), "value": None}
    broken = check_constraints(RULES, {"mode": mode}, inputs)
    try:
        expected = oracle(line, (begin, end), mode, None)
    except IndexError:
        assert broken
    else:
        assert not broken
        assert answer(line, (begin, end), mode) == expected
