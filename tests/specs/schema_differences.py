"""What a document says of an operator version against its schema, field by field."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from specs.model.spec import Arity, AttributeSpec, ParameterSpec, Spec
from tests.specs.emitters.onnx_schemas import NO_LIMIT, AttributeSchema, ParameterSchema, Schema


@dataclass(frozen=True)
class Difference:
    """A field (`attributes.mode.default`) that is one thing in the document and another in the schema."""

    operator: str
    field: str
    document: Any
    schema: Any


@dataclass(frozen=True)
class Prints:
    """What a dialect prints of a schema; what it does not print is not compared."""

    attribute_types: bool = True
    defaults: bool = True
    differentiable: bool = True
    homogeneous: bool = True
    constraints: bool = True


def differences(spec: Spec, schema: Schema, prints: Prints) -> list[Difference]:
    """Every structural field in which a spec is not what its schema says, in the order of the document."""
    name = str(spec.operator)
    return [Difference(name, *field) for field in _fields(spec, schema, prints) if field[1] != field[2]]


def _fields(spec: Spec, schema: Schema, prints: Prints) -> Iterator[tuple[str, Any, Any]]:
    yield "deprecated", spec.deprecated, schema.deprecated
    theirs = {attribute.name: attribute for attribute in schema.attributes}
    yield "attributes", sorted(spec.attributes), sorted(theirs)
    for name, attribute in spec.attributes.items():
        if name in theirs:
            yield from _attribute(attribute, theirs[name], prints)
    yield from _parameters("inputs", spec.inputs, schema.inputs, prints)
    yield from _parameters("outputs", spec.outputs, schema.outputs, prints)
    yield "inputs.arity", _arity(spec.input_arity), _bounds(schema.input_arity)
    yield "outputs.arity", _arity(spec.output_arity), _bounds(schema.output_arity)
    if not prints.constraints:
        return
    wanted = {
        constraint.name: {our_type(text) for text in constraint.types} for constraint in schema.constraints
    }
    found = {
        type_constraint.name: set(type_constraint.types) for type_constraint in spec.type_constraints.values()
    }
    yield "type_constraints", sorted(found), sorted(wanted)
    for name in sorted(found.keys() & wanted.keys()):
        yield f"type_constraints.{name}", sorted(found[name]), sorted(wanted[name])


def _attribute(
    ours: AttributeSpec, theirs: AttributeSchema, prints: Prints
) -> Iterator[tuple[str, Any, Any]]:
    path = f"attributes.{ours.name}"
    yield f"{path}.required", ours.required, theirs.required
    if prints.attribute_types:
        yield f"{path}.type", ours.kind or ours.other_type, theirs.kind or printed_type(theirs.type)
    if prints.defaults:
        found = ours.default if ours.has_default else None
        yield f"{path}.default", found, found if same_value(found, theirs.default) else theirs.default


def same_value(found: Any, wanted: Any) -> bool:
    """Whether a default is the schema's, as far as the decimals of a float32 tell."""
    if isinstance(wanted, float) and isinstance(found, float):
        return math.isclose(found, wanted, rel_tol=1e-5)
    if isinstance(wanted, list) and isinstance(found, list):
        return len(found) == len(wanted) and all(map(same_value, found, wanted))
    return type(found) is type(wanted) and bool(found == wanted)


def printed_type(word: str) -> str:
    """The word of generated documents for a type of attributes: `TENSORS` is `list of tensors`."""
    text = word.lower()
    return f"list of {text}" if text.endswith("s") else text


def our_type(text: str) -> str:
    """Our name for a schema's type: `tensor(float)` is `float`, others stay."""
    inner = text.removeprefix("tensor(").removesuffix(")")
    return inner if text == f"tensor({inner})" else text


def _parameters(
    group: str, ours: Sequence[ParameterSpec], theirs: Sequence[ParameterSchema], prints: Prints
) -> Iterator[tuple[str, Any, Any]]:
    yield group, [own.name for own in ours], [other.name for other in theirs]
    for found, wanted in zip(ours, theirs, strict=False):
        if found.name != wanted.name:
            continue
        path = f"{group}.{found.name}"
        yield f"{path}.option", found.option, wanted.option
        yield f"{path}.type", found.type, our_type(wanted.type)
        if prints.homogeneous:
            yield f"{path}.homogeneous", found.homogeneous, wanted.homogeneous
        if prints.differentiable:
            yield f"{path}.differentiable", found.differentiable, wanted.differentiable


def _arity(arity: Arity | None) -> tuple[int, int | None] | None:
    return None if arity is None else (arity.least, arity.most)


def _bounds(bounds: tuple[int, int]) -> tuple[int, int | None]:
    return bounds[0], None if bounds[1] == NO_LIMIT else bounds[1]
