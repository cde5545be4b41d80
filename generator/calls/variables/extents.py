"""Extents, packs and shapes as variables of a search: what values each may have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import Level
from generator.calls.variables.shape_choices import candidate_shapes
from specs.language.shape_expressions import Shape
from specs.model.declared import DeclaredBounds

RANKS = DeclaredBounds(0, 4)
"""Ranks of a pack, where the declaration bounds them not."""
EXTENTS = DeclaredBounds(1, 8)
"""Values of an extent, likewise."""
LEVELS: tuple[Level, ...] = ("ordinary", "with_one")
"""Whether all extents are greater than one where they may be, or one of a pack is one, and others may be."""
_ORDINARY = (2, 3, 4, 5, 6, 7)
_MANY_AXES = (2, 3, 2, 1, 2, 1, 3, 2)
"""Of packs with more than five axes: few elements in all."""
_SINGLE = (2, 3, 4, 6, 8)
_DRAWS = 25


def bounds_within(given: DeclaredBounds | None, default: DeclaredBounds) -> tuple[int, int]:
    """The ends of declared bounds; an end that is left open is the default's, or as far from the other."""
    low = given.low if given is not None and given.low is not None else default.low or 0
    high = given.high if given is not None and given.high is not None else max(default.high or 0, low + 4)
    return low, high


@dataclass(frozen=True)
class Pack:
    """The extents of a pack: different from each other, one of them 1 at the level `with_one`.

    Their product is at most `most`, where that is given.
    """

    name: str
    beside_extents: bool
    most: int | None = None

    def __call__(self, scope: Partial, draw: Draw) -> Iterator[Bindings]:
        rank = int(scope.level(f"rank_{self.name}"))
        with_one = scope.level("extents") == "with_one"
        if rank == 0:
            if not with_one or self.beside_extents:
                yield {self.name: []}
            return
        seen: set[tuple[int, ...]] = set()
        for attempt in range(_DRAWS):
            stream = draw.child(str(attempt))
            shuffled = stream.shuffled(self._lengths(rank))
            found = [shuffled[axis % len(shuffled)] for axis in range(rank)]
            if with_one:
                found[stream.integer(0, rank - 1)] = 1
            if with_one and attempt >= _DRAWS // 2:
                found[stream.integer(0, rank - 1)] = 1  # perhaps a second one
            if tuple(found) not in seen and (self.most is None or prod(found) <= self.most):
                seen.add(tuple(found))
                yield {self.name: found}

    def _lengths(self, rank: int) -> tuple[int, ...]:
        """What the extents are taken from: of three or more, those that may stand beside 2 and 3."""
        if rank > 5:
            return _MANY_AXES
        if self.most is None or rank < 3:
            return _ORDINARY
        return tuple(each for each in _ORDINARY if 2 * 3 * each <= self.most)


@dataclass(frozen=True)
class ExtentVariable:
    """A single extent, the ordinary ones first; 1 only where the level or the bounds ask for it."""

    name: str
    low: int
    high: int

    def __call__(self, scope: Partial, draw: Draw) -> Iterator[Bindings]:
        ordinary = [each for each in _SINGLE if self.low <= each <= self.high] or [self.low]
        one = [1] if self.low <= 1 <= self.high and 1 not in ordinary else []
        if scope.level("extents") == "with_one":
            values = draw.shuffled([*ordinary, *one])
        else:
            values = [*draw.shuffled(ordinary), *one]
        for each in values:
            yield {self.name: each}


@dataclass(frozen=True)
class InputShape:
    """The shape of an input, None where it is left out."""

    name: str
    shape: Shape
    group: Sequence[str]

    def __call__(self, scope: Partial, draw: Draw) -> Iterator[Bindings]:
        if scope.level(self.name) == OMITTED:
            yield {f"shape:{self.name}": None}
            return
        for each in candidate_shapes(self.name, self.shape, scope, draw, self.group):
            yield {f"shape:{self.name}": each}


@dataclass(frozen=True)
class VariadicShapes:
    """The shapes of the tensors of a variadic input, or of a sequence, as the declaration says of them."""

    name: str
    shape: Shape

    def __call__(self, scope: Partial, draw: Draw) -> Iterator[Bindings]:
        count = int(scope.level(f"{self.name}_count"))
        members = [f"{self.name}/{place}" for place in range(count)]
        found: list[tuple[int, ...]] = []
        for member in members:
            first = next(candidate_shapes(member, self.shape, scope, draw.child(member), members), None)
            if first is None:
                return
            found.append(first)
        yield {f"shapes:{self.name}": found}
