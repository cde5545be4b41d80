"""What Pad is computed as by mistake: another reflection. Misread pads their kind brings."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from generator.calls import Call
from generator.changes.change import Change, Changed, exactly
from opcert.vocabulary.tensors import Tensor
from reference.movement import read_integers
from specs.model import Spec

OPERATORS = ("com.microsoft::Pad",)

_Positions = Callable[[int, int, int], NDArray[np.int64] | None]
"""Of an extent and what is added at both ends: where each element of the output comes from."""


def changes(_spec: Spec) -> Sequence[Change]:
    """The changes of every version."""
    return (
        _gather("symmetric", "a reflection that repeats the outermost element", ("reflect",), _symmetric),
        _gather("wrap", "the tensor repeated", ("reflect", "edge"), _wrapped),
    )


def _gather(word: str, text: str, modes: tuple[str, ...], positions: _Positions) -> Change:
    """Each axis gathered from other positions, in the modes that are named."""

    def apply(_spec: Spec, call: Call) -> Changed | None:
        given = call.attributes.get("mode")
        inputs = dict(call.inputs)
        data, pads = inputs.get("data"), inputs.get("pads")
        if given is None or given.value not in modes or data is None or pads is None:
            return None
        amounts, rank = read_integers(pads), len(data.shape)
        if len(amounts) != 2 * rank:
            return None
        chosen = [
            positions(extent, begin, end)
            for extent, begin, end in zip(data.shape, amounts[:rank], amounts[rank:], strict=True)
        ]
        sources = [each for each in chosen if each is not None]
        if len(sources) != rank:
            return None
        moved = data.array[np.ix_(*sources)] if rank else data.array
        return Changed(call, expectations=exactly("output", Tensor(data.element_type, moved)))

    return Change(f"mode {word}", text, apply)


def _kept(extent: int, begin: int, end: int) -> tuple[int, int] | None:
    """The first kept element and the number of them; None where none is."""
    first, count = max(0, -begin), extent - max(0, -begin) - max(0, -end)
    return (first, count) if count > 0 else None


def _symmetric(extent: int, begin: int, end: int) -> NDArray[np.int64] | None:
    kept = _kept(extent, begin, end)
    if kept is None:
        return None
    first, count = kept
    places = np.arange(-max(begin, 0), count + max(end, 0)) % (2 * count)
    return first + np.where(places < count, places, 2 * count - 1 - places)


def _wrapped(extent: int, begin: int, end: int) -> NDArray[np.int64] | None:
    kept = _kept(extent, begin, end)
    if kept is None:
        return None
    return kept[0] + np.arange(-max(begin, 0), kept[1] + max(end, 0)) % kept[1]
