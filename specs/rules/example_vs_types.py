"""An example gives an input of a type that the operator does not take."""

from __future__ import annotations

from collections.abc import Iterator

from specs.model.spec import Finding, Severity, Spec

CODE = "example-vs-types"
SEVERITY: Severity = "warning"


def examine(spec: Spec) -> Iterator[Finding]:
    """One finding for each input and type that examples have and no document allows, at the first of them."""
    told: set[tuple[str, str]] = set()
    for example in spec.examples:
        for position, (name, value) in enumerate(example.inputs):
            parameter = next((each for each in spec.inputs if each.name == name), None)
            if parameter is None or value is None or value.element_type is None:
                continue
            allowed = spec.types_of(parameter)
            if allowed and value.element_type not in allowed and (name, value.element_type) not in told:
                told.add((name, value.element_type))
                yield Finding(
                    CODE,
                    SEVERITY,
                    value.source or example.source,
                    f"example {example.id} gives {name} as {value.element_type}, which it may not be",
                    f"input {position + 1} is {parameter.type}: {', '.join(allowed)}",
                    "noted",
                )
