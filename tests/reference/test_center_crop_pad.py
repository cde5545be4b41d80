"""CenterCropPad against its worked examples and against an oracle that trims and grows by one element."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generator.calls.data.data import data_classes, fill
from generator.calls.data.draws import Draw
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reference.registry import find_operator
from reference.shared.movement import CLASSIC_TYPES

OPERATOR = find_operator(OperatorName.parse("ai.onnx::CenterCropPad-18"))


def answer(
    data: Tensor, extents: Sequence[int], axes: tuple[int, ...] | None = None, **readings: str
) -> Tensor:
    shape = tensor(np.array(extents, dtype=np.int64).reshape(-1))
    attributes = {} if axes is None else {"axes": axes}
    (found,) = OPERATOR.evaluate(attributes, {"input_data": data, "shape": shape}, readings)
    assert found.allowed is None
    assert not found.alternatives
    return found.expected


def distinct(shape: Sequence[int], element_type: str = "float") -> Tensor:
    return fill(element_type, shape, "distinct", Draw("center_crop_pad"))


def trim_and_grow(length: int, wanted: int) -> list[int | None]:
    """Positions of the input, None for padding: changed by turns at the end and the beginning."""
    line: list[int | None] = list(range(length))
    for turn in range(abs(wanted - length)):
        if wanted < length:
            line.pop(-1 if turn % 2 == 0 else 0)
        elif turn % 2 == 0:
            line.append(None)
        else:
            line.insert(0, None)
    return line


def oracle(data: Tensor, extents: Sequence[int], axes: tuple[int, ...] | None) -> Tensor:
    lines: list[list[int | None]] = [list(range(extent)) for extent in data.shape]
    for place, extent in enumerate(extents):
        axis = place if axes is None else axes[place]
        lines[axis] = trim_and_grow(data.shape[axis], extent)
    zero: object = b"" if data.element_type.kind == "string" else 0
    output = np.full([len(line) for line in lines], zero, dtype=data.array.dtype)
    for index in np.ndindex(output.shape):
        source = tuple(line[position] for line, position in zip(lines, index, strict=True))
        if None not in source:
            output[index] = data.array[source]
    return Tensor(data.element_type, output)


EXAMPLES = [
    ((20, 10, 3), (10, 7, 3), None, np.s_[5:15, 1:8, :], np.s_[:, :, :]),
    ((10, 7, 3), (20, 10, 3), None, np.s_[:, :, :], np.s_[5:15, 1:8, :]),
    ((20, 8, 3), (10, 10, 3), None, np.s_[5:15, :, :], np.s_[:, 1:9, :]),
    ((20, 8, 3), (10, 9), (0, 1), np.s_[5:15, :, :], np.s_[:, :8, :]),
    ((3, 20, 8), (10, 9), (1, 2), np.s_[:, 5:15, :], np.s_[:, :, :8]),
    ((20, 8, 3), (10, 9), (-3, -2), np.s_[5:15, :, :], np.s_[:, :8, :]),
]


@pytest.mark.parametrize(("shape", "extents", "axes", "taken", "placed"), EXAMPLES)
def test_worked_examples(
    shape: tuple[int, ...],
    extents: tuple[int, ...],
    axes: tuple[int, ...] | None,
    taken: tuple[slice, ...],
    placed: tuple[slice, ...],
) -> None:
    data = distinct(shape)
    found = answer(data, extents, axes)
    printed = np.zeros(found.shape, dtype=np.float32)
    printed[placed] = data.array[taken]
    assert found == tensor(printed)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_equals_the_oracle_in_every_element_type(draw: st.DataObject) -> None:
    shape = draw.draw(st.lists(st.integers(0, 5), min_size=0, max_size=4))
    element_type = draw.draw(st.sampled_from(CLASSIC_TYPES))
    data_class = draw.draw(st.sampled_from(data_classes(element_type)))
    data = fill(element_type, shape, data_class, Draw(f"{shape}"))
    axes: tuple[int, ...] | None = None
    count = len(shape)
    if draw.draw(st.booleans()):
        order = draw.draw(st.permutations(range(len(shape))))
        count = draw.draw(st.integers(0, len(shape)))
        axes = tuple(axis - len(shape) * draw.draw(st.integers(0, 1)) for axis in order[:count])
    extents = draw.draw(st.lists(st.integers(0, 7), min_size=count, max_size=count))
    assert answer(data, extents, axes) == oracle(data, extents, axes)


def test_official_node_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    official = importlib.import_module("onnx.backend.test.case.node.center_crop_pad")
    compared = []

    def compare(node: Any, inputs: list[Any], outputs: list[Any], name: str) -> None:
        axes = tuple(node.attribute[0].ints) if node.attribute else None
        assert answer(tensor(inputs[0]), inputs[1].tolist(), axes) == tensor(outputs[0]), name
        compared.append(name)

    monkeypatch.setattr(official, "expect", compare)
    for name, export in vars(official.CenterCropPad).items():
        if name.startswith("export"):
            export()
    assert len(compared) == 6


def test_readings_of_an_odd_difference() -> None:
    line = tensor(np.arange(1, 8, dtype=np.int32))
    assert answer(line, [4]).array.tolist() == [2, 3, 4, 5]
    assert answer(line, [4], odd_crop="start_rounded_up").array.tolist() == [3, 4, 5, 6]
    assert answer(line, [8]).array.tolist() == [1, 2, 3, 4, 5, 6, 7, 0]
    assert answer(line, [8], odd_pad="extra_at_begin").array.tolist() == [0, 1, 2, 3, 4, 5, 6, 7]
    for extents, centred in (([3], [3, 4, 5]), ([9], [0, 1, 2, 3, 4, 5, 6, 7, 0])):
        assert answer(line, extents).array.tolist() == centred
        other = answer(line, extents, odd_crop="start_rounded_up", odd_pad="extra_at_begin")
        assert other.array.tolist() == centred


def test_strings_are_padded_by_what_the_behaviour_says() -> None:
    word = tensor(["é"])
    assert answer(word, [3]).array.tolist() == [b"", "é".encode(), b""]
    assert answer(word, [3], string_padding="digit_zero").array.tolist() == [b"0", "é".encode(), b"0"]


def test_every_pair_of_extents_up_to_nine() -> None:
    for length, wanted in itertools.product(range(10), repeat=2):
        line = distinct([length], "int16")
        assert answer(line, [wanted]) == oracle(line, [wanted], None)
