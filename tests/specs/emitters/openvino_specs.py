"""Specs as OpenVINO's pages could state them, made of the schemas of other operators."""

from __future__ import annotations

import re
from random import Random
from typing import Any, get_args

from opcert.vocabulary.attributes import AttributeKind
from opcert.vocabulary.names import OperatorName
from specs.documents.openvino_pages.type_words import find_precision
from specs.model.spec import (
    AllowedValues,
    Arity,
    AttributeSpec,
    Example,
    Option,
    Origin,
    ParameterSpec,
    Source,
    Spec,
    TypeConstraint,
    Value,
)
from tests.specs.emitters.onnx_schemas import AttributeSchema, ParameterSchema, Schema

_PLACE = Source("d", 1)
_ORIGIN = Origin("imported", (_PLACE,))
_OPTIONS = dict(zip(("single", "optional", "variadic"), get_args(Option), strict=True))
_MODES = ("nearest", "linear", "cubic", "same_upper", "half_pixel", "i64", "caffe.CORNER")


def make_spec(schema: Schema) -> Spec:
    """The facts of a schema that these pages can state, and some of their own: ranges, values, an example.

    Attributes of kinds that no call carries, and parameters that are no tensors, are left out.
    """
    choices = Random(str(schema.operator))
    constraints: dict[str, TypeConstraint] = {}
    for constraint in schema.constraints:
        types = tuple(dict.fromkeys(known for text in constraint.types if (known := _tensor_type(text))))
        if types and re.fullmatch(r"[A-Za-z]\w*", constraint.name):
            constraints[constraint.name] = TypeConstraint(constraint.name, types, _ORIGIN)
    groups = [_parameters(group, constraints) for group in (schema.inputs, schema.outputs)]
    attributes = {
        attribute.name: _attribute(attribute, choices)
        for attribute in schema.attributes
        if attribute.kind is not None and re.fullmatch(r"[A-Za-z_]\w*", attribute.name)
    }
    return Spec(
        operator=OperatorName("org.openvino", schema.name, schema.since_version),
        documents=(),
        attributes=attributes,
        inputs=groups[0],
        outputs=groups[1],
        type_constraints=constraints,
        examples=(_example(attributes, groups[0], groups[1], choices),),
        input_arity=_arity(groups[0]),
        output_arity=_arity(groups[1]),
        category=choices.choice(["Data movement", "Activation function", "Sorting and maximization"]),
    )


def _tensor_type(text: str) -> str | None:
    match = re.fullmatch(r"tensor\((\w+)\)", text)
    return find_precision(match[1]) if match else None


def _parameters(
    group: tuple[ParameterSchema, ...], constraints: dict[str, TypeConstraint]
) -> tuple[ParameterSpec, ...]:
    found: dict[str, ParameterSpec] = {}
    for position, parameter_schema in enumerate(group):
        kind = (
            parameter_schema.type
            if parameter_schema.type in constraints
            else _tensor_type(parameter_schema.type)
        )
        if kind is None:
            continue
        name = re.sub(r"\W", "_", parameter_schema.name)
        if not re.fullmatch(r"[A-Za-z_]\w*", name) or re.match(r"T|.*_type$|.*_T$", name) or name in found:
            name = f"x_{position}"
        found[name] = ParameterSpec(name, _OPTIONS[parameter_schema.option], kind, _ORIGIN)
    return tuple(found.values())


def _arity(group: tuple[ParameterSpec, ...]) -> Arity:
    least = sum(parameter.option == "single" for parameter in group)
    return Arity(least, None if any(parameter.option == "variadic" for parameter in group) else len(group))


def _attribute(schema: AttributeSchema, choices: Random) -> AttributeSpec:
    kind: Any = schema.kind
    assert kind in get_args(AttributeKind)
    default = schema.default if _printable(schema.default) else None
    values = None
    bounds: dict[str, Any] = {}
    other = None
    if kind == "string" and choices.random() < 0.7:
        listed = choices.sample(_MODES, choices.randint(2, 4))
        if default is not None and default not in listed:
            listed.insert(0, default)
        values = AllowedValues(tuple(listed), "any", 1.0, False, _ORIGIN)
    elif kind == "int" and default in (None, 0, 1) and choices.random() < 0.4:
        other, values = "boolean", AllowedValues((0, 1), "any", 1.0, False, _ORIGIN)
    elif kind in ("int", "ints", "float", "floats") and default is None:
        whole = kind in ("int", "ints")
        least: int | float = 0.0 if not whole else 1 if kind == "ints" else 0
        some: list[dict[str, Any]] = [{}, {"at_least": least}]
        some += (
            [{"at_least": 1}, {"at_least": 2}]
            if whole
            else [{"more_than": 0.0}, {"at_least": 0.0, "at_most": 1.0}]
        )
        bounds = choices.choice(some)
    return AttributeSpec(
        name=schema.name,
        kind=kind,
        required=schema.required,
        default=default,
        has_default=default is not None,
        values=values,
        origin=_ORIGIN,
        other_type=other,
        **bounds,
    )


def _printable(value: Any) -> bool:
    """Whether these pages can print a default: words, numbers, lists of either."""
    if isinstance(value, list):
        return all(map(_printable, value)) and "" not in value
    if isinstance(value, str):
        return bool(re.fullmatch(r"[A-Za-z_][\w.]*", value)) or value == ""
    return value is not None


def _example(
    attributes: dict[str, AttributeSpec],
    inputs: tuple[ParameterSpec, ...],
    outputs: tuple[ParameterSpec, ...],
    choices: Random,
) -> Example:
    """A layer with some attributes, and ports of which some have values."""
    given: dict[str, Any] = {}
    for name, attribute in attributes.items():
        if attribute.values is not None:
            given[name] = choices.choice(attribute.values.values)
        elif attribute.kind in ("ints", "floats"):
            given[name] = [1, 2, 3] if attribute.kind == "ints" else [0.5, 2.0]
        elif attribute.kind in ("int", "float"):
            given[name] = 7 if attribute.kind == "int" else 0.25

    def ports(group: tuple[ParameterSpec, ...]) -> tuple[tuple[str, Value | None], ...]:
        return tuple((parameter.name, _port(choices)) for parameter in group)

    return Example("layer_1", given, ports(inputs), ports(outputs), _PLACE)


def _port(choices: Random) -> Value:
    shape = choices.choice([(), (3,), (2, 2), (2, 3, 1)])
    count = 1
    for extent in shape:
        count *= extent
    data = tuple(choices.randint(-9, 9) for _ in range(count)) if choices.random() < 0.6 else None
    return Value(shape, data, choices.choice([None, "float16", "int64", "uint8"]), _PLACE)
