"""Quantised elements a few steps from their zero point, and biases of the size of sums of their products."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from generator.calls.solver.partial import Partial
from generator.calls.variables.data_levels import DATA
from generator.calls.variables.mended_data import MendedData
from opcert.vocabulary.tensors import Tensor
from specs.language.expressions import Expression

_STEPS = (1, -2, 3, -1, 2, 0, -3, 1)
_BIASES = (1, -3, 2, 5, 0, -1)
_WIDE = 1 << 12


@dataclass(frozen=True)
class Near(MendedData):
    """Data of the class `ties` lies a few steps from the zero point, so that its sums of products are small.

    `axis` is that along which zero points of one axis differ. Without a zero point, as of a bias, data of
    every class is small beside sums of 32 bits.
    """

    zero_point: Expression | None = None
    axis: Expression | None = None
    when: Expression | None = None

    def mend(self, tensor: Tensor, scope: Partial) -> Tensor:
        kind, level, count = tensor.element_type, scope.level(DATA), tensor.array.size
        if not kind.is_integer:
            return tensor
        if self.zero_point is None:
            times = 1 if level == "ties" else _WIDE // 8
            biases = [_BIASES[at % len(_BIASES)] * times + at % 2 for at in range(count)]
            return Tensor(kind, np.array(biases, dtype=kind.storage).reshape(tensor.shape))
        if level != "ties":
            return tensor
        zeros = np.asarray(scope.find(self.zero_point.text), dtype=np.int64)
        if zeros.size == 1:
            zeros = zeros.reshape(())
        elif zeros.ndim == 1:
            at = int(scope.value(self.axis)) if self.axis is not None else 0
            zeros = zeros.reshape(
                [-1 if each == at % tensor.array.ndim else 1 for each in range(tensor.array.ndim)]
            )
        low, high = kind.integer_range
        steps = np.array([_STEPS[at * 3 % len(_STEPS)] for at in range(count)]).reshape(tensor.shape)
        try:
            values = np.clip(steps + zeros, low, high)
        except ValueError:
            return tensor  # a call that is to be refused
        return Tensor(kind, values.astype(kind.storage)) if values.shape == tensor.shape else tensor
