"""Tensors that need have nothing in common but their element type, as those of a sequence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import Kind, Level
from specs.language.expressions import Expression

_COUNTS: tuple[Level, ...] = (2, 1, 3, 0)
_MANY = 40
_MOST_RANK = 3


@dataclass(frozen=True)
class Various(Kind):
    """The shapes of the tensors of a sequence or of a variadic input, of which there are `least` at least.

    Shapes differ, so that two tensors that changed places are told apart even where their elements are not.
    """

    least: Expression | None = None

    @property
    def covers(self) -> tuple[str, ...]:
        return ()

    @property
    def binds(self) -> tuple[str, ...]:
        return (f"shapes:{self.name}",)

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        least = 0 if self.least is None else int(self.least.evaluate({}))
        counts = tuple(count for count in _COUNTS if int(count) >= least)
        return {f"{self.name}_count": counts, f"{self.name}_shapes": ("different", "ranks", "alike", "empty")}

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        count = int(levels[f"{self.name}_count"])
        yield {f"shapes:{self.name}": _shapes(levels[f"{self.name}_shapes"], count, draw)}

    def edges(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        shapes = [tuple(each) for each in scope.find(f"shapes:{self.name}")]
        yield f"{_MANY}_tensors", {f"shapes:{self.name}": (shapes or [(2,)])[:1] * _MANY}


def _shapes(level: Level, count: int, draw: Draw) -> list[tuple[int, ...]]:
    if level == "ranks":
        ranks = draw.shuffled(range(_MOST_RANK + 1))[:count]
        return [tuple(draw.integer(2, 3) for _ in range(rank)) for rank in ranks]
    rank = draw.integer(1, _MOST_RANK)
    shape = tuple(draw.integer(2, 4) for _ in range(rank))
    if level == "alike":
        return [shape] * count
    lengths = draw.shuffled(range(1, 6))[:count]
    if level == "empty" and count:
        lengths[draw.integer(0, count - 1)] = 0
    return [(*shape[:-1], length) for length in lengths]
