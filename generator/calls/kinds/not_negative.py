"""Numbers that are not negative, as variances and magnitudes are."""

from __future__ import annotations

from dataclasses import dataclass

from generator.calls.kinds.one_sign import of_one_sign
from generator.calls.solver.partial import Partial
from generator.calls.variables.mended_data import MendedData
from opcert.vocabulary.tensors import Tensor
from specs.language.expressions import Expression


@dataclass(frozen=True)
class NotNegative(MendedData):
    """Data of every class without its signs, where `when` holds."""

    when: Expression | None = None

    def mend(self, tensor: Tensor, scope: Partial) -> Tensor:
        return of_one_sign(tensor) if self.holds(scope) else tensor
