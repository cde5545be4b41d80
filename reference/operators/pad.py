"""Pad of com.microsoft: elements added to or removed from both ends of every axis."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.movement import NegativeZeros, Subnormals, blank, demand, demand_type, moved, read_integers
from reference.registry import reference_operator

_TYPES = ("float16", "float", "double")


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
    Raises OutsideDomain where more is removed than an axis has, where `edge` finds nothing to repeat, and
    where `reflect` would need more elements than are kept: the document does not say that reflections repeat.
    Source: com.microsoft Pad-1, Summary, Attributes, Inputs; element types from ONNX Runtime's list of
    contributed operators.
    """
    rank = len(data.shape)
    demand_type("data", data, _TYPES)
    demand_type("pads", pads, ("int64",))
    demand(mode in ("constant", "reflect", "edge"), "unknown mode", mode, "constant, reflect or edge")
    two_forms = ((2 * rank,), (1, 2 * rank))
    demand(pads.shape in two_forms, "pads of the wrong shape", list(pads.shape), f"{two_forms}")
    if value is not None:
        demand_type("value", value, (data.element_type.name,))
        demand(value.shape in ((), (1,)), "value is not a single element", list(value.shape), "[] or [1]")
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
    """For each position of one output axis the position of the input that it comes from, -1 for none."""
    kept = extent + min(begin, 0) + min(end, 0)
    demand(kept >= 0, "more is removed than the axis has", (begin, end), f"at most {extent}")
    positions = np.arange(-begin, extent + end, dtype=np.int64)
    if mode == "constant" or (begin <= 0 and end <= 0):
        return np.where((positions >= 0) & (positions < extent), positions, -1)
    demand(kept >= 1, f"{mode} of an axis that holds nothing", extent, "an element to repeat")
    if mode == "edge":
        return np.clip(positions, 0, extent - 1)
    demand(max(begin, end) < kept, "reflection of more than there is", (begin, end), f"{kept - 1}")
    # Within these bounds no reflection comes to an element that is removed at the other end.
    mirrored = np.abs(positions)
    return np.where(mirrored < extent, mirrored, 2 * (extent - 1) - mirrored)
