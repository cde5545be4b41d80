"""Numbers far from zero that lie near each other, and still differ in more than their last digits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from math import prod

import numpy as np

from generator.calls.solver.partial import Partial
from generator.calls.variables.data_levels import DATA
from generator.calls.variables.mended_data import MendedData
from opcert.vocabulary.tensors import Tensor
from reference.numbers.numbers import encode
from specs.language.expressions import Expression

_LARGE_OFFSET = "large_offset"
_STEPS = 16


@dataclass(frozen=True)
class Far(MendedData):
    """Data of the class `large_offset` stands around the root of what the significand counts, in quarters.

    So a mean of its squares less the square of its mean has lost its digits, and a mean of squared
    differences has not. Any other is drawn as that of other inputs.
    """

    when: Expression | None = None

    def mend(self, tensor: Tensor, scope: Partial) -> Tensor:
        kind = tensor.element_type
        if scope.level(DATA) != _LARGE_OFFSET or not self.holds(scope) or kind.layout is None:
            return tensor
        offset = math.ldexp(1.0, kind.layout.precision // 2 - 3)
        places = np.arange(prod(tensor.shape)) * 7 % _STEPS
        values = encode(kind, (offset + places / 4).tolist())
        return Tensor(kind, np.asarray(values).reshape(tensor.shape))
