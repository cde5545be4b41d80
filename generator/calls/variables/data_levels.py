"""Classes of data as levels of a space: which there are, and whether one goes with the chosen types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, isfinite, prod
from typing import Any

import numpy as np

from generator.calls.data.data import data_classes
from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.tensors import Tensor
from reference.numbers.numbers import encode
from specs.language.evaluation import EvaluationError
from specs.language.expressions import parse
from specs.model.declared import Declared
from specs.model.spec import Exclusion, Origin

POINTS = "points"
"""The class of data that stands beside breakpoints."""


def has_points(element_type: ElementType) -> bool:
    """Whether a type has numbers of which the neighbours are known."""
    return element_type.is_integer or element_type.layout is not None


def fill_points(element_type: ElementType, shape: Sequence[int], scope: Partial, draw: Draw) -> Tensor:
    """A tensor of the declared points of a call and what stands beside them, each at least once if it fits.

    Points are numbers, or expressions over attributes and inputs; those that the call lacks are left out.
    """
    beside = list(dict.fromkeys(_beside(element_type, scope))) or [0]
    count = prod(int(extent) for extent in shape)
    order = draw.shuffled(beside)
    codes = [order[place] if place < len(order) else draw.choice(beside) for place in range(count)]
    if element_type.is_integer:
        return Tensor(element_type, np.array(codes, dtype=element_type.storage).reshape(tuple(shape)))
    unsigned = np.array(codes, dtype=np.dtype(f"u{max(element_type.bits, 8) // 8}"))
    return Tensor(element_type, unsigned.view(element_type.storage).reshape(tuple(shape)))


def _beside(element_type: ElementType, scope: Partial) -> Iterator[int]:
    """Integers, or the bits of floating-point numbers, at and beside every point."""
    for point in _points(scope):
        for signed in (point, -point):
            if element_type.is_integer:
                low, high = element_type.integer_range
                whole = floor(Fraction(signed))
                yield from (each for each in (whole - 1, whole, whole + 1) if low <= each <= high)
            else:
                yield from _neighbours(element_type, signed)


def _neighbours(element_type: ElementType, value: float) -> Iterator[int]:
    """The bits of a value in the type, and of the numbers next to it on both sides."""
    bits = int(encode(element_type, [value]).reshape(-1).view(f"u{max(element_type.bits, 8) // 8}")[0])
    sign = 1 << (element_type.bits - 1)
    magnitude = bits & (sign - 1)
    yield bits
    if magnitude < sign - 1:
        yield bits + 1
    # Next to zero stands the smallest number of either sign.
    yield bits - 1 if magnitude else (bits ^ sign) + 1


def _points(scope: Partial) -> Iterator[float]:
    declared = scope.spec.declared or Declared()
    for point in declared.points:
        try:
            value: Any = parse(point).evaluate(scope) if isinstance(point, str) else point
            numbers = list(value) if hasattr(value, "__iter__") else [value]
        except (EvaluationError, TypeError):
            continue  # the call leaves out what the point hangs on, or its data is not drawn yet
        yield from (float(number) for number in numbers if number is not None and isfinite(number))


DATA = "data"
"""The factor of the classes of data."""
FITS = "data fits"
"""What a class that goes with the type is bound under."""


def classes_of(types: Sequence[str], declared: Declared) -> tuple[str, ...]:
    """The classes that any of these types has, those first that the declaration prefers or brings."""
    beside = (POINTS,) if declared.points and any(has_points(ELEMENT_TYPES[each]) for each in types) else ()
    listed = (*declared.prefer, *(name for each in types for name in data_classes(each)), *beside)
    return tuple(dict.fromkeys(listed))


def fits(element_type: str, level: object) -> bool:
    """Whether a type has a class of data."""
    if level == POINTS:
        return has_points(ELEMENT_TYPES[element_type])
    return level in data_classes(element_type)


def unfit(factor: str, types: Sequence[str], classes: Sequence[str]) -> Iterator[Exclusion]:
    """For each class that some of the types lack, the exclusion of these; `factor` is that of the types."""
    for each in classes:
        lacking = [name for name in types if not fits(name, each)]
        if lacking:
            why = "these types have no such data"
            yield Exclusion(f"{DATA} == {each!r} and {factor} in {lacking!r}", Origin("derived", why=why))


@dataclass(frozen=True)
class Fits:
    """Binds nothing of a call; there is a candidate only where the type of the data has the class."""

    types: str
    only: str

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({f"level:{DATA}", f"level:{self.types}"})

    def __call__(self, scope: Partial, draw: Draw) -> Iterator[Bindings]:
        level, chosen = scope.level(DATA), scope.level(self.types)
        if fits(str(chosen or self.only), level):
            yield {FITS: True}
