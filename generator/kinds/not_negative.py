"""Numbers that are not negative, as variances and magnitudes are."""

from __future__ import annotations

from dataclasses import dataclass

from generator.kinds.one_sign import of_one_sign
from generator.solved.partial import Partial
from generator.values.mended_data import MendedData
from opcert.vocabulary.tensors import Tensor
from specs.expressions import Expression


@dataclass(frozen=True)
class NotNegative(MendedData):
    """Data of every class without its signs, where `when` holds."""

    when: Expression | None = None

    def mend(self, tensor: Tensor, scope: Partial) -> Tensor:
        return of_one_sign(tensor) if self.holds(scope) else tensor
