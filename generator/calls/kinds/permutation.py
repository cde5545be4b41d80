"""An order of all axes of a tensor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import (
    InputName,
    KindChange,
    Level,
    SingleKind,
    misread_as,
)
from specs.model.spec import Constraint


@dataclass(frozen=True)
class Permutation(SingleKind):
    """Every axis of an input once."""

    of: InputName

    def levels(self) -> tuple[Level, ...]:
        return ("reversed", "identity", "rotated", "random")

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[list[int]]:
        plain = list(range(len(scope.shape(self.of))))
        if level == "identity":
            yield plain
        elif level == "reversed" and len(plain) > 1:
            yield plain[::-1]
        elif level == "rotated" and len(plain) > 2:
            yield [*plain[1:], plain[0]]
        elif level == "random" and len(plain) > 2:
            known = (plain, plain[::-1], [*plain[1:], plain[0]])
            for turn in range(8):
                drawn = draw.child(str(turn)).shuffled(plain)
                if drawn not in known:
                    yield drawn

    def rules(self) -> Iterable[Constraint]:
        yield self.rule(
            f"{self.name}_is_permutation", f"sorted({self.name}) == range(rank({self.of}))", self.given
        )

    def shortcuts(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        """Axes of length 1 move, and others of equal lengths beside them."""
        for word, shape, order in (
            ("ones_stay_and_others_move", (4, 1, 4), [2, 1, 0]),
            ("ones_and_others_move", (1, 4, 4), [2, 1, 0]),
            ("a_one_moves_between_others", (4, 4, 1), [1, 2, 0]),
            ("pairs_move", (1, 3, 1, 3), [2, 3, 0, 1]),
        ):
            yield word, {f"shape:{self.of}": shape, self.name: order}

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        rank = len(scope.shape(self.of))
        plain = list(range(rank))
        wrong = [[*plain, rank], *([plain[1:], [*plain[:-1], rank], [0] * rank] if rank > 1 else [])]
        for value in wrong:
            yield f"{self.name}_is_permutation", {self.name: value}

    def changes(self) -> Iterable[KindChange]:
        yield from misread_as(self.name, ("inverse", "the inverse of {}", _inverted))


def _inverted(permutation: NDArray[Any]) -> list[int]:
    places = [int(place) for place in permutation]
    return sorted(range(len(places)), key=places.__getitem__)
