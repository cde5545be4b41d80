"""An axis of a tensor, or a list of several; they are counted from the end where they are negative."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import InputName, KindChange, Level, SingleKind, ValueChange, misread_as
from generator.calls.variables.misreadings import axes_changes
from specs.language.expressions import Expression
from specs.model.spec import Constraint
from specs.model.structures import element_types_of, type_variable

_ONE_ELEMENT = (3, 1, 4)
"""A shape whose inner axis has one element."""


@dataclass(frozen=True)
class Axis(SingleKind):
    """One axis of an input, or, where the word `several` comes first, a list of axes.

    `negative=False` leaves counting from the end out, as in older versions.
    """

    of: InputName
    negative: Expression | None = field(default=None, kw_only=True)

    several: ClassVar[bool] = False

    @property
    def any_of_input(self) -> bool:
        """Whether any axis of the input may be one: not those of length one alone, or of a result."""
        raise NotImplementedError

    @property
    def may_be_negative(self) -> bool:
        """Whether axes are counted from the end, too."""
        return self.says(self.negative, default=True)


@dataclass(frozen=True)
class _OneAxis(Axis):
    """An axis of an input: from -r to r - 1.

    `extra` counts positions beyond the last axis (1: a place between axes), `exclude_last` leaves the last
    axis out, from which others are counted all the same, `exclude_first` the first.
    """

    extra: Expression | None = None
    exclude_last: Expression | None = None
    exclude_first: Expression | None = None

    def levels(self) -> tuple[Level, ...]:
        counted = ("negative", "lowest") if self.may_be_negative else ()
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
        low = f"-{size}" if self.may_be_negative else str(self._lowest)
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
            yield "along_one_element", {f"shape:{self.of}": _ONE_ELEMENT, self.name: 1}

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        rank = self._rank(scope)
        lowest = -rank - 1 - self._left if self.may_be_negative else self._lowest - 1
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
    def any_of_input(self) -> bool:
        return self.extra is None


@dataclass(frozen=True)
class _SeveralAxes(Axis):
    """A list of axes, each at most once.

    `empty` says that an empty list is a level too: without it none is made, though rules allow it, since a
    silent document may mean no axis or all of them; `adds=True` that the axes are those of an output, which
    has as many more as there are in the list (Unsqueeze); `unit=True` keeps to axes of extent 1 (Squeeze).
    """

    empty: Expression | None = None
    adds: Expression | None = None
    unit: Expression | None = None

    several: ClassVar[bool] = True

    def levels(self) -> tuple[Level, ...]:
        counted: tuple[Level, ...] = ("negative", "mixed_signs") if self.may_be_negative else ()
        empty: tuple[Level, ...] = ("empty",) if self.says(self.empty) else ()
        return ("partial", "all", "permuted", *counted, *empty)

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[list[int]]:
        if level == "empty":
            yield []
            return
        for chosen, rank in self._choices(level, scope, draw):
            yield _signed(level, chosen, rank)

    def _choices(self, level: Level, scope: Partial, draw: Draw) -> Iterator[tuple[list[int], int]]:
        """Axes in order, and the rank that they count in."""
        shape = scope.shape(self.of)
        if self._adds:
            # As many axes as the output gets more: any of its places.
            for count in draw.shuffled(range(1, 4)):
                rank = len(shape) + count
                places = draw.shuffled(range(rank))[:count]
                yield from ((each, rank) for each in _ordered(level, sorted(places), rank))
            return
        rank = len(shape)
        allowed = [axis for axis, extent in enumerate(shape) if not self.says(self.unit) or extent == 1]
        if not allowed:
            return
        if level == "all":
            yield allowed, rank
            return
        every = self.says(self.unit) or level in ("negative", "mixed_signs")
        counts = range(1, len(allowed) + 1) if every else range(1, max(len(allowed), 2))
        for count in draw.shuffled(counts):
            if level == "permuted" and count < 2 <= len(allowed):
                count = len(allowed)
            places = sorted(draw.shuffled(allowed)[:count])
            yield from ((each, rank) for each in _ordered(level, places, rank))

    def rules(self) -> Iterable[Constraint]:
        size = f"(rank({self.of}) + len({self.name}))" if self._adds else f"rank({self.of})"
        low = f"-{size}" if self.may_be_negative else "0"
        yield self.rule(
            f"{self.name}_range", f"all({low} <= each < {size} for each in {self.name})", self.given
        )
        distinct = f"len(set([(each + {size}) % {size} for each in {self.name}])) == len({self.name})"
        yield self.rule(
            f"{self.name}_distinct", distinct, self._and(f"len({self.name}) > 0"), otherwise="undefined"
        )
        if self.says(self.unit):
            narrow = f"all(shape({self.of})[each] == 1 for each in {self.name})"
            yield self.rule(f"{self.name}_of_extent_one", narrow, self.given)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        shape = scope.shape(self.of)
        rank = len(shape)
        reach = rank + 1 if self._adds else rank
        lowest = -reach - 1 if self.may_be_negative else -1
        for value in (reach, lowest, 2**31 - 1):
            yield f"{self.name}_range", {self.name: [value]}
        unit = [axis for axis, extent in enumerate(shape) if extent == 1 or not self.says(self.unit)]
        if self._adds or unit:
            first = 0 if self._adds else unit[0]
            yield f"{self.name}_distinct", {self.name: [first, first]}
            if self.may_be_negative:
                both = [first, first - (rank + 2 if self._adds else rank)]
                yield f"{self.name}_distinct", {self.name: both}
        wide = [axis for axis, extent in enumerate(shape) if extent > 1]
        if self.says(self.unit) and wide:
            yield f"{self.name}_of_extent_one", {self.name: [wide[0]]}

    def shortcuts(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        """Along an axis of one element."""
        if not self._adds and not self.says(self.unit):
            yield "along_one_element", {f"shape:{self.of}": _ONE_ELEMENT, self.name: [1]}

    def edges(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        """Of no booleans, where axes are reduced: what is least or greatest hangs on the type."""
        spec = self.subject.spec
        data = next(parameter for parameter in spec.inputs if parameter.name == self.of)
        if "keepdims" in spec.attributes and "bool" in element_types_of(spec, data):
            factor = f"level:type_{type_variable(spec, data)}"
            yield "no_booleans", {factor: "bool", f"shape:{self.of}": (0, 2), self.name: [0]}

    def changes(self) -> Iterable[KindChange]:
        return axes_changes(
            self.name, lambda given, count: len(given.shape(self.of)) + (count if self._adds else 0)
        )

    def _and(self, condition: str) -> str:
        return condition if self.given is None else f"{self.given} and {condition}"

    @property
    def any_of_input(self) -> bool:
        return not self.says(self.unit) and not self._adds

    @property
    def _adds(self) -> bool:
        return self.says(self.adds)


def _ordered(level: Level, places: Sequence[int], rank: int) -> Iterator[list[int]]:
    """The axes in the order and number that a level asks for; none where they cannot be so."""
    found = list(places)
    if level == "permuted":
        if len(found) > 1:
            yield [*found[1:], found[0]]
    elif level == "mixed_signs":
        if len(found) > 1:
            yield found
    elif level == "all" or len(found) < rank or level == "negative":
        yield found


def _signed(level: Level, chosen: Sequence[int], rank: int) -> list[int]:
    if level == "negative":
        return [axis - rank for axis in chosen]
    if level == "mixed_signs":
        return [axis - rank if place % 2 == 0 else axis for place, axis in enumerate(chosen)]
    return list(chosen)


Axis.variants = {"": _OneAxis, "several": _SeveralAxes}
