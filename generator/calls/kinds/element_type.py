"""An element type, by its number in ONNX's TensorProto."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import InputName, Level, SingleKind
from opcert.vocabulary.element_types import BY_CODE, ELEMENT_TYPES, ElementType
from specs.language.expressions import Expression
from specs.model.spec import Constraint
from specs.model.structures import element_types_within

_NO_TYPES = (0, 999)
"""Numbers of no element type: UNDEFINED, and one that nobody has given away."""
_PLAIN = "float"
_CLASSES: Mapping[Level, tuple[str, ...]] = {
    "unsigned": ("unsigned",),
    "signed": ("signed",),
    "floating": ("float",),
    "other": ("bool", "complex"),
}
"""Levels of types that are as wide as an input's."""


@dataclass(frozen=True)
class ElementTypeCode(SingleKind):
    """One of the types of a type variable, or of those that are listed as texts; float is the first.

    Types `as_wide_as` an input have as many bits as its elements.
    """

    listed: tuple[Expression, ...]
    as_wide_as: InputName | None = field(default=None, kw_only=True)

    def levels(self) -> tuple[Level, ...]:
        return self._names() if self.as_wide_as is None else (*_CLASSES, "same")

    @property
    def needs(self) -> frozenset[str]:
        return super().needs | self.type_levels(str(self.as_wide_as))

    @property
    def precisions(self) -> tuple[str, ...]:
        if self.as_wide_as is not None:
            return ()
        return (self.name,) if all(ELEMENT_TYPES[name].is_float for name in self._names()) else ()

    @property
    def named_types(self) -> Mapping[str, Level]:
        return {name: name for name in self._names()} if self.as_wide_as is None else {}

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[int]:
        if self.as_wide_as is None:
            yield ELEMENT_TYPES[str(level)].code
            return
        own = self.type_of(scope, str(self.as_wide_as))
        if level == "same":
            yield own.code
            return
        fitting = [kind for kind in self._types() if kind.bits == own.bits and kind != own]
        yield from draw.shuffled([kind.code for kind in fitting if kind.kind in _CLASSES[level]])

    def rules(self) -> Iterable[Constraint]:
        codes = sorted(ELEMENT_TYPES[name].code for name in self._names())
        yield self.rule(f"{self.name}_value", f"{self.name} in {codes!r}", self.given)
        if self.as_wide_as is not None:
            same = f"BITS[element_type({self.as_wide_as})] == BITS[{self.name}]"
            yield self.rule(f"{self.name}_width", same, f"{self.name} in BITS")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        allowed = {ELEMENT_TYPES[name].code for name in self._names()}
        others = [code for code in sorted(BY_CODE) if code not in allowed]
        for code in (*_NO_TYPES, *others[:1]):
            yield f"{self.name}_value", {self.name: code}
        if self.as_wide_as is not None:
            bits = self.type_of(scope, str(self.as_wide_as)).bits
            for other in [kind for kind in self._types() if kind.bits != bits][:3]:
                yield f"{self.name}_width", {self.name: other.code}

    def _types(self) -> list[ElementType]:
        return [ELEMENT_TYPES[name] for name in self._names()]

    def _names(self) -> tuple[str, ...]:
        constraints = self.subject.spec.type_constraints
        found: list[str] = []
        for expression in self.listed:
            variable = constraints.get(expression.text)
            found += (
                [str(expression.evaluate({}))]
                if variable is None
                else element_types_within(tuple(variable.types))
            )
        names = dict.fromkeys(name for name in found if name in ELEMENT_TYPES)
        # Calls that ask for nothing in particular are in the plainest type, which every runtime has.
        return tuple(sorted(names, key=lambda name: name != _PLAIN))
