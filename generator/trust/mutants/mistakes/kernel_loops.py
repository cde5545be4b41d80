"""What loops of kernels get wrong: rests of vectors, rows of tiles, batches, and lanes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.judging.responses import Answered, Response
from generator.asking.calls import Call
from generator.asking.tensor_edits import is_any, with_outputs
from generator.trust.mutants.mistake import Made, Mistake
from opcert.vocabulary.tensors import Tensor
from specs.model.spec import Spec

_LANES = (4, 8, 16)
_TILE = 4
Change = Callable[[NDArray[Any]], NDArray[Any] | None]


def mistakes(_spec: Spec) -> Iterator[Mistake]:
    for lanes in _LANES:
        vectors = f"whole vectors of {lanes}"
        yield _in_rows(f"rest copied of {lanes}", f"behind {vectors} those before them", _copied, lanes)
        yield _in_rows(f"rest of last {lanes}", f"behind {vectors} the first ones again", _repeated, lanes)
    yield Mistake(
        "third batch", "the third of several batches is the second", made=_changed(_third_as_second)
    )
    yield Mistake("tile row", "the last row of a tile is the one before it", made=_changed(_last_of_tile))
    yield Mistake(
        "tile column", "the last column of a tile is the one before it", made=_changed(_last_column)
    )
    yield Mistake("middle of vector", "an element inside a vector is the one before", made=_changed(_middle))


def _in_rows(key: str, text: str, change: Callable[[int, NDArray[Any]], NDArray[Any]], lanes: int) -> Mistake:
    """A mistake along the last axis, where that is longer than a vector and no multiple of one."""

    def along_last(array: NDArray[Any]) -> NDArray[Any] | None:
        length = array.shape[-1] if array.ndim else 0
        return change(lanes, array) if length > lanes and length % lanes else None

    return Mistake(key, f"in each row {text}", made=_changed(along_last))


def _changed(change: Change) -> Made:
    def exchange(given: Tensor) -> Tensor | None:
        made = change(given.array)
        return None if made is None else Tensor(given.element_type, made)

    def made(spec: Spec, call: Call, answer: Answered) -> Response | None:
        return with_outputs(spec, call, answer, exchange, is_any)

    return made


def _copied(lanes: int, array: NDArray[Any]) -> NDArray[Any]:
    rest = array.shape[-1] % lanes
    found = array.copy()
    found[..., -rest:] = array[..., -rest - lanes : -lanes]
    return found


def _repeated(lanes: int, array: NDArray[Any]) -> NDArray[Any]:
    rest = array.shape[-1] % lanes
    found = array.copy()
    found[..., -rest:] = array[..., :rest]
    return found


def _third_as_second(array: NDArray[Any]) -> NDArray[Any] | None:
    if array.ndim < 2 or array.shape[0] < 3:
        return None
    found = array.copy()
    found[2] = array[1]
    return found


def _last_of_tile(array: NDArray[Any], axis: int = -2) -> NDArray[Any] | None:
    if array.ndim < 2 or array.shape[axis] < _TILE:
        return None
    places = np.arange(array.shape[axis])
    places[_TILE - 1 :: _TILE] -= 1
    return np.take(array, places, axis)


_last_column = partial(_last_of_tile, axis=-1)


def _middle(array: NDArray[Any]) -> NDArray[Any] | None:
    if array.size <= max(_LANES):
        return None
    found = array.copy().reshape(-1)
    found[max(_LANES) // 2] = found[max(_LANES) // 2 - 1]
    return found.reshape(array.shape)
