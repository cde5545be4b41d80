"""A text, or a list of them, of which any is valid: some that tell programs apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Partial
from generator.calls.variables.kind import Level, SingleKind
from specs.language.expressions import Expression


@dataclass(frozen=True)
class Word(SingleKind):
    """One of the arguments; there is no rule, since any other would do."""

    some: tuple[Expression, ...] = ()

    def levels(self) -> tuple[Level, ...]:
        return tuple(expression.text for expression in self.some)

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[Any]:
        yield next(expression for expression in self.some if expression.text == level).evaluate({})
