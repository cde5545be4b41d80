"""The shape that a tensor is reshaped to: extents, one of them inferred (-1), some of them copied (0)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

from numpy.typing import NDArray

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import (
    CallValues,
    InputName,
    KindChange,
    Level,
    ResultChange,
    SingleKind,
    ValueChange,
)
from specs.language.expressions import Expression
from specs.model.spec import Constraint


@dataclass(frozen=True)
class TargetShape(SingleKind):
    """Extents of as many elements as the input has; `zero_copies` says when a 0 copies the input's extent."""

    of: InputName
    zero_copies: Expression | None = None

    def levels(self) -> tuple[Level, ...]:
        return (
            "merged",
            "same",
            "split",
            "flat",
            "regrouped",
            "longer",
            "inferred",
            "copied",
            "copied_inferred",
        )

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[list[int]]:
        shape = list(scope.shape(self.of))
        count = prod(shape)
        if level == "same":
            yield shape
        elif level == "merged" and len(shape) > 1:
            place = draw.integer(0, len(shape) - 2)
            yield [*shape[:place], shape[place] * shape[place + 1], *shape[place + 2 :]]
        elif level == "flat":
            yield [count]
        elif level == "split":
            yield from self._split(shape, draw)
        elif level == "regrouped" and len(shape) > 1 and sorted(shape) != shape:
            yield sorted(shape)
        elif level == "longer":
            yield [1, *shape, 1]
        elif level == "inferred" and count:
            found = shape or [1]
            place = draw.integer(0, len(found) - 1)
            yield [*found[:place], -1, *found[place + 1 :]]
        elif level in ("copied", "copied_inferred") and self._copies(scope) and shape and count:
            yield from self._copied(shape, level == "copied_inferred", draw)

    @staticmethod
    def _split(shape: list[int], draw: Draw) -> Iterator[list[int]]:
        for place in draw.shuffled(range(len(shape))):
            factors = [each for each in range(2, shape[place]) if shape[place] % each == 0]
            if factors:
                factor = draw.choice(factors)
                yield [*shape[:place], factor, shape[place] // factor, *shape[place + 1 :]]

    @staticmethod
    def _copied(shape: list[int], inferred: bool, draw: Draw) -> Iterator[list[int]]:
        place = draw.integer(0, len(shape) - 1)
        if not inferred:
            yield [*shape[:place], 0, *shape[place + 1 :]]
        elif len(shape) > 1:
            other = (place + 1) % len(shape)
            yield [0 if at == place else -1 if at == other else extent for at, extent in enumerate(shape)]

    def rules(self) -> Iterable[Constraint]:
        name = self.name
        yield self.rule(f"{name}_extents", f"all(each >= -1 for each in {name})", self.given)
        yield self.rule(
            f"{name}_inferred_once", f"sum([1 for each in {name} if each == -1]) <= 1", self.given
        )
        copies = "True" if self.zero_copies is None else self.zero_copies.text
        inside = f"all(each != 0 or at < rank({self.of}) for at, each in enumerate({name}))"
        yield self.rule(f"{name}_copies_an_axis", inside, self._and(copies))
        total = f"reshapes(shape({self.of}), {name}, {copies})"
        yield self.rule(f"{name}_total", total, self.given, otherwise="undefined")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        shape = list(scope.shape(self.of))
        count = prod(shape)
        for value in (-2, -(2**31)):
            yield f"{self.name}_extents", {self.name: [count, value]}
        yield f"{self.name}_inferred_once", {self.name: [-1, -1]}
        yield f"{self.name}_copies_an_axis", {self.name: [*shape, 0]}
        yield f"{self.name}_total", {self.name: [count + 1]}
        if count > 1:
            yield f"{self.name}_total", {self.name: [-1, count + 1]}
            yield f"{self.name}_total", {self.name: []}

    def changes(self) -> Iterable[KindChange]:
        name = self.name
        yield ValueChange(f"{name} without ones", f"extents of 1 in {name} left out", self._without_ones)
        text = "elements in the order in which the first axis runs fastest"
        yield ResultChange(f"{name} first axis fastest", text, self.of, self._first_axis_fastest)

    def _without_ones(self, given: CallValues) -> Bindings:
        target = given.numbers(self.name)
        if not (target > 1).any() or 0 in target:
            raise ValueError("places or numbers of elements that hang on the ones")
        return {self.name: target[target != 1]}

    def _first_axis_fastest(self, given: CallValues) -> NDArray[Any]:
        data, target = given.numbers(self.of), given.numbers(self.name).tolist()
        if 0 in target or target.count(-1) > 1:
            raise ValueError("copied extents, or several that are inferred")
        return data.reshape(target, order="F")

    def _copies(self, scope: Partial) -> bool:
        return self.zero_copies is None or bool(scope.value(self.zero_copies))

    def _and(self, condition: str) -> str:
        return condition if self.given is None else f"{self.given} and ({condition})"
