"""How the steps of quantised tensors are misread that are multiplied: another's, in another order, none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.calls.solver.partial import Bindings
from generator.calls.variables.kind import CallValues, KindChange, ValueChange

Change = Callable[[CallValues], Bindings]


def step_changes(tensors: Sequence[str], several: Sequence[str]) -> Iterator[KindChange]:
    """The changes of zero points of tensors, and of scales of those that may have several."""
    for name in tensors:
        yield ValueChange(f"{name}_zero_point as zero", f"{name}_zero_point taken as zero", _without(name))
    for name in several:
        yield ValueChange(f"{name}_scale first alone", f"the first of {name}_scale for all", _first(name))
        yield ValueChange(
            f"{name}_scale reversed", f"{name}_scale from the last to the first", _reversed(name)
        )


def _without(name: str) -> Change:
    def changed(given: CallValues) -> Bindings:
        return {f"{name}_zero_point": np.zeros_like(given.numbers(f"{name}_zero_point"))}

    return changed


def _first(name: str) -> Change:
    def changed(given: CallValues) -> Bindings:
        return {each: np.full_like(array, array.reshape(-1)[0]) for each, array in _both(name, given)}

    return changed


def _reversed(name: str) -> Change:
    def changed(given: CallValues) -> Bindings:
        return {each: array.reshape(-1)[::-1].reshape(array.shape) for each, array in _both(name, given)}

    return changed


def _both(name: str, given: CallValues) -> Iterator[tuple[str, NDArray[Any]]]:
    for part in ("scale", "zero_point"):
        array = given.numbers(f"{name}_{part}")
        if array.size < 2:
            raise ValueError("one for all")
        yield f"{name}_{part}", array
