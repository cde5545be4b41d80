"""How long each sequence of a batch is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import (
    KindChange,
    Level,
    Misreading,
    SingleKind,
    misread_as,
)
from specs.language.expressions import Expression
from specs.model.spec import Constraint

_MISREAD: tuple[Misreading, ...] = (
    (
        "first",
        "{}: that of the first for every sequence",
        lambda lengths: np.full_like(lengths, lengths.flat[0]),
    ),
    ("longest", "{}: the greatest for every sequence", lambda lengths: np.full_like(lengths, lengths.max())),
    ("one less", "{}: each one less", lambda lengths: lengths - 1),
)


@dataclass(frozen=True)
class Lengths(SingleKind):
    """Elements from `least` (0 where it is not given) to `most`, each of a sequence of its own."""

    most: Expression
    least: Expression | None = None

    needs_own_shape: ClassVar[bool] = True

    def levels(self) -> tuple[Level, ...]:
        return ("ragged", "full", "least", "rising")

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[NDArray[np.int64]]:
        shape = scope.shape(self.name)
        low, high = self._ends(scope)
        if high < low:
            return
        if level in ("full", "least"):
            yield np.full(shape, high if level == "full" else low, dtype=np.int64)
        elif high > low:
            drawn = draw.integers(low, high, shape)
            if level == "rising":
                yield np.array(sorted(drawn.reshape(-1).tolist()), dtype=np.int64).reshape(shape)
            elif drawn.size > 1:
                drawn.reshape(-1)[0] = high
                drawn.reshape(-1)[-1] = draw.integer(low, high - 1)
                yield drawn

    def rules(self) -> Iterable[Constraint]:
        low = "0" if self.least is None else self.least.text
        inside = f"all(({low}) <= each <= ({self.most.text}) for each in {self.name})"
        yield self.rule(f"{self.name}_range", inside, self.given)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        shape = scope.shape(self.name)
        low, high = self._ends(scope)
        for value in (high + 1, low - 1, 2**31 - 1):
            wrong = np.full(shape, high, dtype=np.int64)
            wrong.reshape(-1)[-1:] = value
            yield f"{self.name}_range", {self.name: wrong}

    def changes(self) -> Iterable[KindChange]:
        yield from misread_as(self.name, *_MISREAD)

    def _ends(self, scope: Partial) -> tuple[int, int]:
        low = 0 if self.least is None else int(scope.value(self.least))
        return low, int(scope.value(self.most))
