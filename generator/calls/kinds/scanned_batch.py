"""A graph that is run for each slice of some tensors, for each member of a batch: what Scan was at first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.solver.bodies import STEPS
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import Level
from generator.calls.variables.scanning import SLICED, WAYS, Scanned, scanned_ways
from generator.calls.variables.wanted_outputs import NAMES
from specs.model.spec import Constraint

_DIRECTIONS, _LENGTHS = "directions", "sequence_lens"


@dataclass(frozen=True)
class ScannedBatch(Scanned):
    """The body, the tensors of the last input (states, then what is sliced), directions and lengths.

    Every tensor has the batch as its first axis; what is sliced is so along its second.
    """

    @property
    def covers(self) -> tuple[str, ...]:
        return tuple(each for each in (self.name, SLICED, _DIRECTIONS, _LENGTHS) if self.subject.has(each))

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {
            f"{self.name}_step": STEPS,
            "batch": (2, 1, 3),
            **self.body_factors(),
            _DIRECTIONS: WAYS,
            _LENGTHS: (OMITTED, "full", "ragged"),
        }

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        states, gathered = int(levels["states"]), int(levels["gathered"])
        step, kind = str(levels[f"{self.name}_step"]), scope.element_type(self.given)
        if not self.is_possible(levels, scope):
            return
        batch, slices, sliced = (int(levels[each]) for each in ("batch", "slices", "sliced"))
        shape = tuple(draw.shuffled((2, 3, 4))[: int(levels["rank_of_slice"])])
        yield {
            f"shapes:{self.given.name}": [(batch, *shape)] * states + [(batch, slices, *shape)] * sliced,
            self.name: self.graph(kind, [shape] * states, [shape] * sliced, step, gathered),
            SLICED: sliced,
            _DIRECTIONS: scanned_ways(levels[_DIRECTIONS], sliced) or None,
            _LENGTHS: _lengths(levels[_LENGTHS], batch, slices, draw),
        }

    def rules(self) -> Iterable[Constraint]:
        given, count = self.given.name, self.count
        yield from self.body_rules()
        batch = f"all(rank(each) >= 1 and shape(each)[0] == shape({given}[-1])[0] for each in {given})"
        yield self.rule("same_batch", f"rank({given}[-1]) >= 2 and {batch}", about=given)
        scanned = f"{given}[len({given}) - {SLICED}:]"
        slices = f"all(rank(each) >= 2 and shape(each)[1] == shape({given}[-1])[1] for each in {scanned})"
        yield self.rule("same_slices", slices, f"{count} and rank({given}[-1]) >= 2", about=given)
        given_ways = f"present({_DIRECTIONS})"
        ways = f"{given_ways} and {count}"
        yield self.rule(f"{_DIRECTIONS}_length", f"len({_DIRECTIONS}) == {SLICED}", ways, about=_DIRECTIONS)
        listed = f"all(each in [0, 1] for each in {_DIRECTIONS})"
        yield self.rule(f"{_DIRECTIONS}_values", listed, given_ways, about=_DIRECTIONS)
        told = f"present({_LENGTHS}) and rank({given}[-1]) >= 2"
        one_each = f"shape({_LENGTHS}) == [shape({given}[-1])[0]]"
        yield self.rule(f"{_LENGTHS}_shape", one_each, told, about=_LENGTHS)
        inside = f"all(0 <= each <= shape({given}[-1])[1] for each in values({_LENGTHS}))"
        yield self.rule(f"{_LENGTHS}_range", inside, told, about=_LENGTHS)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        kind, name = scope.element_type(self.given), f"shapes:{self.given.name}"
        shapes = [tuple(each) for each in scope.find(name)]
        sliced = int(scope.find(SLICED))
        first = len(shapes) - sliced
        states, slices = [each[1:] for each in shapes[:first]], [each[2:] for each in shapes[first:]]
        gathered = len(scope.find(self.name).outputs) - first
        more = self.graph(kind, states, [*slices, ()], "kept", gathered)
        yield f"{self.name}_takes", {self.name: more}
        for other in ("int64", "bool", "double"):
            yield f"{self.name}_types", {self.name: self.graph(other, states, slices, "kept", gathered)}
        for count in (0, len(shapes) + 1):
            yield f"{SLICED}_range", {SLICED: count, _DIRECTIONS: None}
        if first > 1:
            fewer = self.graph(kind, states, slices, "kept", -1)
            yield f"{self.name}_gives", {self.name: fewer, NAMES: scope.find(NAMES)[: first - 1]}
        batch, length = shapes[-1][:2]
        if len(shapes) > 1:
            yield "same_batch", {name: [(batch + 1, *shapes[0][1:]), *shapes[1:]]}
        if sliced > 1:
            longer = (batch, length + 1, *shapes[first][2:])
            yield "same_slices", {name: [*shapes[:first], longer, *shapes[first + 1 :]]}
        yield f"{_DIRECTIONS}_length", {_DIRECTIONS: [0] * (sliced + 1)}
        yield f"{_DIRECTIONS}_values", {_DIRECTIONS: [2] * sliced}
        yield f"{_LENGTHS}_shape", {_LENGTHS: np.full(batch + 1, length, dtype=np.int64)}
        for wrong in (length + 1, -1):
            yield f"{_LENGTHS}_range", {_LENGTHS: np.full(batch, wrong, dtype=np.int64)}


def _lengths(level: Level, batch: int, most: int, draw: Draw) -> np.ndarray[Any, Any] | None:
    """How long each member of the batch is; None where that is left out."""
    if level == OMITTED:
        return None
    found = np.full(batch, most, dtype=np.int64)
    if level == "ragged":
        found[-1] = draw.integer(0, most - 1)
    return found
