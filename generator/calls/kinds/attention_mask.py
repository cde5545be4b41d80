"""Which keys a query may look at, or what is added to their scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Partial
from generator.calls.variables.kind import Level
from generator.calls.variables.single_kind import SingleKind
from opcert.vocabulary.element_types import ELEMENT_TYPES
from specs.model.spec import Constraint


@dataclass(frozen=True)
class AttentionMask(SingleKind):
    """Booleans, or numbers in quarters of which some are minus infinity; the last axis is that of keys.

    Numbers are of the type of the query.
    `mixed` leaves every row a key, `shut` the first row none, `open` all keys; numbers are then finite.
    """

    @property
    def needs_own_shape(self) -> bool:
        return True

    def levels(self) -> tuple[Level, ...]:
        return ("mixed", "shut", "open")

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[NDArray[Any]]:
        shape = scope.shape(self.name)
        count, keys = prod(shape), shape[-1] if shape else 1
        seen = np.array(draw.numbers(0, 2, count)).reshape(shape) > 0
        seen = (
            seen.reshape(shape or (1,))
            | (np.arange(keys) == draw.integer(0, max(keys - 1, 0)))
            | (level == "open")
        )
        if level == "shut" and seen.size:
            seen[(0,) * (seen.ndim - 1)] = False
        parameter = self.subject.input(self.name)
        assert parameter is not None, "it is the kind of an input"
        if not ELEMENT_TYPES[scope.element_type(parameter)].is_float:
            yield seen.reshape(shape)
            return
        added = np.array(draw.numbers(-8, 8, count)).reshape(shape) / 4
        yield np.where(seen.reshape(shape), added, -np.inf)

    def rules(self) -> Iterable[Constraint]:
        alike = f"element_type({self.name}) in ['bool', element_type(Q)]"
        yield self.rule("mask_type", alike, self.given)
