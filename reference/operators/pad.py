"""Pad of com.microsoft: elements added to or removed from both ends of every axis."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.movement import NegativeZeros, Subnormals, blank, moved, read_integers
from reference.registry import reference_operator

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


def _sources(extent: int, begin: int, end: int, mode: str) -> NDArray[np.int64]:
    """For each position of one output axis the position of the input that it comes from, below 0 for none."""
    positions = np.arange(-begin, extent + end, dtype=np.int64)
    if mode == "constant":
        return np.where(positions < extent, positions, _NOWHERE)
    if mode == "edge":
        return np.clip(positions, 0, extent - 1)
    # Within these bounds no reflection comes to an element that is removed at the other end.
    mirrored = np.abs(positions)
    return np.where(mirrored < extent, mirrored, 2 * (extent - 1) - mirrored)
