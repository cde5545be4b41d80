"""An extent that is another one, or 1: something for each of several places, or one for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import Kind, Level
from specs.language.expressions import Expression
from specs.model.spec import Constraint


@dataclass(frozen=True)
class EachOrOne(Kind):
    """It binds the extent `width` in the shape of an input."""

    input: Expression
    width: Expression
    of: Expression

    @property
    def covers(self) -> tuple[str, ...]:
        return ()

    @property
    def binds(self) -> tuple[str, ...]:
        return (self.width.text,)

    @property
    def needs(self) -> frozenset[str]:
        return frozenset(self.of.names)

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {self.name: ("each", "one")}

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        of = int(scope.value(self.of))
        if levels[self.name] == "one":
            yield {self.width.text: 1}
        elif of > 1:
            yield {self.width.text: of}

    def rules(self) -> Iterable[Constraint]:
        width, of = self.width.text, self.of.text
        given = self.input.text
        yield self.rule(self.name, f"{width} in [1, {of}]", f"present({given})", about=given)
