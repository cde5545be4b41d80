"""How scales and zero points are misread: another block's, another axis, none at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from generator.calls.solver.partial import Bindings
from generator.calls.variables.kind import CallValues, KindChange, ValueChange
from generator.calls.variables.kind_subject import KindSubject

Change = Callable[[NDArray[np.generic]], NDArray[np.generic]]


def scale_changes(subject: KindSubject, of: str, scale: str, zero_point: str) -> Iterator[KindChange]:
    """The changes of a quantised input's scales, as far as the version has what they are about."""

    def without_zero_point(given: CallValues) -> Bindings:
        return {zero_point: np.zeros_like(_given(given, zero_point))}

    yield ValueChange(f"{zero_point} as zero", f"{zero_point} taken as zero", without_zero_point)
    if not subject.has("axis"):
        return

    def first_alone(given: CallValues) -> Bindings:
        return _each(given, (scale, zero_point), lambda array: np.full_like(array, array.reshape(-1)[0]))

    def reversed_scales(given: CallValues) -> Bindings:
        return _each(given, (scale, zero_point), lambda array: array.reshape(-1)[::-1].reshape(array.shape))

    yield ValueChange(f"{scale} first alone", f"the first of {scale} for all", first_alone)
    yield ValueChange(f"{scale} reversed", f"{scale} from the last to the first", reversed_scales)
    if not subject.has("block_size"):
        return

    def in_turn(given: CallValues) -> Bindings:
        shape, axis = given.shape(of), int(given.numbers("axis"))
        size = int(given.numbers("block_size"))
        if size < 1 or len(given.shape(scale)) != len(shape):
            raise ValueError("no blocks")

        def spread(array: NDArray[np.generic]) -> NDArray[np.generic]:
            turns = np.arange(shape[axis]) % array.shape[axis]
            return np.asarray(np.take(array, turns, axis=axis))

        return {**_each(given, (scale, zero_point), spread), "block_size": 1}

    yield ValueChange("blocks in turn", f"{scale} in turn instead of for whole blocks", in_turn)


def _given(given: CallValues, name: str) -> NDArray[np.generic]:
    if not given.has(name):
        raise ValueError(f"{name} is left out")
    found: NDArray[np.generic] = given.numbers(name)
    if not found.size:
        raise ValueError(f"{name} is empty")
    return found


def _each(given: CallValues, names: tuple[str, ...], change: Change) -> Bindings:
    return {name: change(_given(given, name)) for name in names if given.has(name)}
