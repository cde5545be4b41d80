"""Kinds of one name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import Kind, Level

GREATEST = "1.7976931348623157e+308"
"""The greatest number of a double: what is beyond it is not finite."""


@dataclass(frozen=True, kw_only=True)
class SingleKind(Kind):
    """A kind of one name, whose levels are those of one factor; leaving the name out is one of them."""

    def levels(self) -> tuple[Level, ...]:
        """The levels, the plainest first, without `omitted`."""
        return ("given",)

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[Any]:
        """Values of a level."""
        raise NotImplementedError

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        omitted = (OMITTED,) if self.subject.may_be_omitted(self.name) else ()
        return {self.name: (*self.levels(), *omitted)}

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        level = levels[self.name]
        if level == OMITTED:
            yield {self.name: None}
            return
        for value in self.values(level, scope, draw):
            yield {self.name: value}

    @property
    def given(self) -> str | None:
        """The condition under which its rules speak: that the name is there, where it may be left out."""
        attribute = self.subject.attribute(self.name)
        if attribute is not None and attribute.has_default:
            return None
        return f"present({self.name})" if self.subject.may_be_omitted(self.name) else None
