"""Calls of CenterCropPad: which axes, and by how much each is cropped or padded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from generator.calls import Call
from generator.data import fill
from generator.draws import Draw
from opcert.vocabulary.attributes import Attribute
from opcert.vocabulary.tensors import Tensor, tensor
from specs.model import Spec

OPERATORS = ("ai.onnx::CenterCropPad-18",)

FOCUS = {"element_type": "float", "shape_type": "int64"}

_KEPT = (3, 2, 4, 1, 5)
"""The smaller of input and output extent along each axis, before they are shuffled."""
_AMOUNTS = {"same": 0, "crop_odd": 1, "crop_even": 2, "pad_odd": -1, "pad_even": -2}


def build_call(_spec: Spec, levels: Mapping[str, str], draw: Draw) -> Call | None:
    """The call of these levels; None where the rank has too few axes for them."""
    rank = int(levels["rank"])
    axes = _axes(rank, levels["axes"], draw.child("axes"))
    if axes is not None and not axes:
        return None
    chosen = range(rank) if axes is None else [axis % rank for axis in axes]
    if len(chosen) == 1 and levels["others"] != "same":
        return None
    kept = draw.child("kept").shuffled(_KEPT[: max(rank, 2)])[:rank]
    shape, extents = list(kept), []
    varied = draw.child("varied").shuffled(list(_AMOUNTS))
    for place, axis in enumerate(chosen):
        if place == 0:
            surplus = _AMOUNTS[levels["first"]] * (3 if levels["amount"] == "more" else 1)
        elif levels["others"] == "varied":
            surplus = _AMOUNTS[varied[place % len(varied)]]
        else:
            surplus = _AMOUNTS[levels["others"]]
        shape[axis] = kept[axis] + max(surplus, 0)
        extents.append(kept[axis] + max(-surplus, 0))
    data = fill(levels["element_type"], shape, levels["data"], draw.child("data"))
    return _call(data, extents, axes, levels["shape_type"])


def boundary_calls(_spec: Spec, draw: Draw) -> Iterator[tuple[str, Mapping[str, str], Call]]:
    """No axes, no elements, extents of one, high ranks, the axes at the ends of their range."""
    edges: list[tuple[str, str, Sequence[int], Sequence[int], tuple[int, ...] | None]] = [
        ("rank_0", "float", (), (), None),
        ("no_axes", "float", (3, 2), (), ()),
        ("crop_to_nothing", "float", (4, 3), (0, 3), None),
        ("crop_to_nothing_strings", "string", (3,), (0,), None),
        ("pad_from_nothing", "float", (0, 3), (2, 4), None),
        ("pad_from_nothing_strings", "string", (0,), (3,), None),
        ("nothing_stays", "int8", (0, 2), (0, 2), None),
        ("nothing_with_padding_beside", "float", (0, 2), (0, 5), None),
        ("everything_to_one", "int64", (5, 4, 6), (1, 1, 1), None),
        ("one_to_two", "int32", (1, 1), (2, 2), None),
        ("two_to_one", "int32", (2, 2), (1, 1), None),
        ("one_to_many", "uint8", (1,), (1000,), None),
        ("many_to_one", "uint8", (1001,), (1,), None),
        ("many_to_few", "double", (997, 2), (8, 3), None),
        ("rank_8", "float16", (2, 1, 3, 1, 2, 1, 2, 2), (1, 2, 3, 2, 1, 1, 3, 2), None),
        ("lowest_axis", "float", (3, 4), (2,), (-2,)),
        ("highest_axis", "float", (3, 4), (7,), (1,)),
        ("lowest_and_highest_axis", "bfloat16", (3, 4, 5), (6, 2), (-3, 2)),
    ]
    for word, element_type, shape, extents, axes in edges:
        data = fill(element_type, shape, "distinct", draw.child(word))
        yield word, _levels(data, axes, "distinct"), _call(data, extents, axes)
    for data_class in ("nonfinite", "signed_zero", "subnormal", "huge"):
        for element_type in ("float", "bfloat16", "complex64"):
            word = f"{data_class}_{element_type}"
            data = fill(element_type, (4, 5), data_class, draw.child(word))
            yield word, _levels(data, None, data_class), _call(data, (3, 8))


def invalid_calls(_spec: Spec, draw: Draw) -> Iterator[tuple[str, Call, Call]]:
    """Axes out of range or repeated; extents that are negative, too few, too many, or no list of integers."""
    data = fill("float", (3, 4, 5), "distinct", draw.child("data"))
    valid = _call(data, (2, 6, 4))
    some = _call(data, (2, 6), (0, 1))
    extents = [2, 6, 4]
    for element_type in ("float", "int16", "uint64"):
        yield "shape_type", valid, valid.with_input("shape", tensor(extents, element_type))
    for axes in ((1, 3), (-4, 1), (0, 100)):
        yield "axes_range", some, some.with_attribute("axes", Attribute("ints", axes))
    for axes in ((1, 1), (1, -2)):
        yield "axes_unique", some, some.with_attribute("axes", Attribute("ints", axes))
    yield "shape_rank", valid, valid.with_input("shape", tensor([extents], "int64"))
    yield "one_extent_for_each_axis", valid, valid.with_input("shape", tensor([2, 6], "int64"))
    yield "one_extent_for_each_axis", valid, valid.with_input("shape", tensor([2, 6, 4, 1], "int64"))
    yield "one_extent_for_each_axis", some, some.with_input("shape", tensor([2], "int64"))
    for negative in ([2, -1, 4], [-(2**62), 6, 4]):
        yield "extents_not_negative", valid, valid.with_input("shape", tensor(negative, "int64"))


def _axes(rank: int, level: str, draw: Draw) -> tuple[int, ...] | None:
    if level == "absent":
        return None
    every = list(range(rank))
    if level == "permuted":
        every = [*every[1:], 0] if rank > 1 else []
    elif level == "partial":
        every.remove(draw.choice(every))
    elif level == "negative":
        every = [axis - rank for axis in every]
    elif level == "mixed_signs":
        order = draw.shuffled(every)
        every = [axis - rank if place % 2 == 0 else axis for place, axis in enumerate(order)]
        every = every if rank > 1 else []
    return tuple(every)


def _call(
    data: Tensor, extents: Sequence[int], axes: tuple[int, ...] | None = None, shape_type: str = "int64"
) -> Call:
    attributes = {} if axes is None else {"axes": Attribute("ints", axes)}
    shape = tensor(np.array(extents, dtype=np.int64), shape_type)
    return Call(attributes, (("input_data", data), ("shape", shape)))


def _levels(data: Tensor, axes: tuple[int, ...] | None, data_class: str) -> dict[str, str]:
    found = {"element_type": data.element_type.name, "data": data_class, "shape_type": "int64"}
    if axes is None:
        found["axes"] = "absent"
    return found
