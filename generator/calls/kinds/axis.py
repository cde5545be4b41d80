"""An axis of a tensor, counted from the end where it is negative."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.kinds.axes import ONE_ELEMENT
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import InputName, Level, SingleKind, ValueChange, misread_as
from specs.language.expressions import Expression
from specs.model.spec import Constraint


@dataclass(frozen=True)
class Axis(SingleKind):
    """An axis of an input: from -r to r - 1.

    `extra` counts positions beyond the last axis (1: a place between axes), `exclude_last` leaves the last
    axis out, from which others are counted all the same, `exclude_first` the first, `negative=False` counting
    from the end (older versions).
    """

    of: InputName
    extra: Expression | None = None
    exclude_last: Expression | None = None
    exclude_first: Expression | None = None
    negative: Expression | None = None

    def levels(self) -> tuple[Level, ...]:
        counted = ("negative", "lowest") if self._may_be_negative else ()
        return ("last", "first", "inner", *counted)

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[int]:
        rank, first = self._rank(scope), int(self.says(self.exclude_first))
        if rank <= first:
            return
        if level == "last":
            yield rank - 1
        elif level == "first" and rank > first + 1:
            yield first
        elif level == "inner" and rank > first + 2:
            yield from draw.shuffled(range(first + 1, rank - 1))
        elif level == "negative" and rank > first + 1:
            yield from draw.shuffled(range(-rank + first + 1 - self._left, -self._left))
        elif level == "lowest":
            yield -rank + first - self._left

    def rules(self) -> Iterable[Constraint]:
        size = f"(rank({self.of}){self._offset_text()})"
        low = f"-{size}" if self._may_be_negative else str(self._lowest)
        listed = self.name if self.subject.input(self.name) is not None else f"[{self.name}]"
        inside = f"{low} <= each < {size}"
        if self._left:
            inside = f"({low} - 1 <= each < -1 or 0 <= each < {size})"
        yield self.rule(f"{self.name}_range", f"all({inside} for each in {listed})", self.given)
        if self.says(self.exclude_first):
            others = f"all(each not in [0, -{size}] for each in {listed})"
            yield self.rule(f"{self.name}_not_first", others, self.given)

    def shortcuts(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        """Along an axis of one element."""
        if self.extra is None:
            yield "along_one_element", {f"shape:{self.of}": ONE_ELEMENT, self.name: 1}

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        rank = self._rank(scope)
        lowest = -rank - 1 - self._left if self._may_be_negative else self._lowest - 1
        for value in (rank, lowest, 2**31 - 1, *([-1] if self._left else [])):
            yield f"{self.name}_range", {self.name: value}
        if self.says(self.exclude_first):
            for value in (0, -rank):
                yield f"{self.name}_not_first", {self.name: value}

    def changes(self) -> Iterable[ValueChange]:
        left = self._left
        other_end = ("other end", "{} counted from the other end", lambda axis: -1 - left - axis)
        yield from misread_as(self.name, other_end, ("absolute", "{} without its sign", np.abs))

    def _rank(self, scope: Partial) -> int:
        return len(scope.shape(self.of)) + self._offset(scope)

    def _offset(self, scope: Partial) -> int:
        return (0 if self.extra is None else int(scope.value(self.extra))) - self._left

    def _offset_text(self) -> str:
        text = "" if self.extra is None else f" + {self.extra.text}"
        return f"{text} - 1" if self._left else text

    @property
    def _left(self) -> int:
        """How many axes are left out at the end."""
        return int(self.says(self.exclude_last))

    @property
    def _lowest(self) -> int:
        """The least axis where none is counted from the end: a default may be, for all that."""
        attribute = self.subject.attribute(self.name)
        default = attribute.default if attribute is not None else None
        return min(default, 0) if isinstance(default, int) else 0

    @property
    def _may_be_negative(self) -> bool:
        return self.says(self.negative, default=True)
