"""Lengths of the tensors that one is split into along an axis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import (
    CallValues,
    InputName,
    Kind,
    KindChange,
    Level,
    ResultChange,
    SingleKind,
    ValueChange,
)
from specs.language.expressions import Expression
from specs.model.spec import Constraint


@dataclass(frozen=True)
class Splits(Kind):
    """What comes out: `outputs`, a tensor each, or a `sequence` of tensors."""


_COUNT = "num_outputs"
_MOST_PARTS = 4


@dataclass(frozen=True)
class _SplitOutputs(Splits):
    """Lengths of parts of an input along `axis`; it covers `num_outputs` too, where the version has it.

    `parts` is a name for the number of parts, for other expressions.
    """

    of: InputName
    axis: Expression
    parts: Expression

    @property
    def covers(self) -> tuple[str, ...]:
        return tuple(each for each in (self.name, _COUNT) if self.subject.has(each))

    @property
    def binds(self) -> tuple[str, ...]:
        return (self.parts.text,)

    @property
    def brings(self) -> Mapping[str, str]:
        equal = _COUNT if self._has_count else "outputs"
        return {self.parts.text: f"len({self.name}) if present({self.name}) else {equal}"}

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        remainder: tuple[Level, ...] = ("remainder",) if self._has_count else ()
        return {self.name: ("uneven", "equal", "equal_list", "single", "with_zero", "ones", *remainder)}

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        shape = scope.shape(self.of)
        extent = shape[int(scope.value(self.axis))]
        level = levels[self.name]
        for found in draw.shuffled(list(_parts(level, extent))):
            is_list = level not in ("equal", "remainder")
            values = {
                self.name: list(found) if is_list else None,
                _COUNT: None if is_list else len(found),
            }
            yield {**{name: values[name] for name in self.covers}, self.parts.text: len(found)}

    def rules(self) -> Iterable[Constraint]:
        name, extent = self.name, f"shape({self.of})[{self.axis.text}]"
        given = f"present({name})"
        yield self.rule(f"{name}_not_negative", f"all(each >= 0 for each in {name})", given)
        yield self.rule(f"{name}_total", f"sum({name}) == {extent}", given)
        if self._has_count:
            one = f"present({name}) != present({_COUNT})"
            yield self.rule(f"{name}_or_{_COUNT}", one, about=_COUNT)
            chunk = f"(({extent} + {_COUNT} - 1) // {_COUNT})"
            fits = f"{chunk} * ({_COUNT} - 1) <= {extent}"
            yield self.rule(f"{_COUNT}_fits", fits, f"present({_COUNT}) and {_COUNT} > 0", about=_COUNT)
        else:
            yield self.rule(f"{name}_equal", f"{extent} % outputs == 0", f"not {given}")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        extent = scope.shape(self.of)[int(scope.value(self.axis))]
        parts = int(scope.find(self.parts.text))
        listed = scope.find(self.name)
        if listed is not None:
            wrong = [int(each) for each in listed]
            wrong[-1] += 1
            yield f"{self.name}_total", {self.name: wrong}
            if parts > 1:
                below = [-1, extent + 1, *[0] * (parts - 2)]
                yield f"{self.name}_not_negative", {self.name: below}
            if self._has_count:
                yield f"{self.name}_or_{_COUNT}", {_COUNT: parts}
        elif self._has_count:
            yield f"{self.name}_or_{_COUNT}", {_COUNT: None}
            many = extent + 3
            yield f"{_COUNT}_fits", {_COUNT: many, **_outputs(many), self.parts.text: many}
        else:
            many = extent + 1
            yield f"{self.name}_equal", {**_outputs(many), self.parts.text: many}

    def changes(self) -> Iterable[KindChange]:
        def longer_first(given: CallValues) -> NDArray[Any]:
            if given.has(self.name) or not self._has_count:
                raise ValueError("lengths that are given")
            axis = int(given.numbers(self.axis.text)) if given.has(self.axis.text) else 0
            return np.array_split(given.numbers(self.of), int(given.numbers(_COUNT)), axis=axis)[0]

        if self._has_count:
            text = "a remainder dealt out over the first parts"
            yield ResultChange(f"{self.name} dealt out", text, self.of, longer_first)
        if self.subject.has(self.name):
            text = "the parts in reverse order"
            yield ValueChange(f"{self.name} turned", text, self._turned)

    def _turned(self, given: CallValues) -> Bindings:
        return {self.name: given.numbers(self.name)[::-1]}

    @property
    def _has_count(self) -> bool:
        return self.subject.has(_COUNT)


def _outputs(count: int) -> Bindings:
    """As many outputs as there are parts; what their names are is the drawing's business."""
    return {"output names": [f"outputs_{place}" for place in range(count)], "outputs": count}


def _parts(level: Level, extent: int) -> Iterator[Sequence[int]]:
    """Lists of lengths that show the level."""
    counts = range(2, _MOST_PARTS + 1)
    if level == "single":
        yield [extent]
    elif level == "ones" and 1 < extent <= 2 * _MOST_PARTS:
        yield [1] * extent
    elif level in ("equal", "equal_list"):
        yield from ([extent // count] * count for count in (1, *counts) if extent and extent % count == 0)
    elif level == "with_zero":
        yield from ([0, extent], [extent, 0], [0, extent, 0])
    elif level == "uneven":
        for first in range(1, extent):
            if first != extent - first:
                yield [first, extent - first]
        if extent > 3:
            yield [1, extent - 3, 2] if extent != 4 else [1, 2, 1]
    elif level == "remainder":
        for count in counts:
            chunk = -(-extent // count)
            last = extent - chunk * (count - 1)
            if extent % count and last > 0:
                yield [*[chunk] * (count - 1), last]


@dataclass(frozen=True)
class _SplitSequence(Splits, SingleKind):
    """A whole number without axes, the length of every part of an input along `axis` but for the last, which
    may be shorter; or a list of all lengths.

    No length is 0: a document that asks for positive ones and for none below 0 says both.
    """

    of: InputName
    axis: Expression

    needs_own_shape: ClassVar[bool] = False

    def levels(self) -> tuple[Level, ...]:
        return ("list", "chunk", "remainder", "longer", "ones", "whole", "one_of_list")

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[Any]:
        extent = self._extent(scope)
        if level == "list" and extent > 1:
            first = draw.integer(1, extent - 1)
            yield [first, extent - first]
        elif level == "ones":
            yield [1] * extent
        elif level == "one_of_list":
            yield [extent]
        elif level == "whole":
            yield extent
        elif level == "longer":
            yield extent + 1
        elif level in ("chunk", "remainder"):
            fits = [each for each in range(1, extent) if (extent % each == 0) == (level == "chunk")]
            yield from draw.shuffled(fits)

    def rules(self) -> Iterable[Constraint]:
        name, extent = self.name, f"shape({self.of})[{self.axis.text}]"
        given = f"present({name})"
        yield self.rule(f"{name}_rank", f"rank({name}) <= 1", given)
        yield self.rule(f"{name}_positive", f"all(each > 0 for each in {name})", given)
        yield self.rule(
            f"{name}_total", f"sum({name}) == {extent}", f"{given} and rank({name}) == 1 and min({name}) > 0"
        )

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        extent = self._extent(scope)
        yield f"{self.name}_rank", {self.name: [[extent]]}
        yield f"{self.name}_total", {self.name: [extent, 1]}
        yield f"{self.name}_positive", {self.name: [extent + 1, -1]}
        yield f"{self.name}_positive", {self.name: -1}

    def _extent(self, scope: Partial) -> int:
        return scope.shape(self.of)[int(scope.value(self.axis))]


Splits.variants = {"outputs": _SplitOutputs, "sequence": _SplitSequence}
