"""Calls of Pad (com.microsoft): modes, and what is added to or removed from each axis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from generator.calls import Call
from generator.data import fill
from generator.draws import Draw
from generator.floats import not_numbers, sign_bit
from opcert.vocabulary.attributes import Attribute
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor, tensor
from specs.model import Spec

OPERATORS = ("com.microsoft::Pad-1",)

_AMOUNTS = {
    "none": (0, 0), "begin": (2, 0), "end": (0, 2), "both": (1, 2), "remove_begin": (-1, 0),
    "remove_end": (0, -2), "remove_both": (-2, -1),
}  # fmt: skip
_MIXED = ((-1, 2), (1, -2), (0, -1), (3, 0))


def build_call(_spec: Spec, levels: Mapping[str, str], draw: Draw) -> Call | None:
    """The call of these levels; None for a reflection of more elements than an axis has."""
    rank = int(levels["rank"])
    if levels["pads"] == "beyond" and levels["mode"] == "reflect":
        return None
    smallest = 2 if levels["pads"] in ("greatest_reflection", "beyond") else 4
    shape = draw.child("shape").shuffled(range(smallest, smallest + rank))
    chosen = {"first": {0}, "last": {rank - 1}, "every": set(range(rank))}[levels["padded_axes"]]
    pairs = [
        _amounts(levels["pads"], extent, axis) if axis in chosen else (0, 0)
        for axis, extent in enumerate(shape)
    ]
    element_type = levels["element_type"]
    data = fill(element_type, shape, levels["data"], draw.child("data"))
    value = None
    if levels["value"] != "absent":
        form = () if levels["value"] == "scalar" else (1,)
        value = _value(element_type, levels["value_data"], form, draw.child("value"))
    elif levels["value_data"] != "ordinary":
        return None
    pads = [begin for begin, _ in pairs] + [end for _, end in pairs]
    return _call(data, pads, levels["mode"], value, levels["pads_rank"] == "2")


def boundary_calls(_spec: Spec, draw: Draw) -> Iterator[tuple[str, Mapping[str, str], Call]]:
    """No axes, no elements, everything removed, extents of one, the greatest reflection, special values."""
    edges: list[tuple[str, Sequence[int], Sequence[int], str]] = [
        ("rank_0", (), (), "constant"),
        ("nothing_padded_beside", (0, 3), (0, 1, 0, 2), "constant"),
        ("nothing_padded_beside_edge", (0, 3), (0, 1, 0, 2), "edge"),
        ("nothing_padded_beside_reflect", (0, 3), (0, 1, 0, 2), "reflect"),
        ("nothing_filled", (0, 3), (1, 0, 2, 0), "constant"),
        ("nothing_stays", (0, 3), (0, 0, 0, 0), "reflect"),
        ("everything_removed", (4, 3), (-1, 0, -3, 0), "constant"),
        ("everything_removed_edge", (4, 3), (-1, 0, -3, 0), "edge"),
        ("everything_removed_reflect", (4, 3), (-1, 0, -3, 0), "reflect"),
        ("everything_replaced", (4, 3), (-4, 0, 3, 0), "constant"),
        ("extent_1_constant", (1,), (1, 2), "constant"),
        ("extent_1_edge", (1, 1), (1, 2, 3, 4), "edge"),
        ("extent_1_unreflected", (1, 3), (0, 2, 0, 1), "reflect"),
        ("extent_2_reflect", (2,), (1, 1), "reflect"),
        ("all_but_one_removed", (5,), (-2, -2), "edge"),
        ("one_left_then_repeated", (5,), (3, -4), "edge"),
        ("two_left_then_reflected", (5,), (-3, 1), "reflect"),
        ("greatest_reflection", (5,), (4, 4), "reflect"),
        ("long_edge", (3,), (500, 500), "edge"),
        ("rank_8", (2, 1, 2, 1, 3, 1, 2, 2), (1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, -1, 0, 0, 0), "edge"),
    ]
    for word, shape, pads, mode in edges:
        data = fill("float", shape, "distinct", draw.child(word))
        yield word, {"element_type": "float", "mode": mode, "data": "distinct"}, _call(data, pads, mode)
    for element_type in ("float", "float16", "double"):
        for value_data in ("negative_zero", "nan", "infinity", "subnormal"):
            word = f"value_{value_data}_{element_type}"
            data = fill(element_type, (2, 3), "distinct", draw.child(word))
            value = _value(element_type, value_data, (), draw)
            levels = {"element_type": element_type, "mode": "constant", "value_data": value_data}
            yield word, levels, _call(data, (1, 0, 0, 2), "constant", value)


def invalid_calls(_spec: Spec, draw: Draw) -> Iterator[tuple[str, Call, Call]]:
    """Pads of other shapes and types, values that are no single element, and what no mode can fill."""
    data = fill("float", (3, 4), "distinct", draw.child("data"))
    value = fill("float", (), "constant", draw.child("value"))
    valid = _call(data, (1, 0, 0, 2), "constant", value)
    for numbers in ([1, 0, 0], [1, 0, 0, 2, 0, 0], [[1, 0], [0, 2]], [[1], [0], [0], [2]], [[[1, 0, 0, 2]]]):
        yield "pads_shape", valid, valid.with_input("pads", tensor(numbers, "int64"))
    yield "pads_type", valid, valid.with_input("pads", tensor([1, 0, 0, 2], "int32"))
    yield (
        "data_type",
        valid,
        _call(tensor(np.arange(12).reshape(3, 4), "int32"), (1, 0, 0, 2), "constant", tensor(7, "int32")),
    )
    yield "value_type", valid, valid.with_input("value", tensor(7.0, "double"))
    for values in ([7.0, 8.0], [[7.0]], []):
        yield "value_is_one_element", valid, valid.with_input("value", tensor(values, "float"))
    for mode in ("wrap", "symmetric", "", "Constant"):
        yield "mode_known", valid, valid.with_attribute("mode", Attribute("string", mode))
    low = -(2**31)  # twice that number is 0 in 32 bits
    for pads in ((-4, 0, 0, 0), (-2, 0, -2, 0), (0, -5, 0, 5), (-(2**62), 0, 0, 0), (low, 0, low, 0)):
        yield "no_more_removed_than_there_is", valid, _call(data, pads, "constant", value)
    edge = _call(data, (1, 0, 0, 2), "edge")
    yield "edge_repeats_something", edge, _call(fill("float", (0, 4), "distinct", draw), (1, 0, 0, 2), "edge")
    yield "edge_repeats_something", edge, _call(data, (-3, 0, 2, 0), "edge")
    reflect = _call(data, (1, 0, 0, 2), "reflect")
    for pads in ((3, 0, 0, 0), (0, 9, 0, 0), (0, 2, 0, -2), (-2, 0, 1, 0)):
        yield "reflection_within_what_is_kept", reflect, _call(data, pads, "reflect")


def _amounts(level: str, extent: int, axis: int) -> tuple[int, int]:
    """What is added at the beginning and at the end of an axis; negative where it is removed."""
    if level == "mixed":
        return _MIXED[axis % len(_MIXED)]
    if level == "greatest_reflection":
        return extent - 1, extent - 1
    if level == "beyond":
        return (extent + 1, 0) if axis % 2 == 0 else (0, extent)
    return _AMOUNTS[level]


def _value(element_type: str, level: str, form: tuple[int, ...], draw: Draw) -> Tensor:
    kind = ELEMENT_TYPES[element_type]
    if level == "ordinary":
        return fill(element_type, form, "constant", draw)
    codes = {
        "negative_zero": sign_bit(kind),
        "nan": not_numbers(kind)[0],
        "infinity": not_numbers(kind)[2],
        "subnormal": 1,
    }
    bits = np.full(form, codes[level], dtype=f"u{kind.bits // 8}")
    return Tensor(kind, bits.view(kind.storage))


def _call(
    data: Tensor, pads: Sequence[int], mode: str, value: Tensor | None = None, two_dimensions: bool = False
) -> Call:
    attributes = {} if mode == "absent" else {"mode": Attribute("string", mode)}
    amounts = np.array(pads, dtype=np.int64)
    amounts = amounts.reshape(1, -1) if two_dimensions else amounts
    return Call(attributes, (("data", data), ("pads", tensor(amounts)), ("value", value)))
