"""Pad of ONNX and of com.microsoft: elements added to or removed from both ends of axes."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.numbers.numbers import encode
from reference.readings.choices import Choice
from reference.registry import AsReading, reference_operator
from reference.shared.movement import NegativeZeros, Subnormals, blank, moved, read_integers

Torus = Annotated[Choice[Literal["of_data", "of_what_is_left"]], AsReading]
_NOWHERE = -1
"""A position that no element of the input has, as all below 0."""


@reference_operator("com.microsoft::Pad-1")
def pad(
    data: Tensor,
    pads: Tensor,
    value: Tensor | None = None,
    *,
    mode: str = "constant",
    subnormals: Subnormals,
    negative_zeros: NegativeZeros,
) -> Answer:
    """Add elements to the ends of axes, or remove them where the number is negative.

    Shapes: `data` any of rank r, `pads` [2r] or [1, 2r] (the begins of all axes, then the ends), `value` []
    or [1]. Element types: float16, float, double; int64 for `pads`. What is added in mode `constant` is
    `value` (0 where it is not given), in `edge` the outermost element that is kept, in `reflect` the kept
    elements mirrored at the outermost one, which does not repeat. Bit-exact.
    Source: com.microsoft Pad-1, Summary, Attributes, Inputs; element types from ONNX Runtime's list of
    contributed operators.
    """
    rank = len(data.shape)
    amounts = read_integers(pads)
    sources = [
        _sources(extent, begin, end, mode)
        for extent, begin, end in zip(data.shape, amounts[:rank], amounts[rank:], strict=True)
    ]
    output = blank(data.element_type, [len(each) for each in sources])
    if value is not None:
        # The other modes leave nothing of it.
        output[...] = value.array.reshape(())
    places = [np.flatnonzero(each >= 0) for each in sources]
    kept = [each[each >= 0] for each in sources]
    output[np.ix_(*places)] = data.array[np.ix_(*kept)]
    result = Tensor(data.element_type, output)
    return moved(result, subnormals, negative_zeros)


@reference_operator("ai.onnx::Pad")
def pad_axes(
    data: Tensor,
    pads: tuple[int, ...],
    constant_value: Tensor | None = None,
    axes: tuple[int, ...] | None = None,
    *,
    mode: str = "constant",
    value: float = 0.0,
    torus: Torus,
) -> Tensor:
    """Add elements to the ends of axes, all of them by default, or remove them where the number is negative.

    In mode `constant` they are `constant_value` (`value` in version 2), else 0, False or the empty string. In
    mode `reflect` an axis is mirrored again and again, as the example of `reflect` is.
    Source: Pad, Summary, pads, constant_value and axes; Example 2 from version 11 on.
    """
    rank = len(data.shape)
    chosen = list(range(rank)) if axes is None else [axis % rank for axis in axes]
    begins, ends = [0] * rank, [0] * rank
    for axis, begin, end in zip(chosen, pads[: len(chosen)], pads[len(chosen) :], strict=True):
        begins[axis], ends[axis] = begin, end
    both = any(begin * end < 0 for begin, end in zip(begins, ends, strict=True))
    rest = mode == "wrap" and both and torus.ask() == "of_what_is_left"
    sources = [
        _sources(extent, begin, end, "wrap_rest" if rest else mode)
        for extent, begin, end in zip(data.shape, begins, ends, strict=True)
    ]
    output = blank(data.element_type, [len(each) for each in sources])
    if constant_value is not None:
        output[...] = constant_value.array.reshape(())
    elif data.element_type.is_float:
        output[...] = encode(data.element_type, [value])[0]
    places = [np.flatnonzero(each >= 0) for each in sources]
    kept = [each[each >= 0] for each in sources]
    output[np.ix_(*places)] = data.array[np.ix_(*kept)]
    return Tensor(data.element_type, output)


def _sources(extent: int, begin: int, end: int, mode: str) -> NDArray[np.int64]:
    """For each position of one output axis the position of the input that it comes from, below 0 for none."""
    positions = np.arange(-begin, extent + end, dtype=np.int64)
    if mode == "constant":
        return np.where(positions < extent, positions, _NOWHERE)
    if mode == "edge":
        return np.clip(positions, 0, extent - 1)
    if mode == "wrap":
        return positions % max(extent, 1)
    if mode == "wrap_rest":
        first, last = max(-begin, 0), extent + min(end, 0)
        return first + (positions - first) % max(last - first, 1)
    # No call is asked in which a reflection comes to an element that is removed at the other end.
    mirrored = positions % max(2 * (extent - 1), 1)
    return np.minimum(mirrored, 2 * (extent - 1) - mirrored)
