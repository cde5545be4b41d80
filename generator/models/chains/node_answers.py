"""What the reference of one node of a chain answers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from conformance.suite.cases import Expectation
from generator.asking.answered_outputs import asked_outputs
from generator.asking.calls import Call
from generator.asking.expectations import expect
from generator.asking.questions import describe
from generator.making.operators.discovery import load_rules
from generator.models.chains.chains import Link
from opcert.vocabulary.errors import OpcertError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor
from reference.registry import find_operator
from reference.registry.reference_operator import ReferenceOperator
from specs.model.spec import Spec


class Unpushed(OpcertError):
    """Nobody can say exactly enough what comes out of a chain; the message says at which node."""


@lru_cache(maxsize=512)
def rules_and_reference(operator: OperatorName) -> tuple[Spec, ReferenceOperator]:
    """The spec of an operator with its rules, and its reference; UserError where it lacks one."""
    spec = load_rules(operator)
    return spec, find_operator(operator, spec.reference_module)


def call_of_node(
    link: Link, tensors: Sequence[Tensor | None], outputs: tuple[str, ...] | None = None
) -> Call:
    """The call of a node with these inputs; UserError where nothing is known of its operator."""
    names = [parameter.name for parameter in rules_and_reference(link.operator)[0].inputs]
    names += names[-1:] * (len(tensors) - len(names))
    return Call(link.attributes, tuple(zip(names, tensors, strict=False)), outputs=outputs).trimmed()


def answers(link: Link, tensors: Sequence[Tensor | None]) -> tuple[Expectation, ...]:
    """What one node's reference expects of it; raises Unpushed where it defines nothing of plain tensors."""
    spec, reference = rules_and_reference(link.operator)
    call = call_of_node(link, tensors, asked_outputs(spec, link.outputs))
    try:
        found = expect(spec, reference, call)
    except OpcertError as error:
        raise Unpushed(f"{link.operator} defines no result here", got=f"{describe(call)}: {error}") from error
    if any(each.unordered for each in found):
        raise Unpushed(f"{link.operator} leaves the order of what comes out open")
    return found
