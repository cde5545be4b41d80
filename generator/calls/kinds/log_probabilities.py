"""Logarithms of probabilities that need not add up to one: any finite numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.mended_data import MendedData
from opcert.vocabulary.tensors import Tensor
from reference.numbers.numbers import encode, numbers
from specs.language.expressions import Expression
from specs.model.spec import Constraint

_GREATEST = "1.7976931348623157e+308"
_APART = 3
"""Whole numbers are taken modulo this: classes that are never drawn tell little."""


@dataclass(frozen=True)
class LogProbabilities(MendedData):
    """Data of every class without NaN and infinities; whole numbers lie near each other."""

    when: Expression | None = None

    def mend(self, tensor: Tensor, scope: Partial) -> Tensor:
        kind = tensor.element_type
        if not kind.is_float or not self.holds(scope):
            return tensor
        values = [
            float(place % _APART)
            if not math.isfinite(each)
            else math.fmod(float(each), _APART)
            if float(each).is_integer()
            else each
            for place, each in enumerate(numbers(kind, tensor.array))
        ]
        return Tensor(kind, encode(kind, values).reshape(tensor.shape))

    def rules(self) -> Iterable[Constraint]:
        finite = f"all(-{_GREATEST} <= each <= {_GREATEST} for each in {self.name})"
        yield self.rule(f"{self.name}_finite", finite, None if self.when is None else self.when.text)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        if self.holds(scope):
            for value in (math.nan, math.inf, -math.inf):
                yield f"{self.name}_finite", {self.name: np.full(scope.shape(self.name), value)}
