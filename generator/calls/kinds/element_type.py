"""An element type, by its number in ONNX's TensorProto."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import Level
from generator.calls.variables.single_kind import SingleKind
from opcert.vocabulary.element_types import BY_CODE, ELEMENT_TYPES
from specs.language.expressions import Expression
from specs.model.spec import Constraint

_NO_TYPES = (0, 999)
"""Numbers of no element type: UNDEFINED, and one that nobody has given away."""
_PLAIN = "float"


@dataclass(frozen=True)
class ElementTypeCode(SingleKind):
    """One of the types of a type variable, or of those that are listed as texts; of floats first float."""

    listed: tuple[Expression, ...]

    def levels(self) -> tuple[Level, ...]:
        return self._names()

    @property
    def precisions(self) -> tuple[str, ...]:
        return (self.name,) if all(ELEMENT_TYPES[each].is_float for each in self._names()) else ()

    @property
    def named_types(self) -> Mapping[str, Level]:
        return {name: name for name in self._names()}

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[int]:
        yield ELEMENT_TYPES[str(level)].code

    def rules(self) -> Iterable[Constraint]:
        codes = sorted(ELEMENT_TYPES[each].code for each in self._names())
        yield self.rule(f"{self.name}_value", f"{self.name} in {codes!r}", self.given)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        allowed = {ELEMENT_TYPES[each].code for each in self._names()}
        others = [code for code in sorted(BY_CODE) if code not in allowed]
        for code in (*_NO_TYPES, *others[:1]):
            yield f"{self.name}_value", {self.name: code}

    def _names(self) -> tuple[str, ...]:
        constraints = self.subject.spec.type_constraints
        found: list[str] = []
        for each in self.listed:
            variable = constraints.get(each.text)
            found += variable.types if variable is not None else [str(each.evaluate({}))]
        names = dict.fromkeys(name for name in found if name in ELEMENT_TYPES)
        if not all(ELEMENT_TYPES[name].is_float for name in names):
            return tuple(names)
        # Calls that ask for nothing in particular are in the plainest precision, in which bounds mean most.
        return tuple(sorted(names, key=lambda name: name != _PLAIN))
