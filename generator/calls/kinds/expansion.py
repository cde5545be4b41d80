"""A shape that a tensor is broadcast with: extents that replace ones, and ones that keep what is there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import CallValues, InputName, KindChange, Level, ResultChange
from generator.calls.variables.single_kind import SingleKind
from specs.model.spec import Constraint


@dataclass(frozen=True)
class Expansion(SingleKind):
    """Extents that broadcast with those of an input, in both directions."""

    of: InputName

    def levels(self) -> tuple[Level, ...]:
        return ("wider", "same", "more_axes", "ones", "fewer_axes", "both_ways", "empty")

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[list[int]]:
        shape = list(scope.shape(self.of))
        narrow = [axis for axis, extent in enumerate(shape) if extent == 1]
        wide = [axis for axis, extent in enumerate(shape) if extent > 1]
        wider = [draw.integer(2, 4) if axis in narrow else extent for axis, extent in enumerate(shape)]
        if level == "same":
            yield shape
        elif level == "wider" and narrow:
            yield wider
        elif level == "more_axes":
            yield [draw.integer(2, 3), *wider]
        elif level == "ones" and wide:
            yield [1] * len(shape)
        elif level == "fewer_axes" and len(shape) > 1:
            yield wider[draw.integer(1, len(shape) - 1) :]
        elif level == "both_ways" and narrow and wide:
            yield [1 if axis in wide else extent for axis, extent in enumerate(wider)]
        elif level == "empty":
            yield []

    def rules(self) -> Iterable[Constraint]:
        name = self.name
        yield self.rule(f"{name}_not_negative", f"all(each >= 0 for each in {name})", self.given)
        yield self.rule(f"{name}_broadcasts", f"broadcasts(shape({self.of}), {name})", self.given)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        shape = list(scope.shape(self.of))
        for value in (-1, -(2**31)):
            yield f"{self.name}_not_negative", {self.name: [value, *shape]}
        for axis in reversed(range(len(shape))):
            if shape[axis] > 1:
                yield (
                    f"{self.name}_broadcasts",
                    {self.name: [*shape[:axis], shape[axis] + 1, *shape[axis + 1 :]]},
                )

    def changes(self) -> Iterable[KindChange]:
        def from_the_front(given: CallValues) -> NDArray[Any]:
            data, shape = given.numbers(self.of), [int(each) for each in given.numbers(self.name).reshape(-1)]
            rank = max(data.ndim, len(shape))
            if min(data.ndim, len(shape)) == rank:
                raise ValueError("no axes lack")
            aligned = data.reshape(*data.shape, *[1] * (rank - data.ndim))
            wanted = [*shape, *[1] * (rank - len(shape))]
            return np.broadcast_to(aligned, np.broadcast_shapes(aligned.shape, tuple(wanted)))

        text = "axes that lack added behind the others"
        yield ResultChange(f"{self.name} from the front", text, self.of, from_the_front)
