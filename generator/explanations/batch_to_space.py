"""What BatchToSpaceND is computed as by mistake: crops and blocks in another order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from generator.calls import Call
from generator.changes.change import Change, Changed
from generator.changes.input_changes import change_input
from opcert.vocabulary.tensors import Tensor
from reference.movement import read_integers
from specs.model import Spec

OPERATORS = ("org.tensorflow::BatchToSpaceND",)

_Pairs = NDArray[np.int64]


def changes(_spec: Spec) -> Sequence[Change]:
    """The changes of every version."""
    return (
        _crop("ignored", "crops ignored", np.zeros_like),
        _crop("exchanged", "the crops of begin and end exchanged", lambda crops: crops[:, ::-1]),
        _crop("axes reversed", "the crops of the axes in reverse order", lambda crops: crops[::-1]),
        _crop("transposed", "crops read as begins, then ends", lambda crops: crops.reshape(2, -1).T),
        _crop("begin alone", "the crops of the end ignored", lambda crops: crops * np.array([1, 0])),
        _crop("end alone", "the crops of the begin ignored", lambda crops: crops * np.array([0, 1])),
        _batch("blocks innermost", "the batch as [batch, blocks] in place of [blocks, batch]", _innermost),
        _batch("blocks reversed", "the blocks of the batch in reverse order of the axes", _reversed),
    )


def _crop(word: str, text: str, order: Callable[[_Pairs], _Pairs]) -> Change:
    def change(crops: Tensor) -> Tensor | None:
        if len(crops.shape) != 2 or crops.shape[1] != 2:
            return None
        made = np.ascontiguousarray(order(crops.array)).astype(crops.array.dtype)
        return Tensor(crops.element_type, made.reshape(crops.shape))

    return change_input(f"crops {word}", text, "crops", change)


def _batch(word: str, text: str, order: Callable[[Sequence[int], int], NDArray[np.intp]]) -> Change:
    """The elements of the batch taken in another order, which a function makes of blocks and batch."""

    def apply(_spec: Spec, call: Call) -> Changed | None:
        inputs = dict(call.inputs)
        given, block_shape = inputs.get("input"), inputs.get("block_shape")
        if given is None or block_shape is None or not given.shape:
            return None
        blocks = read_integers(block_shape)
        if min(blocks, default=1) < 1 or given.shape[0] % prod(blocks):
            return None
        made = Tensor(given.element_type, given.array[order(blocks, given.shape[0])])
        return None if made == given else Changed(call.with_input("input", made))

    return Change(f"batch {word}", text, apply)


def _innermost(blocks: Sequence[int], batch: int) -> NDArray[np.intp]:
    return np.arange(batch).reshape(batch // prod(blocks), prod(blocks)).T.reshape(-1)


def _reversed(blocks: Sequence[int], batch: int) -> NDArray[np.intp]:
    count = len(blocks)
    places = np.arange(batch).reshape(*reversed(blocks), batch // prod(blocks))
    return places.transpose(*range(count - 1, -1, -1), count).reshape(-1)
