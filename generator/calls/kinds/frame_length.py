"""How long the frames of a signal are: as long as their window, or of a length of their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import Level
from generator.calls.variables.single_kind import SingleKind
from specs.language.expressions import Expression
from specs.model.spec import Constraint

_MOST = 70
"""Longer frames are not drawn: each bin is computed from each sample."""


@dataclass(frozen=True)
class FrameLength(SingleKind):
    """A whole number from 1 to the `samples` of the signal; the `window`'s where that is not 0."""

    samples: Expression
    window: Expression

    def levels(self) -> tuple[Level, ...]:
        return ("even", "odd", "whole", "one")

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        window, samples = int(scope.value(self.window)), int(scope.value(self.samples))
        if max(window, samples) > _MOST:
            return
        if levels[self.name] == OMITTED:
            if window:
                yield {self.name: None}
            return
        yield from super().candidates(levels, scope, draw)

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[int]:
        window, samples = int(scope.value(self.window)), int(scope.value(self.samples))
        listed: dict[Level, Sequence[int]] = {
            "even": range(2, samples, 2),
            "odd": range(3, samples, 2),
            "whole": (samples,) if samples > 1 else (),
            "one": (1,),
        }
        yield from (each for each in draw.shuffled(listed[level]) if window in (0, each))

    def rules(self) -> Iterable[Constraint]:
        yield self.rule(f"{self.name}_positive", f"all(each >= 1 for each in {self.name})", self.given)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        for value in (0, -1):
            yield f"{self.name}_positive", {self.name: value}
