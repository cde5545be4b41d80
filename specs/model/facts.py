"""The facts of a spec as one list: path, value, and where each comes from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from specs.model.spec import Example, Origin, Source, Spec, Value
from specs.model.statements import describe, is_proposed


@dataclass(frozen=True)
class Fact:
    """One fact: its path (`attributes.mode.default`), its value as text, and its origin."""

    path: str
    value: str
    origin: Origin


def list_facts(spec: Spec) -> list[Fact]:
    """Every fact of a spec, in the order in which people read one."""
    return [*_attributes(spec), *_parameters(spec), *_statements(spec), *_rules(spec), *_examples(spec)]


def _attributes(spec: Spec) -> Iterator[Fact]:
    for name, attribute in spec.attributes.items():
        path = f"attributes.{name}"
        fields: list[tuple[str, Any]] = [("type", attribute.kind), ("required", attribute.required)]
        if attribute.has_default:
            fields.append(("default", attribute.default))
        if attribute.values is not None:
            listed = ", ".join(map(str, attribute.values.values))
            fields.append(("values", f"{listed} (proposed)" if attribute.values.proposed else listed))
        fields += [
            (each, getattr(attribute, each)) for each in ("at_least", "more_than", "at_most", "least_length")
        ]
        for field, value in fields:
            if value is not None:
                origin = spec.origins.get(f"{path}.{field}", attribute.origin)
                yield Fact(f"{path}.{field}", _text(value), origin)


def _parameters(spec: Spec) -> Iterator[Fact]:
    for group, parameters in (("inputs", spec.inputs), ("outputs", spec.outputs)):
        for parameter in parameters:
            path = f"{group}.{parameter.name}"
            for field in (
                "type",
                "option",
                "rank",
                "shape",
                "at_least",
                "default",
                "differentiable",
                "least_length",
            ):
                value = getattr(parameter, field)
                if value is not None:
                    yield Fact(
                        f"{path}.{field}", _text(value), spec.origins.get(f"{path}.{field}", parameter.origin)
                    )
    for name, constraint in spec.type_constraints.items():
        path = f"type_constraints.{name}"
        origin = spec.origins.get(f"{path}.types", constraint.origin)
        yield Fact(path, ", ".join(constraint.types), origin)


def _statements(spec: Spec) -> Iterator[Fact]:
    for statement in spec.statements:
        proposed = " (proposed)" if is_proposed(statement) else ""
        yield Fact(f"statements.{statement.about}", f"{describe(statement)}{proposed}", statement.origin)


def _rules(spec: Spec) -> Iterator[Fact]:
    for formula in spec.formulas:
        condition = f"  [{formula.when}]" if formula.when else ""
        yield Fact(f"formulas.{formula.name}", f"{formula.text}{condition}", formula.origin)
    for name, text in spec.let.items():
        yield Fact(f"let.{name}", text, Origin("added", why="a definition that the constraints use"))
    for constraint in spec.constraints:
        if constraint.require is None:
            text = f"{constraint.attribute} matters where {constraint.effective_when}"
        else:
            when = f"{constraint.when} => " if constraint.when else ""
            text = f"{when}{constraint.require}, else {constraint.otherwise}"
        yield Fact(f"constraints.{constraint.id}", text, constraint.origin)
    for refusable in spec.may_refuse:
        yield Fact(f"may_refuse.{refusable.id}", f"where {refusable.when}", refusable.origin)
    for reading in spec.readings:
        chosen = f" (chosen: {reading.chosen})" if reading.chosen else ""
        text = f"{reading.question}: {', '.join(reading.options)}{chosen}"
        yield Fact(f"{reading.kind}s.{reading.id}", text, reading.origin)
    if spec.same_as is not None:
        origin = Origin("added", why="its reference computes this operator")
        yield Fact("same_as", str(spec.same_as.operator), origin)
        for group, texts in (("arguments", spec.same_as.arguments), ("returns", spec.same_as.returns)):
            yield from (Fact(f"{group}.{name}", text, origin) for name, text in texts.items())
        for position, difference in enumerate(spec.same_as.differs):
            yield Fact(f"differs.{position}", difference.what, difference.origin)
    for factor in spec.factors:
        origin = factor.origin or Origin("added", why="how the operator's inputs are divided")
        yield Fact(f"factors.{factor.name}", ", ".join(map(str, factor.levels)), origin)
    for position, exclusion in enumerate(spec.exclusions):
        yield Fact(f"exclusions.{position}", exclusion.when, exclusion.origin)
    for position, interaction in enumerate(spec.interactions):
        text = f"every {interaction.strength} of {', '.join(interaction.factors)}"
        yield Fact(f"interactions.{position}", text, interaction.origin)


def _examples(spec: Spec) -> Iterator[Fact]:
    for example in spec.examples:
        origin = spec.origins.get(f"examples.{example.id}", Origin("imported", (example.source,)))
        yield Fact(f"examples.{example.id}", _call(example), origin)


def _call(example: Example) -> str:
    attributes = [f"{name}={_text(value)}" for name, value in example.attributes.items()]
    inputs = [f"{name}: {_value(value)}" for name, value in example.inputs if name]
    outputs = [f"{name}: {_value(value)}" for name, value in example.outputs]
    repaired = " (repaired)" if example.repaired else ""
    return f"({', '.join([*inputs, *attributes])}) -> {', '.join(outputs)}{repaired}"


def _value(value: Value | None) -> str:
    if value is None:
        return "?"
    if value.items is not None:
        return f"sequence of {', '.join(map(_value, value.items)) or 'nothing'}"
    kind = f"{value.element_type or ''}{list(value.shape)}"
    if value.relation is not None:
        return f"{kind} of slices"
    return kind if value.data is not None else f"{kind} of any data"


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple | list):
        return "[" + ", ".join(map(str, value)) + "]"
    return str(value)


def place(spec: Spec, source: Source) -> str:
    """A place as people look it up: file, line, and the column in one-line documents."""
    file = next(
        (document.file for document in spec.documents if document.key == source.document), source.document
    )
    return f"{file}:{source.line}" if source.column is None else f"{file}:{source.line}:{source.column}"
