"""Nodes with bodies in a chain: the references run the bodies, which see the values around them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from conformance.suite.cases import Expectation, ExpectedOutput
from generator.asking.answered_outputs import asked_outputs
from generator.asking.expectations import expectations_of
from generator.asking.questions import ask
from generator.asking.validity import find_violations
from generator.models.chains.chains import Link
from generator.models.chains.node_answers import Unpushed, call_of_node, rules_and_reference
from opcert.vocabulary.attributes import Attribute, Graph
from opcert.vocabulary.errors import OpcertError
from reference.answers import Answer
from reference.registry.body_runs import arguments_by_name


def has_bodies(link: Link) -> bool:
    """Whether graphs are among the attributes of a node."""
    return any(isinstance(attribute.value, Graph) for attribute in link.attributes.values())


def answers_of_bodies(link: Link, values: Mapping[str, ExpectedOutput]) -> tuple[Expectation, ...]:
    """What comes out of a node with bodies, given the values of a chain by name, with the errors of each.

    Raises Unpushed where that is not known; the message has the operator in the body at which it is lost.
    """
    spec, reference = rules_and_reference(link.operator)
    taken = [_answer(values[name]) if name else None for name in link.inputs]
    around = {name: _answer(value) for name, value in values.items()}
    attributes = {name: _within(attribute, around) for name, attribute in link.attributes.items()}
    plain = [None if answer is None else answer.expected for answer in taken]
    asked = asked_outputs(spec, link.outputs)
    call = call_of_node(replace(link, attributes=attributes), plain, asked)
    try:
        if broken := find_violations(spec, call):
            raise Unpushed(f"{link.operator} breaks {broken[0].id}")
        question = replace(ask(spec, reference, call), arguments=arguments_by_name(spec, taken))
        return expectations_of(question)
    except OpcertError as error:
        cause = error.__cause__ if isinstance(error.__cause__, OpcertError) else error
        raise Unpushed(f"{link.operator} gives nothing that is known here", got=str(cause)) from error


def _answer(value: ExpectedOutput) -> Answer:
    alternatives = {other.index: other.values for other in value.alternatives}
    return Answer(value.expected, value.allowed, alternatives or None)


def _within(attribute: Attribute, around: Mapping[str, Answer]) -> Attribute:
    graph = attribute.value
    return replace(attribute, value=replace(graph, around=around)) if isinstance(graph, Graph) else attribute
