"""How many samples a transform takes of a signal: fewer than there are, as many, or more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import CallValues, KindChange, Level, ValueChange
from generator.calls.variables.single_kind import SingleKind
from specs.language.expressions import Expression
from specs.model.spec import Constraint

_LONG = (15, 12, 16, 13)
"""Lengths of which transforms go several ways: with factors 3 and 5, 2 and 3, 2 alone, and none."""
_MOST = 70
"""Longer signals are not drawn: each bin is computed from each sample."""


@dataclass(frozen=True)
class TransformLength(SingleKind):
    """A whole number above 0, beside the `samples` that there are."""

    samples: Expression

    def levels(self) -> tuple[Level, ...]:
        return ("same", "shorter", "longer", "long", "one")

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        if int(scope.value(self.samples)) <= _MOST:
            yield from super().candidates(levels, scope, draw)

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[int]:
        samples = int(scope.value(self.samples))
        if level == "shorter":
            yield from draw.shuffled(range(2, samples))
        elif level == "longer":
            yield from draw.shuffled(range(samples + 1, samples + 5))
        elif level == "long":
            yield from (each for each in draw.shuffled(_LONG) if each > samples)
        elif level == "one":
            yield 1
        elif samples > 1:
            yield samples

    def rules(self) -> Iterable[Constraint]:
        yield self.rule(f"{self.name}_positive", f"all(each >= 1 for each in {self.name})", self.given)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        for value in (0, -1):
            yield f"{self.name}_positive", {self.name: value}

    def changes(self) -> Iterable[KindChange]:
        for word, text, more in (("less", "one sample less", -1), ("more", "one sample more", 1)):
            yield ValueChange(f"{self.name} {word}", text, self._moved(more))

    def _moved(self, more: int) -> Any:
        def change(given: CallValues) -> Bindings:
            moved = given.numbers(self.name) + more
            if np.any(moved < 1):
                raise ValueError("no samples are left")
            return {self.name: moved}

        return change
