"""Calls: what one case gives to its operator, before anybody says what must come out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from conformance.cases import call_digest
from opcert.attributes import Attribute
from opcert.names import OperatorName
from opcert.tensors import Tensor


@dataclass(frozen=True, eq=False)
class Call:
    """One call of an operator: attributes by name, inputs in the operator's order (None: omitted)."""

    attributes: Mapping[str, Attribute]
    inputs: tuple[tuple[str, Tensor | None], ...]

    def input(self, name: str) -> Tensor | None:
        """The input of that name, None where it is omitted; raises KeyError where the operator has none."""
        return dict(self.inputs)[name]

    def with_input(self, name: str, value: Tensor | None) -> Call:
        """The same call with one input exchanged, omitted (None), or added behind the others."""
        if name not in dict(self.inputs):
            return replace(self, inputs=(*self.inputs, (name, value)))
        inputs = tuple((each, value if each == name else old) for each, old in self.inputs)
        return replace(self, inputs=inputs)

    def with_attribute(self, name: str, value: Attribute | None) -> Call:
        """The same call with one attribute set, or left out (None)."""
        attributes = {each: old for each, old in self.attributes.items() if each != name}
        if value is not None:
            attributes[name] = value
        return replace(self, attributes=attributes)

    def digest(self, operator: OperatorName) -> str:
        """The 12 hex digits of the case id that this call has; trailing omitted inputs do not count."""
        return call_digest(operator, self.attributes, self.trimmed().inputs)

    def trimmed(self) -> Call:
        """The same call without omitted inputs at the end, which say nothing."""
        inputs = list(self.inputs)
        while inputs and inputs[-1][1] is None:
            inputs.pop()
        return replace(self, inputs=tuple(inputs))
