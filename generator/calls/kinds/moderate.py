"""Numbers of moderate size, for computations in which greater ones leave nothing to tell apart."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from generator.calls.data.scaling import scaled_down
from generator.calls.solver.partial import Partial
from generator.calls.variables.mended_data import MendedData
from opcert.vocabulary.tensors import Tensor
from specs.language.expressions import Expression


@dataclass(frozen=True)
class Moderate(MendedData):
    """The finite numbers of an input, all times one power of two, so that none is beyond `most`."""

    most: Expression
    when: Expression | None = None

    def mend(self, tensor: Tensor, scope: Partial) -> Tensor:
        most = Fraction(self.most.evaluate({}))
        return scaled_down(tensor, most) if self.holds(scope) else tensor
