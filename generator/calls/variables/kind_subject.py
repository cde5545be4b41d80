"""What a kind is declared for."""

from __future__ import annotations

from dataclasses import dataclass

from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import Place
from specs.model.spec import AttributeSpec, Otherwise, ParameterSpec, Source, Spec


@dataclass(frozen=True)
class KindSubject:
    """What a kind is declared for: a name, the spec, and what breaking its rules means."""

    name: str
    spec: Spec
    otherwise: Otherwise = "undefined"
    place: Place | None = None

    def has(self, name: str) -> bool:
        """Whether the version has an attribute or input of that name."""
        return name in self.spec.attributes or self.input(name) is not None

    def attribute(self, name: str) -> AttributeSpec | None:
        return self.spec.attributes.get(name)

    def input(self, name: str) -> ParameterSpec | None:
        return next((each for each in self.spec.inputs if each.name == name), None)

    def parameter(self, name: str) -> ParameterSpec:
        """The input of a name that is one."""
        found = self.input(name)
        assert found is not None, f"{name} is no input"
        return found

    def types_of(self, variable: str) -> tuple[str, ...]:
        """The element types of a type variable; none where the version has no such variable."""
        found = self.spec.type_constraints.get(variable)
        return tuple(name for name in (found.types if found is not None else ()) if name in ELEMENT_TYPES)

    def may_be_omitted(self, name: str) -> bool:
        """Whether the version allows to leave the attribute or input out."""
        attribute, parameter = self.attribute(name), self.input(name)
        if attribute is not None:
            return not attribute.required
        return parameter is not None and parameter.option == "optional"

    def sources(self, name: str) -> tuple[Source, ...]:
        """Where the documents speak of a name: its passage, or else where it is listed."""
        about = {f"{group}.{name}" for group in ("attributes", "inputs", "outputs")}
        found = tuple(each.source for each in self.spec.prose if each.about in about)
        if found:
            return found
        attribute, parameter = self.attribute(name), self.input(name)
        listed = attribute.origin if attribute is not None else parameter.origin if parameter else None
        return listed.sources if listed is not None else ()
