"""Integers as data that lie in a range, as far as their type reaches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.mended_data import MendedData
from opcert.vocabulary.tensors import Tensor
from specs.language.expressions import Expression
from specs.model.spec import Constraint


@dataclass(frozen=True)
class Ranged(MendedData):
    """Every element is at least `low` and below `high`; where `when` does not hold every third may be any."""

    low: Expression
    high: Expression
    when: Expression | None = None

    def mend(self, tensor: Tensor, scope: Partial) -> Tensor:
        if not tensor.element_type.is_integer:
            return tensor
        least, greatest = tensor.element_type.integer_range
        low, high = max(int(scope.value(self.low)), least), min(int(scope.value(self.high)), greatest + 1)
        given = [int(each) for each in tensor.array.reshape(-1).tolist()]
        fitted = [low + (each - least) % (high - low) for each in given]
        if not self.holds(scope):
            fitted[::3] = given[::3]
        # Both ends are there wherever there is room for them.
        fitted[1:3] = [low, high - 1][: len(fitted[1:3])]
        array = np.array(fitted, dtype=tensor.array.dtype).reshape(tensor.shape)
        return Tensor(tensor.element_type, array)

    def rules(self) -> Iterable[Constraint]:
        if self._is_never():
            return
        when = self.when.text if self.when is not None else None
        inside = f"all(({self.low.text}) <= each < ({self.high.text}) for each in {self.name})"
        yield self.rule(f"{self.name}_in_range", inside, when)

    def _is_never(self) -> bool:
        """Whether this version alone says that `when` does not hold."""
        if self.when is None or self.when.names != {"version"}:
            return False
        return not self.when.evaluate({"version": self.subject.spec.operator.since_version})

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        if self.holds(scope):
            shape = scope.shape(self.name)
            for beyond in (int(scope.value(self.high)), int(scope.value(self.low)) - 1):
                yield f"{self.name}_in_range", {self.name: np.full(shape, beyond, dtype=np.int64)}
