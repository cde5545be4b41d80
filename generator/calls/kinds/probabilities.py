"""Probabilities: numbers from 0 to 1, both ends among them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.mended_data import MendedData
from opcert.vocabulary.tensors import Tensor
from reference.numbers.numbers import Number, encode, numbers
from specs.language.expressions import Expression
from specs.model.spec import Constraint

_WHOLE = 16
_PLAIN = 8


@dataclass(frozen=True)
class Probabilities(MendedData):
    """Data of every class, brought into the range from 0 to 1."""

    when: Expression | None = None

    def mend(self, tensor: Tensor, scope: Partial) -> Tensor:
        kind = tensor.element_type
        if not kind.is_float or not self.holds(scope):
            return tensor
        chances = [_chance(each) for each in numbers(kind, tensor.array)]
        return Tensor(kind, encode(kind, chances).reshape(tensor.shape))

    def rules(self) -> Iterable[Constraint]:
        when = None if self.when is None else self.when.text
        yield self.rule(f"{self.name}_probabilities", f"all(0 <= each <= 1 for each in {self.name})", when)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        if self.holds(scope) and scope.shape(self.name):
            for beyond in (1.5, -0.5, math.nan, math.inf):
                yield f"{self.name}_probabilities", {self.name: np.full(scope.shape(self.name), beyond)}


def _chance(value: Number) -> Fraction:
    """A number of the range for a number of data: whole ones stand for sixteenths, others for eighths."""
    if isinstance(value, float) and not math.isfinite(value):
        return Fraction(1, 2)
    size = abs(Fraction(value))
    if size.denominator == 1:
        return Fraction(size.numerator % (_WHOLE + 1), _WHOLE)
    return size if size < 1 else size / _PLAIN if size <= _PLAIN else size % 1
