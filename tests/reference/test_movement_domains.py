"""The rules of the specs are the domains of the operators, written here once more in plain Python."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generator.making.operators.discovery import load_rules
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reference.registry import find_operator
from specs.model.domain import check_constraints
from specs.model.spec import Spec

Attributes = dict[str, int | str | tuple[int, ...]]
Inputs = dict[str, Tensor | None]
MakeCall = Callable[[st.DataObject], tuple[Attributes, Inputs]]
Allows = Callable[[Attributes, Inputs], bool]
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
    return load_rules(OperatorName.parse(operator))


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


def allows_crop_pad(attributes: Attributes, inputs: Inputs) -> bool:
    data, shape = inputs["input_data"], inputs["shape"]
    assert data is not None
    assert shape is not None
    rank = len(data.shape)
    axes = attributes.get("axes", tuple(range(rank)))
    assert isinstance(axes, tuple)
    if shape.element_type.name not in ("int32", "int64") or len(shape.shape) != 1:
        return False
    if any(axis not in range(-rank, rank) for axis in axes):
        return False
    once = len({axis % rank for axis in axes}) == len(axes) if axes else True
    return once and len(shape.array) == len(axes) and all(extent >= 0 for extent in shape.array.tolist())


def allows_pad(attributes: Attributes, inputs: Inputs) -> bool:
    data, pads, value = inputs["data"], inputs["pads"], inputs["value"]
    assert data is not None
    assert pads is not None
    rank, mode = len(data.shape), attributes.get("mode", "constant")
    if data.element_type.name not in ("float16", "float", "double") or pads.element_type.name != "int64":
        return False
    if mode not in ("constant", "reflect", "edge") or pads.shape not in ((2 * rank,), (1, 2 * rank)):
        return False
    if value is not None and (value.element_type is not data.element_type or value.shape not in ((), (1,))):
        return False
    begins, ends = pads.array.reshape(2, rank).tolist()
    for extent, begin, end in zip(data.shape, begins, ends, strict=True):
        kept, added = extent - max(0, -begin) - max(0, -end), max(begin, end)
        least = {"edge": 1, "reflect": added + 1}.get(str(mode), 0) if added > 0 else 0
        if kept < least:
            return False
    return True


def allows_batch_to_space(_: Attributes, inputs: Inputs) -> bool:
    images, block_shape, crops = inputs["input"], inputs["block_shape"], inputs["crops"]
    assert images is not None
    assert block_shape is not None
    assert crops is not None
    if any(each.element_type.name not in ("int32", "int64") for each in (block_shape, crops)):
        return False
    if len(block_shape.shape) != 1 or crops.shape != (len(block_shape.array), 2):
        return False
    blocks, spatial = block_shape.array.tolist(), images.shape[1:]
    if len(images.shape) <= len(blocks) or min(blocks, default=1) < 1 or images.shape[0] % prod(blocks):
        return False
    return all(
        min(begin, end) >= 0 and begin + end <= extent * block
        for (begin, end), extent, block in zip(crops.array.tolist(), spatial, blocks, strict=False)
    )


def allows_patches(attributes: Attributes, inputs: Inputs) -> bool:
    data = inputs["data"]
    assert data is not None
    for name in ("sizes", "strides", "rates"):
        pair = attributes.get(name)
        if not isinstance(pair, tuple) or len(pair) != 2 or min(pair) < 1:
            return False
    if attributes.get("auto_pad") not in ("same_upper", "same_lower", "valid") or len(data.shape) != 4:
        return False
    sizes, rates = attributes["sizes"], attributes["rates"]
    assert isinstance(sizes, tuple)
    assert isinstance(rates, tuple)
    reach = [(size - 1) * rate for size, rate in zip(sizes, rates, strict=True)]
    fits = all(each < extent for each, extent in zip(reach, data.shape[2:], strict=True))
    return fits or attributes["auto_pad"] != "valid"


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize(
    ("operator", "make_call", "allows"),
    [
        ("ai.onnx::CenterCropPad-18", crop_pad_call, allows_crop_pad),
        ("com.microsoft::Pad-1", pad_call, allows_pad),
        ("org.tensorflow::BatchToSpaceND-1", batch_to_space_call, allows_batch_to_space),
        ("org.openvino::ExtractImagePatches-3", patches_call, allows_patches),
    ],
)
@settings(max_examples=300, deadline=None)
@given(draw=st.data())
def test_rules_are_the_domain(
    operator: str, make_call: MakeCall, allows: Allows, draw: st.DataObject
) -> None:
    """And the reference answers whatever lies within it."""
    attributes, inputs = make_call(draw)
    broken = [constraint.id for constraint in check_constraints(spec_of(operator), attributes, inputs)]
    assert (broken == []) == allows(attributes, inputs), broken
    if not broken:
        assert find_operator(OperatorName.parse(operator)).evaluate(attributes, inputs)
