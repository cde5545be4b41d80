"""Kinds of inputs that are finite numbers and nothing else: locations, offsets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import CallValues, KindChange, ValueChange
from generator.calls.variables.single_kind import SingleKind
from specs.model.spec import Constraint

_GREATEST = "1.7976931348623157e+308"
Change = Callable[[NDArray[Any]], NDArray[Any]]


@dataclass(frozen=True, kw_only=True)
class FiniteNumbers(SingleKind):
    """`misread` are what programs take the numbers for: a word, a text, and the change of the array."""

    misread: ClassVar[tuple[tuple[str, str, Change], ...]]
    needs_own_shape: ClassVar[bool] = True

    def rules(self) -> Iterable[Constraint]:
        finite = f"all(-{_GREATEST} <= each <= {_GREATEST} for each in values({self.name}))"
        yield self.rule(f"{self.name}_finite", finite, self.given)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        for value in (float("nan"), float("inf"), float("-inf")):
            wrong = np.array(scope.find(self.name), dtype=np.float64)
            wrong.reshape(-1)[:1] = value
            yield f"{self.name}_finite", {self.name: wrong}

    def changes(self) -> Iterable[KindChange]:
        for word, text, change in self.misread:
            yield ValueChange(f"{self.name} {word}", text, self._changed_by(change))

    def _changed_by(self, change: Change) -> Callable[[CallValues], Bindings]:
        def changed(given: CallValues) -> Bindings:
            numbers = given.numbers(self.name)
            if numbers.dtype.kind != "f":
                raise ValueError("no numbers that numpy has")
            return {self.name: change(numbers)}

        return changed
