"""An element type of as many bits as an input's, by its number in ONNX's TensorProto."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import InputName, Level
from generator.calls.variables.single_kind import SingleKind
from opcert.vocabulary.element_types import BY_CODE, ELEMENT_TYPES, ElementType
from specs.language.expressions import Expression
from specs.model.spec import Constraint

_LEVELS: Mapping[Level, tuple[str, ...]] = {
    "unsigned": ("unsigned",),
    "signed": ("signed",),
    "floating": ("float",),
    "other": ("bool", "complex"),
}


@dataclass(frozen=True)
class SameWidth(SingleKind):
    """One of the types of a type variable that has as many bits as the elements of an input."""

    of: InputName
    variable: Expression

    def levels(self) -> tuple[Level, ...]:
        return (*_LEVELS, "same")

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[int]:
        own = self._own(scope)
        if level == "same":
            yield own.code
            return
        fitting = [each for each in self._types() if each.bits == own.bits and each != own]
        yield from draw.shuffled([each.code for each in fitting if each.kind in _LEVELS[level]])

    @property
    def needs(self) -> frozenset[str]:
        parameter = self.subject.input(self.of)
        return super().needs - {self.variable.text} | {f"level:type_{parameter.type if parameter else ''}"}

    def rules(self) -> Iterable[Constraint]:
        codes = sorted(each.code for each in self._types())
        yield self.rule(f"{self.name}_value", f"{self.name} in {codes!r}", self.given)
        same = f"BITS[element_type({self.of})] == BITS[{self.name}]"
        yield self.rule(f"{self.name}_width", same, f"{self.name} in BITS")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        known = {each.code for each in self._types()}
        others = [code for code, each in sorted(BY_CODE.items()) if code not in known and not each.bits]
        for code in (0, 999, *others[:1]):
            yield f"{self.name}_value", {self.name: code}
        own = self._own(scope)
        for each in [each for each in self._types() if each.bits != own.bits][:3]:
            yield f"{self.name}_width", {self.name: each.code}

    def _own(self, scope: Partial) -> ElementType:
        parameter = self.subject.input(self.of)
        return ELEMENT_TYPES[scope.element_type(parameter)] if parameter else ELEMENT_TYPES["float"]

    def _types(self) -> list[ElementType]:
        variable = self.subject.spec.type_constraints.get(self.variable.text)
        names = variable.types if variable is not None else ()
        return [ELEMENT_TYPES[each] for each in names if each in ELEMENT_TYPES]
