"""How a tensor is resampled: the method, and what documents leave open about its arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from reference.readings.choices import Choice
from reference.shared.interpolation.axis_weights import Kernel
from reference.shared.interpolation.coordinates import CoordinateAxis
from reference.shared.movement import NegativeZeros, Subnormals

Plans = tuple[CoordinateAxis | None, ...]


@dataclass(frozen=True)
class Method:
    """How to resample: `rule` picks the nearest element where `kernel` is None."""

    rule: str
    kernel: Kernel | None
    extrapolation_value: Fraction

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        # Fractions are slow to hash, and a method is looked up under every combination of readings.
        return hash((self.rule, self.kernel, self.extrapolation_value))

    @property
    def by_scale(self) -> bool:
        """Whether the scale matters in itself, not for the coordinates alone."""
        return self.rule == "ceil_downsampling" if self.kernel is None else self.kernel.antialias


@dataclass(frozen=True)
class Behaviours:
    """What documents leave to the implementation: see specs/readings.yaml.

    Those that a version does not name have one answer.
    """

    conversion: Choice[str]
    overflow: Choice[str]
    subnormals: Subnormals
    negative_zeros: NegativeZeros
    integer_steps: Choice[str] = Choice("once")
    unlisted_axes: Choice[str] = Choice("untouched")


@dataclass(frozen=True)
class Arithmetic:
    """What the behaviours come to in one call."""

    conversion: str = ""
    overflow: str = ""
    integer_steps: str = "once"
    flush: bool = False
    unlisted_axes: str = "untouched"
