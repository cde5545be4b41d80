"""Numbers at equal distances: the first, the limit, and the distance (`start`, `limit`, `delta`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import CallValues, Kind, KindChange, Level, ValueChange
from generator.calls.variables.vector_lengths import lengths_around
from opcert.vocabulary.element_types import ELEMENT_TYPES
from specs.model.spec import Constraint

_NAMES = ("start", "limit", "delta")
_VALUES: Mapping[Level, tuple[tuple[float, float, float], ...]] = {
    "up": ((1, 9, 2), (0, 5, 1), (-3, 6, 3)),
    "down": ((10, 4, -2), (5, 0, -1), (3, -6, -3)),
    "remainder": ((1, 9, 3), (10, 3, -2), (-4, 3, 2)),
    "one": ((2, 3, 4), (3, 2, -4)),
    "empty": ((3, 3, 1), (0, 0, -2)),
    "against": ((1, 5, -1), (5, 1, 2)),
    "many": ((0, 100, 1), (100, -1, -1)),
    "fractions": ((0.0, 1.0, 0.1), (1.0, -0.5, -0.25), (0.25, 2.0, 0.375)),
    "long_fractions": ((0.0, 20.0, 0.1),),
}
"""Starts, limits and distances that show a level; fractions in floating-point types alone."""


@dataclass(frozen=True)
class Progression(Kind):
    """It covers the inputs `start`, `limit` and `delta`, three numbers of one type."""

    @property
    def covers(self) -> tuple[str, ...]:
        return tuple(each for each in _NAMES if self.subject.has(each))

    @property
    def needs(self) -> frozenset[str]:
        parameter = self.subject.input("start")
        return frozenset({f"level:type_{parameter.type}"} if parameter is not None else ())

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {"progression": tuple(_VALUES)}

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        level = levels["progression"]
        parameter = self.subject.input("start")
        own = ELEMENT_TYPES[scope.element_type(parameter)] if parameter is not None else None
        if "fractions" in str(level) and own is not None and not own.is_float:
            return
        for values in draw.shuffled(_VALUES[level]):
            yield dict(zip(_NAMES, values, strict=True))

    def rules(self) -> Iterable[Constraint]:
        yield self.rule("delta_not_zero", "all(each != 0 for each in delta)", about="delta")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        yield "delta_not_zero", {"delta": 0}

    def edges(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        for word, start, limit in (("up", -1, 1), ("down", 1, -1)):
            yield f"progression_{word}_past_zero", dict(zip(_NAMES, (start, limit, limit), strict=True))
        for length in lengths_around():
            yield f"length_{length}", dict(zip(_NAMES, (0, length, 1), strict=True))

    def changes(self) -> Iterable[KindChange]:
        def included(given: CallValues) -> Bindings:
            start, limit, delta = (given.numbers(each).reshape(()).item() for each in _NAMES)
            if not delta or (limit - start) / delta < 0 or (limit - start) % delta:
                raise ValueError("the limit is not met")
            return {"limit": given.numbers("limit") + given.numbers("delta")}

        def one_off(given: CallValues) -> Bindings:
            return {"start": given.numbers("start") + given.numbers("delta")}

        yield ValueChange("limit included", "the limit included", included)
        yield ValueChange("start left out", "the start left out", one_off)
