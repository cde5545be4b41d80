"""The one element that new places of a tensor get: ordinary, or one that a runtime may lose on the way."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Partial
from generator.calls.variables.kind import Level, SingleKind
from opcert.vocabulary.element_types import ELEMENT_TYPES
from reference.numbers.numbers import smallest_subnormal


@dataclass(frozen=True)
class FillValue(SingleKind):
    """A number of the input's type; of a floating-point type also -0, NaN, infinity and a subnormal one."""

    def levels(self) -> tuple[Level, ...]:
        return ("ordinary", "negative_zero", "nan", "infinity", "subnormal")

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[float]:
        parameter = self.subject.input(self.name)
        assert parameter is not None, "it is the kind of an input"
        layout = ELEMENT_TYPES[scope.element_type(parameter)].layout
        if level == "ordinary":
            # Quarters, which no floating-point type rounds; whole numbers for the others.
            number = draw.integer(1, 100)
            yield number / 4 if layout is not None else number
        elif layout is not None and layout.nan == "ieee":
            found = {"negative_zero": -0.0, "nan": math.nan, "infinity": math.inf}
            yield found.get(str(level), float(smallest_subnormal(layout)))
