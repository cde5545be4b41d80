"""Numbers that belong together: those of a progression, of bands of the mel scale."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import CallValues, Kind, KindChange, Level, ValueChange
from generator.calls.variables.vector_lengths import lengths_around
from opcert.vocabulary.element_types import ElementType
from specs.model.spec import Constraint

Numbers = tuple[tuple[float, ...], ...]
_STEPS = ("start", "limit", "delta")
_PROGRESSIONS: Mapping[Level, Numbers] = {
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
_NAMES = ("num_mel_bins", "dft_length", "sample_rate", "lower_edge_hertz", "upper_edge_hertz")
_COARSE = (
    (2, 4, 2000, 0.0, 900.0),
    (3, 6, 2000, 40.0, 900.0),
    (1, 10, 1000, 0.0, 490.0),
    (2, 16, 2000, 40.0, 900.0),
    (3, 6, 1000, 0.0, 490.0),
)
"""Of few bins, so that edges lie in one bin in half precision, too."""
_BANDS: Mapping[Level, Numbers] = {
    "few": ((3, 16, 8000, 0.0, 3900.0), (4, 18, 8192, 0.0, 4000.0), (3, 20, 4000, 0.0, 1900.0)),
    "odd": ((3, 17, 8000, 0.0, 3700.0), (4, 21, 8192, 0.0, 3900.0), (2, 15, 4000, 0.0, 1700.0)),
    "narrow": ((8, 16, 8192, 0.0, 4096.0), (12, 12, 8000, 0.0, 3800.0), (9, 10, 4000, 0.0, 1950.0)),
    "wide": ((2, 30, 16000, 0.0, 7800.0), (1, 24, 8000, 0.0, 3900.0), (2, 26, 44100, 0.0, 20000.0)),
    "raised": ((3, 16, 8000, 300.0, 3900.0), (4, 20, 8192, 130.0, 3800.0), (2, 24, 8000, 1100.0, 3500.0)),
    "coarse": _COARSE,
    "one": ((1, 16, 8000, 0.0, 3900.0), (1, 20, 8192, 500.0, 3000.0), (1, 22, 4000, 0.0, 1500.0)),
}


@dataclass(frozen=True)
class Rows(Kind):
    """Numbers for several inputs, of which a level has some rows: a `progression`, or `mel_bands`."""

    factor: ClassVar[str]
    table: ClassVar[Mapping[Level, Numbers]]
    typed: ClassVar[str]
    """The input whose element type says which levels there are."""

    @property
    def needs(self) -> frozenset[str]:
        return self.type_levels(self.typed)

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {self.factor: tuple(self.table)}

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        level = levels[self.factor]
        if self.is_of(str(level), self.type_of(scope, self.typed)):
            for row in draw.shuffled(self.table[level]):
                yield dict(zip(self.covered, row, strict=True))

    def is_of(self, level: str, element_type: ElementType) -> bool:
        """Whether an element type has a level."""
        raise NotImplementedError


@dataclass(frozen=True)
class _Progression(Rows):
    """Numbers at equal distances: the first, the limit, and the distance, three numbers of one type."""

    covered: ClassVar[tuple[str, ...]] = _STEPS
    factor: ClassVar[str] = "progression"
    table: ClassVar[Mapping[Level, Numbers]] = _PROGRESSIONS
    typed: ClassVar[str] = "start"

    def is_of(self, level: str, element_type: ElementType) -> bool:
        return "fractions" not in level or element_type.is_float

    def rules(self) -> Iterable[Constraint]:
        yield self.rule("delta_not_zero", "all(each != 0 for each in delta)", about="delta")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        yield "delta_not_zero", {"delta": 0}

    def edges(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        for word, start, limit in (("up", -1, 1), ("down", 1, -1)):
            yield f"progression_{word}_past_zero", dict(zip(_STEPS, (start, limit, limit), strict=True))
        for length in lengths_around():
            yield f"length_{length}", dict(zip(_STEPS, (0, length, 1), strict=True))

    def changes(self) -> Iterable[KindChange]:
        def included(given: CallValues) -> Bindings:
            start, limit, delta = (given.numbers(step).reshape(()).item() for step in _STEPS)
            if not delta or (limit - start) / delta < 0 or (limit - start) % delta:
                raise ValueError("the limit is not met")
            return {"limit": given.numbers("limit") + given.numbers("delta")}

        def one_off(given: CallValues) -> Bindings:
            return {"start": given.numbers("start") + given.numbers("delta")}

        yield ValueChange("limit included", "the limit included", included)
        yield ValueChange("start left out", "the start left out", one_off)


@dataclass(frozen=True)
class _MelBands(Rows):
    """How many bands of the mel scale the bins of a spectrum are weighted into, and between which edges."""

    covered: ClassVar[tuple[str, ...]] = _NAMES
    factor: ClassVar[str] = "bands"
    table: ClassVar[Mapping[Level, Numbers]] = _BANDS
    typed: ClassVar[str] = "lower_edge_hertz"

    def is_of(self, level: str, element_type: ElementType) -> bool:
        return level == "coarse" or element_type.name != "float16"

    def rules(self) -> Iterable[Constraint]:
        for name in _NAMES[:3]:
            yield self.rule(f"{name}_positive", f"all(each >= 1 for each in {name})", about=name)
        lower, upper, rate = (f"values({name})[0]" for name in (*_NAMES[3:], _NAMES[2]))
        yield self.rule("lower_edge_not_negative", f"{lower} >= 0", about=_NAMES[3])
        yield self.rule("edges_rise", f"{lower} < {upper}", about=_NAMES[4])
        yield self.rule("upper_edge_inside", f"2 * {upper} <= max({rate}, 1)", about=_NAMES[4])

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        for name in _NAMES[:2]:
            yield f"{name}_positive", {name: 0}
        # Edges that no rate of a spectrum has, but that lie below half of 1.
        yield f"{_NAMES[2]}_positive", {_NAMES[2]: 0, _NAMES[3]: 0.0, _NAMES[4]: 0.25}
        yield "lower_edge_not_negative", {_NAMES[3]: -16.0}
        yield "edges_rise", {_NAMES[3]: float(np.asarray(scope.find(_NAMES[4])).reshape(-1)[0])}
        yield "upper_edge_inside", {_NAMES[2]: 4}


Rows.variants = {"progression": _Progression, "mel_bands": _MelBands}
