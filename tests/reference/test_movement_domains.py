"""The constraints of the specs and the domains of the references say the same of every small call."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import OutsideDomain
from reference.registry import find_operator
from specs.domain import check_constraints
from specs.library import load_spec
from specs.model import Spec

Attributes = dict[str, int | str | tuple[int, ...]]
Inputs = dict[str, Tensor | None]
MakeCall = Callable[[st.DataObject], tuple[Attributes, Inputs]]
INDEX_TYPES = st.sampled_from(["int64"] * 4 + ["int32", "int16"])
FAULTS_OF_PATCHES: list[tuple[str, int | str | tuple[int, ...] | None]] = [
    *((name, None) for name in ("sizes", "strides", "rates", "auto_pad")),
    *((name, pair) for name in ("sizes", "strides", "rates") for pair in ((0, 2), (2, -3), (), (1, 1, 1))),
    ("auto_pad", "explicit"),
    ("data", 3),
    ("data", 5),
]


@cache
def spec_of(operator: str) -> Spec:
    return load_spec(OperatorName.parse(operator))


def zeros(shape: list[int], element_type: str = "float") -> Tensor:
    return tensor(np.zeros(shape), element_type)


def numbers(draw: st.DataObject, low: int, high: int, count: int) -> list[int]:
    slack = draw.draw(st.sampled_from([0, 0, 0, 0, 1, -1]))
    count = max(0, count + slack)
    return draw.draw(st.lists(st.integers(low, high), min_size=count, max_size=count))


def crop_pad_call(draw: st.DataObject) -> tuple[Attributes, Inputs]:
    shape = draw.draw(st.lists(st.integers(0, 4), max_size=3))
    attributes: Attributes = {}
    count = len(shape)
    if draw.draw(st.booleans()):
        axes = draw.draw(st.lists(st.integers(-len(shape) - 1, len(shape)), max_size=3))
        attributes["axes"] = tuple(axes)
        count = len(axes)
    extents = np.array(numbers(draw, -1, 5, count), dtype=np.int64)
    form = draw.draw(st.sampled_from([(extents.size,), (extents.size,), (1, extents.size)]))
    wanted = tensor(extents.reshape(form), draw.draw(INDEX_TYPES))
    return attributes, {"input_data": zeros(shape), "shape": wanted}


def pad_call(draw: st.DataObject) -> tuple[Attributes, Inputs]:
    shape = draw.draw(st.lists(st.integers(0, 4), max_size=2))
    attributes: Attributes = {}
    if draw.draw(st.booleans()):
        attributes["mode"] = draw.draw(st.sampled_from(["constant", "reflect", "edge", "wrap"]))
    pads = np.array(numbers(draw, -3, 4, 2 * len(shape)), dtype=np.int64)
    form: list[tuple[int, ...]] = [(-1,), (1, -1)] if pads.size else [(0,), (1, 0)]
    value = draw.draw(st.sampled_from([None, zeros([]), zeros([1]), zeros([2]), zeros([], "double")]))
    types = draw.draw(st.sampled_from(["float", "float", "float", "int32"]))
    packed = tensor(pads.reshape(draw.draw(st.sampled_from(form))), draw.draw(INDEX_TYPES))
    return attributes, {"data": zeros(shape, types), "pads": packed, "value": value}


def batch_to_space_call(draw: st.DataObject) -> tuple[Attributes, Inputs]:
    shape = draw.draw(st.lists(st.integers(1, 4), min_size=2, max_size=3))
    shape[0] = draw.draw(st.sampled_from([4, 4, 12, 2, 0, 3]))
    blocks = draw.draw(st.lists(st.sampled_from([1, 2, 2, 3, 0]), max_size=2))
    crops = np.array(numbers(draw, 0, 2, 2 * len(blocks)), dtype=np.int64)
    if crops.size and draw.draw(st.sampled_from([False, False, False, True])):
        crops[0] = draw.draw(st.sampled_from([-1, 9]))
    width = 2 if crops.size % 2 == 0 else 1
    form = draw.draw(st.sampled_from([(len(blocks),), (len(blocks),), (1, len(blocks))]))
    block_shape = tensor(np.array(blocks, dtype=np.int64).reshape(form), draw.draw(INDEX_TYPES))
    amounts = tensor(crops.reshape(-1, width), draw.draw(INDEX_TYPES))
    return {}, {"input": zeros(shape), "block_shape": block_shape, "crops": amounts}


def patches_call(draw: st.DataObject) -> tuple[Attributes, Inputs]:
    shape = draw.draw(st.lists(st.integers(1, 6), min_size=4, max_size=4))
    attributes: Attributes = {
        name: draw.draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
        for name in ("sizes", "strides", "rates")
    }
    attributes["auto_pad"] = draw.draw(st.sampled_from(["valid", "same_upper", "same_lower"]))
    for name, fault in draw.draw(st.lists(st.sampled_from(FAULTS_OF_PATCHES), max_size=2)):
        if name == "data":
            shape = [2, 3, 4, 3, 2][: int(str(fault))]
        elif fault is None:
            attributes.pop(name, None)
        else:
            attributes[name] = fault
    return attributes, {"data": zeros(shape)}


@pytest.mark.parametrize(
    ("operator", "make_call"),
    [
        ("ai.onnx::CenterCropPad-18", crop_pad_call),
        ("com.microsoft::Pad-1", pad_call),
        ("org.tensorflow::BatchToSpaceND-1", batch_to_space_call),
        ("org.openvino::ExtractImagePatches-3", patches_call),
    ],
)
@settings(max_examples=300, deadline=None)
@given(draw=st.data())
def test_constraints_are_the_domain(operator: str, make_call: MakeCall, draw: st.DataObject) -> None:
    attributes, inputs = make_call(draw)
    broken = [each.id for each in check_constraints(spec_of(operator), attributes, inputs)]
    reference = find_operator(OperatorName.parse(operator))
    if broken:
        with pytest.raises(OutsideDomain):
            reference.evaluate(attributes, inputs)
    else:
        reference.evaluate(attributes, inputs)
