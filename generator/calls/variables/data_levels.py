"""Classes of data as levels of a space: which there are, and whether one goes with the chosen types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from generator.calls.data.data import data_classes
from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.points import POINTS, has_points
from opcert.vocabulary.element_types import ELEMENT_TYPES
from specs.model.declared import Declared
from specs.model.spec import Exclusion, Origin

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
