"""Numbers of one sign, where the difference of two of them would leave the range of their type."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from generator.calls.solver.partial import Partial
from generator.calls.variables.data_levels import DATA
from generator.calls.variables.mended_data import MendedData
from opcert.vocabulary.tensors import Tensor
from reference.numbers.numbers import bits_of, storage_of
from specs.language.expressions import Expression

_HUGE = "huge"


@dataclass(frozen=True)
class OneSign(MendedData):
    """Data of the class `huge` is positive where `when` holds; any other is drawn as that of other inputs."""

    when: Expression | None = None

    def mend(self, tensor: Tensor, scope: Partial) -> Tensor:
        if scope.level(DATA) != _HUGE or not self.holds(scope):
            return tensor
        return of_one_sign(tensor)


def of_one_sign(tensor: Tensor) -> Tensor:
    """The same magnitudes, all positive."""
    kind = tensor.element_type.component
    if not kind.is_float:
        return tensor
    bits = bits_of(np.ascontiguousarray(tensor.array).reshape(-1).view(kind.storage))
    positive = storage_of(kind, bits & np.uint64((1 << (kind.bits - 1)) - 1))
    return Tensor(tensor.element_type, positive.view(tensor.element_type.storage).reshape(tensor.shape))
