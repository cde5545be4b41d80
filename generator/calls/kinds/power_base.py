"""Bases of powers: beside one for great exponents, and integers whose powers their type holds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from generator.calls.kinds.one_sign import of_one_sign
from generator.calls.solver.partial import Partial
from generator.calls.variables.data_levels import DATA
from generator.calls.variables.mended_data import MendedData
from opcert.vocabulary.tensors import Tensor
from reference.numbers.numbers import encode
from specs.language.expressions import Expression

_MOST = 9


@dataclass(frozen=True)
class PowerBase(MendedData):
    """Bases of the class `large_offset` lie beside one; those of the class `random` have no sign.

    A logarithm in the precision of the data loses the digits of what is raised to a great power. Integers
    lie between -9 and 9 but in the class `extremes`.
    """

    when: Expression | None = None

    def mend(self, tensor: Tensor, scope: Partial) -> Tensor:
        kind, level = tensor.element_type, scope.level(DATA)
        if kind.is_integer:
            few = np.remainder(tensor.array, 2 * _MOST + 1) - _MOST
            return tensor if level == "extremes" else Tensor(kind, few.astype(kind.storage))
        if level == "random":
            return of_one_sign(tensor)
        if level != "large_offset" or kind.layout is None:
            return tensor
        step = math.ldexp(1.0, -(kind.layout.precision // 2))
        places = np.arange(tensor.array.size) * 7 % 16 - 5
        return Tensor(kind, encode(kind, (1 + step * places).tolist()).reshape(tensor.shape))
