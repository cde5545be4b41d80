"""Data without zeros: divisors."""

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
class Nonzero(MendedData):
    """No element of the input is zero where `when` holds; its data is drawn as that of other inputs."""

    when: Expression | None = None

    def mend(self, tensor: Tensor, scope: Partial) -> Tensor:
        if not self.holds(scope):
            return tensor
        array = np.array(tensor.array)
        array[array == 0] = 1
        return Tensor(tensor.element_type, array)

    def rules(self) -> Iterable[Constraint]:
        when = self.when.text if self.when is not None else None
        yield self.rule(f"{self.name}_not_zero", f"all(each != 0 for each in {self.name})", when)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        if self.holds(scope):
            shape = scope.shape(self.name)
            yield f"{self.name}_not_zero", {self.name: np.zeros(shape, dtype=np.int64)}
            one = np.ones(shape, dtype=np.int64)
            one.reshape(-1)[-1:] = 0
            yield f"{self.name}_not_zero", {self.name: one}
