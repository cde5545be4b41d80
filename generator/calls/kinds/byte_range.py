"""Numbers of a known range: steps and halves of steps of a byte, and some that are all below zero."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from generator.calls.solver.partial import Partial
from generator.calls.variables.data_levels import DATA
from generator.calls.variables.mended_data import MendedData
from opcert.vocabulary.tensors import Tensor
from reference.numbers.numbers import encode
from specs.language.expressions import Expression

_STEPS = 255
_BELOW = (100, 0, 255, 37, 128)
"""How many of the steps lie below zero, by the size of the tensor."""


@dataclass(frozen=True)
class ByteRange(MendedData):
    """Data of the class `ties` spans 255 steps of a power of two, with halves of them between its ends.

    Of the class `distinct` all is below zero, so that the range has to be made to hold it.
    """

    when: Expression | None = None

    def mend(self, tensor: Tensor, scope: Partial) -> Tensor:
        kind, level, size = tensor.element_type, scope.level(DATA), tensor.array.size
        if level == "distinct":
            values = [-abs(float(each)) - 1 for each in tensor.array.reshape(-1).tolist()]
        elif level == "ties" and size > 1:
            below, step = _BELOW[size % len(_BELOW)], math.ldexp(1.0, size % 9 - 4)
            places = [(at * 37 + 11) % (2 * _STEPS) / 2 for at in range(size - 2)]
            values = [(each - below) * step for each in (0, _STEPS, *places)]
        else:
            return tensor
        return Tensor(kind, np.asarray(encode(kind, values)).reshape(tensor.shape))
