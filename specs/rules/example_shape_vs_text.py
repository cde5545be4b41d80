"""An example's tensor has another shape than the text says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from specs.documents.pages.pages import Version
from specs.model.spec import Example, Finding, Severity, Value
from specs.model.statements import Rank, SameShape, StatedShape, Statement, describe, is_proposed

CODE = "example-shape-vs-text"
SEVERITY: Severity = "warning"


def check(version: Version) -> Iterator[Finding]:
    """One finding for each statement about shapes that an example does not keep to, at the first example.

    Only sure statements without a condition count, and of shapes those of tensors that the text gives one.
    """
    statements = [each for each in version.spec.statements if not is_proposed(each)]
    alone = _alone(statements)
    told: set[Statement] = set()
    for example in version.spec.examples:
        values = _values(example)
        for statement in statements:
            if statement in told or (isinstance(statement, StatedShape) and statement not in alone):
                continue
            wrong = _contradicted(statement, values)
            if wrong is not None:
                told.add(statement)
                message = f"example {example.id} gives {statement.about} the shape {list(wrong.shape)}"
                evidence = f"the text says {describe(statement)}"
                yield Finding(CODE, SEVERITY, wrong.source or example.source, message, evidence, "noted")


def _alone(statements: list[Statement]) -> set[Statement]:
    """The shapes of tensors that the text gives one shape only."""
    shapes = [each for each in statements if isinstance(each, StatedShape)]
    return {each for each in shapes if sum(other.about == each.about for other in shapes) == 1}


def _values(example: Example) -> Mapping[str, Value]:
    """The tensors of an example by their paths; a variadic one's, whose name stands twice, are left out."""
    pairs = [
        (f"{group}.{name}", value)
        for group, values in (("inputs", example.inputs), ("outputs", example.outputs))
        for name, value in values
        if value is not None and value.items is None
    ]
    names = [name for name, _ in pairs]
    return {name: value for name, value in pairs if names.count(name) == 1}


def _contradicted(statement: Statement, values: Mapping[str, Value]) -> Value | None:
    """The tensor that is not as a statement says; None where it is, or where nothing tells."""
    value = values.get(statement.about)
    if value is None:
        return None
    if isinstance(statement, SameShape):
        other = values.get(statement.as_)
        if other is not None and statement.except_ is None and value.shape != other.shape:
            return value
    elif isinstance(statement, Rank) and statement.when is None:
        least, most = statement.least or "", statement.most or ""
        rank = len(value.shape)
        if (least.isdigit() and rank < int(least)) or (most.isdigit() and rank > int(most)):
            return value
    elif (
        isinstance(statement, StatedShape)
        and statement.when is None
        and _differs(statement.extents, value.shape)
    ):
        return value
    return None


def _differs(extents: tuple[str, ...], shape: tuple[int, ...]) -> bool:
    if {"*", "..."} & {*extents}:
        return False
    if len(extents) != len(shape):
        return True
    return any(each.isdigit() and int(each) != extent for each, extent in zip(extents, shape, strict=True))
