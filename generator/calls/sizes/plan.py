"""What is asked of a call at a size at which kernels change their way: bindings of variables, a word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from generator.calls.solver.partial import Bindings
from generator.calls.variables.kind import Level

RANKS = (5, 6, 8)
COUNTS = (5, 9, 17)
"""How many tensors a variadic input gets."""


@dataclass(frozen=True)
class SizePlan:
    """Bindings by the variable that they take the place of, levels of factors, and a word.

    `asked` is the extent whose length the declaration asks for itself: then a call must have it. `along` is
    the extent that is long, of those that are summed over. With `specials` the data has NaN, infinities and
    large numbers; `alone` leaves out whatever may be left out beside what the plan asks for.
    """

    word: str
    fixed: Mapping[str, Bindings]
    levels: Mapping[str, Level] = field(default_factory=dict)
    asked: str | None = None
    specials: bool = False
    along: str | None = None
    alone: bool = False


def extents(lengths: Mapping[str, int | Sequence[int]]) -> dict[str, Bindings]:
    """Extents and packs, each of which is a variable of its own name."""
    return {
        name: {name: length if isinstance(length, int) else list(length)} for name, length in lengths.items()
    }


def by(lengths: Sequence[int]) -> str:
    """Lengths as a part of a word: `33x65`."""
    return "x".join(map(str, lengths))
