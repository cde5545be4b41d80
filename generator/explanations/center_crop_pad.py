"""What CenterCropPad is computed as by mistake: no centre. Misread axes and extents their kinds bring."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from generator.calls import Call
from generator.changes.change import Change, Changed, exactly
from opcert.vocabulary.tensors import Tensor
from reference.movement import blank, read_integers
from specs.model import Spec

OPERATORS = ("ai.onnx::CenterCropPad",)

_Begin = Callable[[int], int]
"""Where the shorter of two extents starts within the longer, of their difference."""


def changes(_spec: Spec) -> Sequence[Change]:
    """The changes of every version."""
    return (
        _place("crop start", "a window at the start", crop=lambda _: 0),
        _place("crop end", "a window at the end", crop=lambda surplus: surplus),
        _place("pad end", "padding at the end alone", pad=lambda _: 0),
        _place("pad start", "padding at the start alone", pad=lambda missing: missing),
    )


def _chosen_axes(call: Call) -> list[tuple[int, int]] | None:
    """The axes with their wanted extents; None where the call is not valid."""
    inputs = dict(call.inputs)
    data, shape = inputs.get("input_data"), inputs.get("shape")
    if data is None or shape is None or not shape.element_type.is_integer:
        return None
    rank, wanted = len(data.shape), read_integers(shape)
    given = call.attributes.get("axes")
    plain = list(range(rank))
    if given is not None and isinstance(given.value, tuple):
        plain = [int(axis) for axis in given.numbers]
    if len(plain) != len(wanted) or any(not -rank <= axis < rank for axis in plain):
        return None
    if any(not 0 <= extent < 1 << 16 for extent in wanted):
        return None
    return list(zip((axis % rank for axis in plain), wanted, strict=True))


def _place(word: str, text: str, crop: _Begin | None = None, pad: _Begin | None = None) -> Change:
    """The window, or the input in the output, placed otherwise than in the centre."""

    def apply(_spec: Spec, call: Call) -> Changed | None:
        pairs, data = _chosen_axes(call), call.inputs[0][1]
        if pairs is None or data is None or len({axis for axis, _ in pairs}) != len(pairs):
            return None
        shape = list(data.shape)
        taken, placed = [slice(None)] * len(shape), [slice(None)] * len(shape)
        for axis, extent in pairs:
            surplus = shape[axis] - extent
            if surplus >= 0:
                start = crop(surplus) if crop is not None else surplus // 2
                taken[axis] = slice(start, start + extent)
            else:
                start = pad(-surplus) if pad is not None else -surplus // 2
                placed[axis] = slice(start, start + shape[axis])
            shape[axis] = extent
        output = blank(data.element_type, shape)
        if data.element_type.kind == "string":
            output[...] = b""
        output[tuple(placed)] = data.array[tuple(taken)]
        return Changed(call, expectations=exactly("output_data", Tensor(data.element_type, output)))

    return Change(f"place {word}", text, apply)
