"""Extents of an output, which has no other source of its shape."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import CallValues, KindChange, Level, ValueChange
from generator.calls.variables.single_kind import SingleKind
from generator.calls.variables.vector_lengths import lengths_around
from specs.model.spec import Constraint

_MISREAD: tuple[tuple[str, str, Callable[[NDArray[Any]], Any]], ...] = (
    ("without ones", "extents of 1 left out", lambda sizes: sizes[sizes != 1]),
    ("at least 1", "extents of 0 taken for 1", lambda sizes: np.maximum(sizes, 1)),
    ("one element", "a scalar taken for one element", lambda sizes: sizes if sizes.size else [1]),
)


@dataclass(frozen=True)
class Sizes(SingleKind):
    """A list of extents from 0, of any length: an empty one makes a scalar."""

    def levels(self) -> tuple[Level, ...]:
        return ("some", "scalar", "one_axis", "ones", "with_zero", "many_axes", "long")

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[list[int]]:
        lists = {
            "scalar": [],
            "one_axis": [draw.integer(2, 7)],
            "ones": [1, 1, 1],
            "with_zero": [draw.integer(1, 3), 0, 2],
            "many_axes": [1, 2, 1, 3, 1, 2],
            "long": [67],
        }
        yield lists.get(str(level), draw.shuffled(range(2, 6))[:3])

    def rules(self) -> Iterable[Constraint]:
        yield self.rule(f"{self.name}_not_negative", f"all(each >= 0 for each in {self.name})", self.given)

    def edges(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        for length in lengths_around():
            yield f"length_{length}", {self.name: [length]}

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        for value in (-1, -(2**31)):
            yield f"{self.name}_not_negative", {self.name: [2, value]}

    def changes(self) -> Iterable[KindChange]:
        for word, text, change in _MISREAD:
            yield ValueChange(f"{self.name} {word}", text, self._changed_by(change))

    def _changed_by(self, change: Callable[[NDArray[Any]], Any]) -> Callable[[CallValues], Bindings]:
        return lambda given: {self.name: change(given.numbers(self.name))}
