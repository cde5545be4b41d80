"""How many bands of the mel scale the bins of a spectrum are weighted into, and between which edges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import Kind, Level
from specs.model.spec import Constraint

_NAMES = ("num_mel_bins", "dft_length", "sample_rate", "lower_edge_hertz", "upper_edge_hertz")
_COARSE = (
    (2, 4, 2000, 0.0, 900.0),
    (3, 6, 2000, 40.0, 900.0),
    (1, 10, 1000, 0.0, 490.0),
    (2, 16, 2000, 40.0, 900.0),
    (3, 6, 1000, 0.0, 490.0),
)
"""Of few bins, so that edges lie in one bin in half precision, too."""
_VALUES: Mapping[Level, tuple[tuple[float, ...], ...]] = {
    "few": ((3, 16, 8000, 0.0, 3900.0), (4, 18, 8192, 0.0, 4000.0), (3, 20, 4000, 0.0, 1900.0)),
    "odd": ((3, 17, 8000, 0.0, 3700.0), (4, 21, 8192, 0.0, 3900.0), (2, 15, 4000, 0.0, 1700.0)),
    "narrow": ((8, 16, 8192, 0.0, 4096.0), (12, 12, 8000, 0.0, 3800.0), (9, 10, 4000, 0.0, 1950.0)),
    "wide": ((2, 30, 16000, 0.0, 7800.0), (1, 24, 8000, 0.0, 3900.0), (2, 26, 44100, 0.0, 20000.0)),
    "raised": ((3, 16, 8000, 300.0, 3900.0), (4, 20, 8192, 130.0, 3800.0), (2, 24, 8000, 1100.0, 3500.0)),
    "coarse": _COARSE,
    "one": ((1, 16, 8000, 0.0, 3900.0), (1, 20, 8192, 500.0, 3000.0), (1, 22, 4000, 0.0, 1500.0)),
}


@dataclass(frozen=True)
class MelBands(Kind):
    """It covers the inputs that say how many bands there are, of what spectrum, and between which edges."""

    @property
    def covers(self) -> tuple[str, ...]:
        return tuple(each for each in _NAMES if self.subject.has(each))

    @property
    def needs(self) -> frozenset[str]:
        parameter = self.subject.input("lower_edge_hertz")
        return frozenset({f"level:type_{parameter.type}"} if parameter is not None else ())

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {"bands": tuple(_VALUES)}

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        parameter = self.subject.input("lower_edge_hertz")
        own = scope.element_type(parameter) if parameter is not None else "float"
        if own == "float16" and levels["bands"] != "coarse":
            return
        for values in draw.shuffled(_VALUES[levels["bands"]]):
            yield self._bindings(values)

    @staticmethod
    def _bindings(values: Iterable[float]) -> Bindings:
        return {
            name: int(value) if at < 3 else float(value)
            for at, (name, value) in enumerate(zip(_NAMES, values, strict=True))
        }

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
