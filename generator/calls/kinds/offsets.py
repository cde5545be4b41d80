"""How far the elements that a kernel takes are from where it would take them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Partial
from generator.calls.variables.finite_numbers import Change, FiniteNumbers
from generator.calls.variables.kind import Level


def _exchanged(offsets: NDArray[Any]) -> NDArray[Any]:
    """Of each two that follow each other along the second axis, the other one first."""
    return offsets.reshape(offsets.shape[0], -1, 2, *offsets.shape[2:])[:, :, ::-1].reshape(offsets.shape)


_MISREAD: tuple[tuple[str, str, Change], ...] = (
    ("exchanged", "offsets along two axes exchanged", _exchanged),
    ("negated", "offsets to the other side", lambda offsets: -offsets),
    ("without fractions", "offsets without their fractions", lambda offsets: np.trunc(offsets)),
)


@dataclass(frozen=True)
class Offsets(FiniteNumbers):
    """Any finite numbers: few elements, with quarters as a rule."""

    misread = _MISREAD

    def levels(self) -> tuple[Level, ...]:
        return ("quarters", "none", "whole", "decimals", "far")

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[NDArray[np.float64]]:
        shape = scope.shape(self.name)
        drawn = draw.integers(-6, 6, shape)
        steps = {"none": drawn * 0.0, "whole": (drawn % 3) - 1.0, "decimals": drawn / 10, "far": drawn * 1e3}
        yield np.asarray(steps.get(str(level), drawn / 4), dtype=np.float64)
