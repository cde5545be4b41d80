"""Nodes with bodies in a chain: the references run the bodies, which see the values around them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from onnx import GraphProto, NodeProto, ValueInfoProto

from conformance.suite.cases import Expectation, ExpectedOutput
from generator.asking.answered_outputs import asked_outputs
from generator.asking.bare_cases import output_types
from generator.asking.calls import Call
from generator.asking.expectations import expectations_of
from generator.asking.given_inputs import output_names
from generator.asking.questions import ask
from generator.asking.validity import find_violations
from generator.models.chains.chains import Link
from generator.models.chains.node_answers import Unpushed, rules_and_reference
from opcert.vocabulary.attributes import Attribute, Graph
from opcert.vocabulary.errors import OpcertError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.value_types import SequenceType, ValueType
from reference.answers import Answer, sequence_of
from reference.registry.body_values import arguments_by_name, inputs_of, rules_of


def has_bodies(link: Link) -> bool:
    """Whether graphs are among the attributes of a node."""
    return any(isinstance(attribute.value, Graph) for attribute in link.attributes.values())


@dataclass(frozen=True, eq=False)
class ExpectedSequence(ExpectedOutput):
    """A sequence: its length is what is expected, and `parts` are its tensors."""

    parts: tuple[ExpectedOutput, ...] = ()


def answers_of_bodies(link: Link, values: Mapping[str, ExpectedOutput]) -> tuple[Expectation, ...]:
    """What comes out of a node with bodies, given the values of a chain by name, with the errors of each.

    Raises Unpushed where that is not known; the message has the operator in the body at which it is lost.
    """
    spec, reference = rules_and_reference(link.operator)
    taken = [_answer(values[name]) if name else None for name in link.inputs]
    around = {name: _answer(value) for name, value in values.items()}
    attributes = {name: _within(attribute, around) for name, attribute in link.attributes.items()}
    inputs, slots = inputs_of(spec, taken)
    call = Call(attributes, tuple(inputs), slots, asked_outputs(spec, link.outputs)).trimmed()
    try:
        if broken := find_violations(spec, call, rules_of(spec, slots)):
            raise Unpushed(f"{link.operator} breaks {broken[0].id}")
        question = replace(ask(spec, reference, call), arguments=arguments_by_name(spec, taken))
        names = [name for name in output_names(spec, call) if name]
        types = output_types(spec, call)
        return tuple(
            replace(found, outputs=tuple(_joined(names, types, found.outputs)))
            for found in expectations_of(question)
        )
    except OpcertError as error:
        cause = error.__cause__ if isinstance(error.__cause__, OpcertError) else error
        raise Unpushed(f"{link.operator} gives nothing that is known here", got=str(cause)) from error


def _joined(
    names: Sequence[str], types: Mapping[str, ValueType], outputs: Sequence[ExpectedOutput]
) -> Iterator[ExpectedOutput]:
    """The outputs by these names, those that are sequences out of their length and tensors."""
    left = iter(outputs)
    for name in names:
        first = next(left)
        if not isinstance(types.get(name), SequenceType):
            yield first
            continue
        parts = tuple(islice(left, int(first.expected.array)))
        yield ExpectedSequence(name, first.expected, parts=parts)


def _answer(value: ExpectedOutput) -> Answer:
    if isinstance(value, ExpectedSequence):
        return sequence_of(tuple(map(_answer, value.parts)))
    alternatives = {other.index: other.values for other in value.alternatives}
    return Answer(value.expected, value.allowed, alternatives or None)


def _within(attribute: Attribute, around: Mapping[str, Answer]) -> Attribute:
    graph = attribute.value
    return replace(attribute, value=replace(graph, around=around)) if isinstance(graph, Graph) else attribute


_IF = OperatorName("ai.onnx", "If", 25)
TRUE = "\0"
"""The name of the value by which `in_a_branch` takes its branch; no value of a model has it."""


def in_a_branch(node: NodeProto, types: Sequence[ValueType | None], opset: int) -> Link:
    """A node as what a branch holds that is always taken: bodies carry sequences from node to node."""
    names = tuple(name for name in node.output if name)
    proto = GraphProto(name="branch", node=[node], output=[ValueInfoProto(name=name) for name in names])
    raw = bytes(proto.SerializeToString(deterministic=True))
    branch = Attribute("graph", Graph(raw, (), tuple(types), opset))
    return Link(_IF, {"then_branch": branch, "else_branch": branch}, (TRUE,), names)
