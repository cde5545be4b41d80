"""Classes of data as levels of a space: which there are, and whether one goes with the chosen types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from generator.data import data_classes
from generator.draws import Draw
from generator.partial import Bindings, Partial

DATA = "data"
"""The factor of the classes of data."""
FITS = "data fits"
"""What a class that goes with the type is bound under."""


def classes_of(types: Sequence[str], prefer: Sequence[str]) -> tuple[str, ...]:
    """The classes that any of these types has, the preferred ones first."""
    return tuple(dict.fromkeys((*prefer, *(name for each in types for name in data_classes(each)))))


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
        if level in data_classes(str(chosen or self.only)):
            yield {FITS: True}
