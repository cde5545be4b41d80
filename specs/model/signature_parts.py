"""Where facts come from, and what an operator version takes and gives: attributes, inputs, outputs, types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from opcert.vocabulary.attributes import AttributeKind, AttributeValue, attribute

Otherwise = Literal["error", "undefined", "implementation_defined"]
How = Literal["imported", "confirmed", "overridden", "added", "derived"]


@dataclass(frozen=True)
class Source:
    """Where a fact stands: the document's key, the line (from 1), and a column in one-line documents."""

    document: str
    line: int
    column: int | None = None


@dataclass(frozen=True)
class Origin:
    """Why a fact holds: the places that state it, or the reason that a person gave.

    A fact taken out of prose also names the rule that found it and how sure that is (0 to 1). `old` is the
    imported value that a person overrode.
    """

    how: How
    sources: tuple[Source, ...] = ()
    why: str | None = None
    rule: str | None = None
    confidence: float | None = None
    old: Any = None


Option = Literal["single", "optional", "variadic"]


@dataclass(frozen=True)
class AllowedValues:
    """The values that an attribute may take, the rule that found them, and how sure it is (0 to 1)."""

    values: tuple[str | int | float, ...]
    rule: str
    confidence: float
    proposed: bool
    origin: Origin


@dataclass(frozen=True)
class AttributeSpec:
    name: str
    kind: AttributeKind | None
    required: bool
    default: Any
    has_default: bool
    values: AllowedValues | None
    origin: Origin
    at_least: int | float | None = None
    other_type: str | None = None
    """The document's word for a type that no call here can carry: graph, tensor, ...

    Beside a kind it is the narrower type that the document names: boolean beside int.
    """
    more_than: int | float | None = None
    """A bound that the value must exceed."""
    at_most: int | float | None = None
    least_length: int | None = None
    """The least number of elements of a list."""

    @property
    def allowed(self) -> tuple[str | int | float, ...] | None:
        """The values that may be used: of a sure rule, or confirmed by a person; None where unknown."""
        return None if self.values is None or self.values.proposed else self.values.values

    @property
    def default_value(self) -> AttributeValue | None:
        """The default as calls have it, floats in 32 bits; None where there is none that a call can have."""
        if self.kind is None or self.default is None:
            return None
        return attribute(self.kind, self.default).value


@dataclass(frozen=True)
class ParameterSpec:
    """An input or output. `type` names a type constraint, or is one concrete type (our name).

    What the document says beside: `rank` ("4", "N"), `shape` (the names of its extents), the least value
    that its elements may have, whether a variadic one takes one type only, whether it can be derived, and how
    many tensors a variadic one takes at least (`least_length`).
    """

    name: str
    option: Option
    type: str
    origin: Origin
    rank: str | None = None
    shape: tuple[str, ...] | None = None
    at_least: int | float | None = None
    homogeneous: bool | None = None
    differentiable: bool | None = None
    default: Any = None
    least_length: int | None = None


@dataclass(frozen=True)
class TypeConstraint:
    """The element types (our names) that a type variable may take."""

    name: str
    types: tuple[str, ...]
    origin: Origin


@dataclass(frozen=True)
class Arity:
    """How many inputs (or outputs) a node has; `most` is None where there is no limit."""

    least: int
    most: int | None

    @classmethod
    def of(cls, parameters: Sequence[ParameterSpec]) -> Arity:
        """What the options of inputs (or outputs) say of their number."""
        least = {"single": 1, "optional": 0}
        endless = any(parameter.option == "variadic" for parameter in parameters)
        return cls(
            sum(least.get(parameter.option, parameter.least_length or 0) for parameter in parameters),
            None if endless else len(parameters),
        )
