"""Elements that are classes, of a number of them; others beside them where the text says what those mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import prod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import Level, SingleKind
from specs.language.expressions import Expression
from specs.model.spec import Constraint


@dataclass(frozen=True)
class Classes(SingleKind):
    """Numbers below `count`, negative ones and ones outside: each has a meaning, so that none is wrong.

    `negative=False` leaves negative ones out (older versions), which then break a rule.
    """

    count: Expression
    negative: Expression | None = None

    needs_own_shape: ClassVar[bool] = True

    def levels(self) -> tuple[Level, ...]:
        return ("inside", "ends", *(("negative",) if self._may_be_negative else ()), "outside", "repeated")

    @property
    def _may_be_negative(self) -> bool:
        return self.says(self.negative, default=True)

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[NDArray[np.int64]]:
        shape = scope.shape(self.name)
        count = int(np.asarray(scope.value(self.count)).reshape(-1)[0])
        drawn = [self._one(level, count, draw) for _ in range(prod(shape))]
        yield np.array(drawn, dtype=np.int64).reshape(shape)

    def _one(self, level: Level, count: int, draw: Draw) -> int:
        if level == "ends":
            ends = [0, max(count - 1, 0)]
            return draw.choice([*ends, -1, -count] if self._may_be_negative else ends)
        if level == "negative":
            return draw.integer(-count, -1) if count else -1
        if level == "outside":
            outside = [count, count + 1, 0]
            return draw.choice([*outside, -count - 1] if self._may_be_negative else outside)
        return draw.integer(0, count - 1) if count and level == "inside" else 0

    def rules(self) -> Iterable[Constraint]:
        if not self._may_be_negative:
            yield self.rule(f"{self.name}_not_negative", f"all(each >= 0 for each in {self.name})")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        if not self._may_be_negative:
            yield (
                f"{self.name}_not_negative",
                {self.name: np.full(scope.shape(self.name), -1, dtype=np.int64)},
            )
