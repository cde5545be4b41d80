"""One of a few values that are listed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import Level, SingleKind
from specs.language.expressions import Expression
from specs.model.spec import Constraint


@dataclass(frozen=True)
class Enumeration(SingleKind):
    """One of the arguments, or of the values that the document lists; of integers without a list 0 or 1."""

    listed: tuple[Expression, ...] = ()

    @property
    def is_listed(self) -> bool:
        return bool(self.listed)

    def levels(self) -> tuple[Level, ...]:
        if self.listed:
            return tuple(expression.evaluate({}) for expression in self.listed)
        attribute = self.subject.attribute(self.name)
        values = self._switch or (attribute.values.values if attribute and attribute.values else ())
        plain = [value for value in values if attribute is not None and value == attribute.default]
        return (*plain, *(value for value in values if value not in plain))

    @property
    def _switch(self) -> tuple[int, ...]:
        """The values of an attribute that switches something on or off; none of others."""
        attribute = self.subject.attribute(self.name)
        is_plain = attribute is not None and attribute.values is None and attribute.kind == "int"
        return (0, 1) if is_plain and not self.listed else ()

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[Any]:
        yield level

    def rules(self) -> Iterable[Constraint]:
        if self._is_type:
            return  # no expression compares types
        yield self.rule(
            f"{self.name}_value", f"{self.name} in {list(self._switch or self.levels())!r}", self.given
        )

    @property
    def _is_type(self) -> bool:
        attribute = self.subject.attribute(self.name)
        return attribute is not None and attribute.kind is None and attribute.other_type == "type"

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        if self._is_type:
            return
        listed = self.levels()
        first = listed[0]
        if isinstance(first, str):
            other = first.upper() if first != first.upper() else first.lower()
            beyond: tuple[Level, ...] = ("", "unheard_of", other)
        else:
            numbers = [each for each in listed if not isinstance(each, str)]
            beyond = (max(numbers) + 1, min(numbers) - 1)
        for value in beyond:
            if value not in listed:
                yield f"{self.name}_value", {self.name: value}
