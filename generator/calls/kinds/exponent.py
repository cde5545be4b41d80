"""Exponents: whole ones of both signs, halves and other fractions, and great ones beside bases of one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.data_levels import DATA
from generator.calls.variables.kind import InputName, Kind
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.tensors import Tensor
from reference.numbers.numbers import encode
from specs.model.spec import Constraint

_WHOLE = (2, 3, 0, 1, 5, 4, 19, 7)
_SIGNED = (2, -1, 3, 0, 1, -2, 5, -3)
_FRACTIONS = (0.5, 2, -0.5, 1.5, 3, 0.3125, -1, -2.25, 0, 1, 0.25, 7.125)
_GREAT = (1, -1, 0.75, -0.625, 0.5)


@dataclass(frozen=True)
class Exponent(Kind):
    """Exponents for the bases of another input; those of integers are whole and not negative."""

    of: InputName

    @property
    def covers(self) -> tuple[str, ...]:
        return ()

    @property
    def mends(self) -> tuple[str, ...]:
        return (self.name,)

    def mend(self, tensor: Tensor, scope: Partial) -> Tensor:
        kind, level, count = tensor.element_type, scope.level(DATA), tensor.array.size
        base = self._type(scope, self.of)
        if base.is_float and level == "nonfinite":
            return tensor
        signed = kind.is_float or kind.integer_range[0] < 0
        chosen: tuple[float, ...] = _SIGNED if base.is_float and signed else _WHOLE
        if base.is_float and kind.is_float and level not in ("distinct", "ties"):
            chosen = _FRACTIONS
        values = [float(chosen[at * 5 % len(chosen)]) for at in range(count)]
        if level == "large_offset" and base.layout is not None:
            most = math.ldexp(
                1.0, min(base.layout.precision // 2 + 3, kind.layout.precision if kind.layout else 7)
            )
            values = [float(int(_GREAT[at % len(_GREAT)] * most)) for at in range(count)]
            values = values if signed else [abs(each) for each in values]
        if kind.is_float:
            return Tensor(kind, encode(kind, values).reshape(tensor.shape))
        low, high = kind.integer_range
        held = [min(max(int(each), low), high) for each in values]
        return Tensor(kind, np.array(held, dtype=kind.storage).reshape(tensor.shape))

    def rules(self) -> Iterable[Constraint]:
        whole = f"all(each >= 0 and each % 1 == 0 for each in {self.name})"
        yield self.rule(f"{self.name}_whole", whole, f"element_type({self.of}) in INTEGERS")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        shape, kind = scope.shape(self.name), self._type(scope, self.name)
        if self._type(scope, self.of).is_integer and (kind.is_float or kind.integer_range[0] < 0):
            yield f"{self.name}_whole", {self.name: np.full(shape, -1)}

    def _type(self, scope: Partial, name: str) -> ElementType:
        parameter = self.subject.input(name)
        assert parameter is not None
        return ELEMENT_TYPES[scope.element_type(parameter)]
