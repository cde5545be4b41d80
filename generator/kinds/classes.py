"""Elements that are classes, of a number of them; others beside them where the text says what those mean."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from generator.draws import Draw
from generator.kind import Level, SingleKind
from generator.partial import Partial
from specs.expressions import Expression


@dataclass(frozen=True)
class Classes(SingleKind):
    """Numbers below `count`, negative ones and ones outside: each has a meaning, so that none is wrong."""

    count: Expression

    needs_own_shape: ClassVar[bool] = True

    def levels(self) -> tuple[Level, ...]:
        return ("inside", "ends", "negative", "outside", "repeated")

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[NDArray[np.int64]]:
        shape = scope.shape(self.name)
        count = int(np.asarray(scope.value(self.count)).reshape(-1)[0])
        drawn = [self._one(level, count, draw) for _ in range(int(np.prod(shape)))]
        yield np.array(drawn, dtype=np.int64).reshape(shape)

    @staticmethod
    def _one(level: Level, count: int, draw: Draw) -> int:
        if level == "ends":
            return draw.choice((0, count - 1, -1, -count))
        if level == "negative":
            return draw.integer(-count, -1) if count else -1
        if level == "outside":
            return draw.choice((count, count + 1, -count - 1, 0))
        return draw.integer(0, count - 1) if count and level == "inside" else 0

    def smaller(self, name: str, value: Any, scope: Partial) -> Iterator[Any]:
        if value is not None and np.any(np.asarray(value)):
            yield np.zeros_like(np.asarray(value))
