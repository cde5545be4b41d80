"""The axis of a quantised tensor along which scales differ, and the blocks that share one there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import InputName, Kind, Level
from specs.language.expressions import Expression
from specs.model.spec import Constraint

LENGTHS = "lengths_of_scales"
"""The name that the shape of the scales is bound under."""
_BLOCKS = ("blocks", "ragged_blocks", "one_block", "blocks_of_one")


@dataclass(frozen=True)
class QuantisedAxis(Kind):
    """It covers axis and block_size as far as there are, and binds the shape of the scales.

    One scale for all, one for each place along an axis, or one for each block of places there.
    """

    of: InputName
    scale: Expression
    zero_point: Expression

    @property
    def covers(self) -> tuple[str, ...]:
        return tuple(each for each in ("axis", "block_size") if self.subject.has(each))

    @property
    def binds(self) -> tuple[str, ...]:
        return (LENGTHS,) if self.covers else ()

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({f"shape:{self.of}"})

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        if not self.covers:
            return {}
        blocks = _BLOCKS if self.subject.has("block_size") else ()
        return {
            "granularity": ("tensor", "axis", *blocks),
            "axis": ("first", "inner", "negative", OMITTED),
        }

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        shape, named = scope.shape(self.of), levels["axis"]
        rank, how = len(shape), levels["granularity"]
        if how != "tensor" and rank < 2:
            return
        places: Sequence[int] = {
            "first": range(1),
            "inner": range(1, rank - 1),
            "negative": range(-rank, 0),
        }.get(str(named), range(1, 2))
        for at in draw.shuffled(places):
            given = None if named == OMITTED else at
            if how == "tensor":
                # The axis says nothing there; what is not left out lies in its range for all that.
                yield self._bound(given, None, ())
            elif how == "axis":
                yield self._bound(given, None, (shape[at],))
            else:
                for size in draw.child(str(at)).shuffled(_sizes(how, shape[at])):
                    count = -(-shape[at] // size)
                    yield self._bound(given, size, (*shape[: at % rank], count, *shape[at % rank + 1 :]))

    def _bound(self, axis: int | None, block: int | None, lengths: tuple[int, ...]) -> dict[str, Any]:
        blocks = {"block_size": block} if "block_size" in self.covers else {}
        return {"axis": axis, **blocks, LENGTHS: list(lengths)}

    def rules(self) -> Iterable[Constraint]:
        if not self.covers:
            return
        x, scale = self.of, self.scale.text
        several = f"rank({scale}) > 0"
        inside = f"-rank({x}) <= axis < rank({x})"
        yield self.rule("axis_range", inside, several, about="axis")
        found = f"granularity(shape({x}), shape({scale}), axis)"
        allowed = "!= 'none'" if self.subject.has("block_size") else "in ['tensor', 'axis']"
        yield self.rule(
            f"{scale}_shape", f"{found} {allowed}", f"rank({scale}) == 0 or {inside}", about=scale
        )
        if self.subject.has("block_size"):
            fits = f"block_fits(shape({x}), shape({scale}), axis, block_size)"
            blocked = f"{several} and {found} == 'block'"
            yield self.rule("block_size_range", fits, blocked, about="block_size")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        if not self.covers:
            return
        scale, shape = self.scale.text, scope.shape(self.of)
        rank, last = len(shape), shape[-1] if shape else 1
        along: dict[str, Any] = {scale: np.ones(last), self.zero_point.text: None}
        if self.subject.has("block_size"):
            along["block_size"] = None
        for axis in (rank, -rank - 1, 2**31 - 1):
            yield "axis_range", {**along, "axis": axis}
        for wrong in (np.ones(last + 1), np.ones((2, *shape))):
            yield f"{scale}_shape", {**along, "axis": rank - 1, scale: wrong}
        if self.subject.has("block_size"):
            blocks = {**along, "axis": rank - 1, scale: np.ones((*shape[:-1], 1))}
            for size in (0, -1, last - 1):
                yield "block_size_range", {**blocks, "block_size": size}


def _sizes(how: Level, length: int) -> list[int]:
    """The sizes of blocks of which an axis has several, or one, or as many as places."""
    if how == "one_block":
        return [length] * (length > 1)
    if how == "blocks_of_one":
        return [1]
    return [each for each in range(2, length) if bool(length % each) == (how == "ragged_blocks")]
