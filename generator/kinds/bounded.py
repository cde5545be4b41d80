"""Data of integers that lie in a range."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from generator.draws import Draw
from generator.kind import MendedData
from generator.partial import Bindings, Partial
from opcert.vocabulary.tensors import Tensor
from specs.expressions import Expression
from specs.model import Constraint


@dataclass(frozen=True)
class Bounded(MendedData):
    """Every element is at least `low` and below `high` where `when` holds; elsewhere every third may be any."""

    low: Expression
    high: Expression

    def mend(self, tensor: Tensor, scope: Partial) -> Tensor:
        low, high = int(scope.value(self.low)), int(scope.value(self.high))
        least, greatest = tensor.element_type.integer_range
        given = [int(each) for each in tensor.array.reshape(-1).tolist()]
        fitted = [low + (each - least) % (high - low) for each in given]
        if not self.holds(scope):
            fitted[::3] = given[::3]
        # Both ends are there wherever there is room for them.
        fitted[1:3] = [max(low, least), min(high - 1, greatest)][: len(fitted[1:3])]
        array = np.array(fitted, dtype=tensor.array.dtype).reshape(tensor.shape)
        return Tensor(tensor.element_type, array)

    def rules(self) -> Iterable[Constraint]:
        when = self.when.text if self.when is not None else None
        inside = f"all({self.low.text} <= each < {self.high.text} for each in {self.name})"
        yield self.rule(f"{self.name}_in_range", inside, when)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        if self.holds(scope):
            shape = scope.shape(self.name)
            for beyond in (int(scope.value(self.high)), int(scope.value(self.low)) - 1):
                yield f"{self.name}_in_range", {self.name: np.full(shape, beyond, dtype=np.int64)}
