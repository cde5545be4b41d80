"""How far the next frame of a signal begins: nearer than a frame is long, right behind it, or farther."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import CallValues, KindChange, Level, ValueChange
from generator.calls.variables.single_kind import SingleKind
from specs.language.expressions import Expression
from specs.model.spec import Constraint


@dataclass(frozen=True)
class FrameStep(SingleKind):
    """A whole number above 0, for frames of a `length` in a signal of so many `samples`."""

    samples: Expression
    length: Expression

    def levels(self) -> tuple[Level, ...]:
        return ("overlapping", "one", "adjacent", "apart", "beyond")

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[int]:
        samples, length = int(scope.value(self.samples)), int(scope.value(self.length))
        room = samples - length
        listed: dict[Level, Sequence[int]] = {
            "overlapping": range(2, min(length, room + 1)),
            "one": (1,),
            "adjacent": (length,) if 1 < length <= room else (),
            "apart": range(length + 1, room + 1),
            "beyond": (room + 1, room + 3) if room >= 0 else (),
        }
        yield from draw.shuffled(listed[level])

    def rules(self) -> Iterable[Constraint]:
        yield self.rule(f"{self.name}_positive", f"all(each >= 1 for each in {self.name})")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        for value in (0, -1):
            yield f"{self.name}_positive", {self.name: value}

    def changes(self) -> Iterable[KindChange]:
        def moved(given: CallValues) -> Bindings:
            return {self.name: given.numbers(self.name) + 1}

        yield ValueChange(f"{self.name} more", "each frame one sample later than the one before", moved)
