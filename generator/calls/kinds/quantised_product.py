"""Scales and zero points of two quantised tensors whose products are summed, and of the sums."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.data_levels import DATA
from generator.calls.variables.kind import InputName, Kind, KindChange, Level
from generator.calls.variables.misreadings import step_changes
from opcert.vocabulary.element_types import ElementType
from specs.model.spec import Constraint

_POWERS: Sequence[float] = (0.5, 0.25, 2.0, 1.0, 0.125)
_ORDINARY: Sequence[float] = (0.0125, 0.3, 1.7, 0.07, 0.9)
_OUTPUT = "y"
_SPREAD_OF_FLOATS = 5.0
"""About how large numbers of narrow types are drawn."""


@dataclass(frozen=True)
class QuantisedProduct(Kind):
    """It covers scale and zero point of both inputs and of the output `y`.

    There is one of them for each input, or one for each row of the first and column of the second; with a
    `bias`, which tells a convolution, one for each filter of the second. The output's scale is such that its
    elements spread over the range of its type, and halves of steps are among them where scales are `powers`.
    """

    first: InputName
    second: InputName
    bias: InputName | None = None

    @property
    def covers(self) -> tuple[str, ...]:
        return tuple(f"{tensor}_{part}" for tensor in self._tensors for part in ("scale", "zero_point"))

    @property
    def needs(self) -> frozenset[str]:
        types = {self.subject.parameter(name).type for name in self.covers}
        named = {f"level:type_{each}" for each in types if each in self.subject.spec.type_constraints}
        return frozenset({f"shape:{self.first}", f"shape:{self.second}", f"level:{DATA}", *named})

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        # One scale for a tensor is the plainest, and what every runtime has.
        several = ("scalar", "each") if self.bias else ("scalar", "each", "one")
        first = ("scalar",) if self.bias else several
        return {
            f"{self.first}_scale": first,
            f"{self.second}_scale": several,
            f"{_OUTPUT}_scale": ("powers", "ordinary"),
            **{f"{tensor}_zero_point": ("some", "zero", "end") for tensor in self._tensors},
        }

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        found: dict[str, Any] = {}
        numbers = _POWERS if levels[f"{_OUTPUT}_scale"] == "powers" else _ORDINARY
        for name in (self.first, self.second):
            how = levels[f"{name}_scale"]
            shape = self._lengths(name, scope) if how == "each" else [1] * (how == "one")
            if shape is None or (how == "each" and prod(shape) < 2):
                return
            drawn = draw.child(name).shuffled(numbers)
            scales = [drawn[at % len(drawn)] for at in range(prod(shape))]
            found[f"{name}_scale"] = np.array(scales).reshape(shape)
            kind, level = self.type_of(scope, f"{name}_zero_point"), levels[f"{name}_zero_point"]
            found[f"{name}_zero_point"] = zero_points(
                level, kind, prod(shape), draw.child(f"{name} zero")
            ).reshape(shape)
        kind = self.type_of(scope, f"{_OUTPUT}_zero_point")
        level = levels[f"{_OUTPUT}_zero_point"] if kind.is_integer else "zero"
        found[f"{_OUTPUT}_zero_point"] = zero_points(level, kind, 1, draw.child("zero")).reshape(())
        step = self._step(scope, found, kind)
        if numbers is _ORDINARY:
            step *= 1.07
        found[f"{_OUTPUT}_scale"] = np.array(step)
        yield found

    def _step(self, scope: Partial, found: Mapping[str, Any], kind: ElementType) -> float:
        """A power of two of the product of two scales, which leaves most sums in the output's range."""
        unit = 1.0
        square, middle = 1.0, 1.0
        for name in (self.first, self.second):
            unit *= float(np.max(found[f"{name}_scale"]))
            zero, spread = np.asarray(found[f"{name}_zero_point"], float).reshape(-1)[0], _SPREAD_OF_FLOATS
            own, offset = self.type_of(scope, f"{name}_zero_point"), -float(zero)
            if own.is_integer:
                low, high = own.integer_range
                spread, offset = (high - low) / 3.5, (low + high) / 2 - float(zero)
                if scope.level(DATA) == "ties":
                    spread, offset = 2.0, 0.0
            square, middle = square * (spread * spread + offset * offset), middle * offset
        count = self._count(scope)
        size = math.sqrt(count * square) + count * abs(middle)
        reach = 80.0 if kind.is_integer else 4.0
        times = math.ceil(size / reach)
        return math.ldexp(unit, max((times - 1).bit_length(), 1))

    def rules(self) -> Iterable[Constraint]:
        for name in self._tensors:
            scale, zero = f"{name}_scale", f"{name}_zero_point"
            yield self.rule(f"{scale}_positive", f"all(each > 0 for each in {scale})", about=scale)
            yield self.rule(f"{zero}_shape", f"shape({zero}) == shape({scale})", about=zero)
        for name in self._tensors:
            scale = f"{name}_scale"
            yield self.rule(f"{scale}_shape", self._shaped(name), about=scale)
        floats = f"all(each == 0 for each in {_OUTPUT}_zero_point)"
        if any(
            each not in ("int8", "uint8")
            for each in self.subject.types_of(self.subject.parameter(f"{_OUTPUT}_zero_point").type)
        ):
            given = f"element_type({_OUTPUT}_zero_point) not in INTEGERS"
            yield self.rule(f"{_OUTPUT}_zero_point_of_floats", floats, given, about=f"{_OUTPUT}_zero_point")

    def _shaped(self, name: str) -> str:
        """That a scale has one of the shapes that the text has for it."""
        scale = f"{name}_scale"
        if self.bias:
            own = f" or shape({scale}) == [shape({name})[0]]" if name == self.second else ""
            return f"rank({scale}) == 0{own}"
        plain = f"len({scale}) == 1 and rank({scale}) < 2"
        if name == _OUTPUT:
            return plain
        at, one = (0, 1) if name == self.first else (-1, 2)
        vector = f"rank({name}) == 2 and shape({scale}) == [shape({name})[{at}]]"
        stack = (
            f"rank({name}) > 2 and rank({scale}) == rank({name}) and "
            f"all(shape({scale})[at] == (1 if at == rank({name}) - {one} else shape({name})[at]) "
            f"for at in range(rank({name})))"
        )
        return f"({plain}) or ({vector}) or ({stack})"

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        for name in self._tensors:
            scale, zero = f"{name}_scale", f"{name}_zero_point"
            given = np.array(scope.find(scale), dtype=np.float64)
            for wrong in (0.0, -1.0):
                changed = np.array(given)
                changed.reshape(-1)[-1:] = wrong
                yield f"{scale}_positive", {scale: changed}
            yield f"{zero}_shape", {zero: np.zeros((2, *given.shape))}
            yield f"{scale}_shape", {scale: np.ones(17), zero: np.zeros(17)}
        kind = self.type_of(scope, f"{_OUTPUT}_zero_point")
        if not kind.is_integer:
            yield f"{_OUTPUT}_zero_point_of_floats", {f"{_OUTPUT}_zero_point": np.array(1.0)}

    def changes(self) -> Iterable[KindChange]:
        return step_changes(self._tensors, (self.second,) if self.bias else (self.first, self.second))

    @property
    def _tensors(self) -> tuple[str, str, str]:
        return (self.first, self.second, _OUTPUT)

    def _lengths(self, name: str, scope: Partial) -> list[int] | None:
        """The shape of scales where each row, column or filter has one; None where there is none."""
        shape = list(scope.shape(name))
        if self.bias:
            return shape[:1]
        if len(shape) < 2:
            return None
        at = len(shape) - (2 if name == self.first else 1)
        if len(shape) == 2:
            return [shape[at]]
        return [*shape[:-2], shape[-2] if name == self.first else 1, shape[-1] if name == self.second else 1]

    def _count(self, scope: Partial) -> int:
        """How many products a sum has."""
        if self.bias:
            return max(prod(scope.shape(self.second)[1:]), 1)
        return max(scope.shape(self.first)[-1], 1)


def zero_points(level: Level, kind: ElementType, count: int, draw: Draw) -> NDArray[Any]:
    """Zero points of a level: odd ones around the middle of the range, zero, or an end of it."""
    if level == "zero":
        return np.zeros(count)
    if not kind.is_integer:
        used = (0.5, -1.0, 2.0) if level == "some" else (0.0,)
        return np.array([used[at % len(used)] for at in range(count)])
    low, high = kind.integer_range
    if level == "end":
        return np.full(count, draw.choice((low, high)))
    middle = (low + high + 1) // 2
    return np.array([(middle + number) | 1 for number in draw.numbers(-24, 24, count)])
