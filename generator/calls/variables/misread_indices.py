"""How indices are misread: from the other end, from one, or without their sign."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from generator.calls.solver.partial import Bindings
from generator.calls.variables.kind import CallValues, KindChange, ValueChange


def index_changes(name: str) -> Iterator[KindChange]:
    """The changes of an input or attribute that holds indices."""

    def other_end(given: CallValues) -> Bindings:
        return {name: -1 - given.numbers(name)}

    def from_one(given: CallValues) -> Bindings:
        return {name: given.numbers(name) - 1}

    def no_sign(given: CallValues) -> Bindings:
        return {name: np.maximum(given.numbers(name), 0)}

    yield ValueChange(f"{name} other end", f"{name} counted from the other end", other_end)
    yield ValueChange(f"{name} from one", f"{name} counted from 1", from_one)
    yield ValueChange(f"{name} at least 0", f"negative {name} taken for 0", no_sign)
