"""A node with the values that it took and gave in a run: a call of its operator, and the answer to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from conformance.checked_models.model_calls import ModelNode
from conformance.checked_models.whole_model import Why
from generator.asking.answered_outputs import asked_outputs
from generator.asking.calls import Call
from generator.asking.given_inputs import output_names
from generator.asking.named_operators import referenced_operators
from generator.models.chains.chains import Link
from generator.models.chains.node_answers import call_of_node, rules_and_reference
from opcert.vocabulary.attributes import Graph
from opcert.vocabulary.tensors import Tensor
from reference.registry.body_runs import unreferenced
from reference.registry.reference_operator import ReferenceOperator
from specs.model.spec import ParameterSpec, Spec
from specs.model.structures import is_sequence


class PassedOver(Exception):
    """A node of which nothing can be said: why, in a word and in a sentence."""

    def __init__(self, why: Why, reason: str) -> None:
        super().__init__(reason)
        self.why: Why = why
        self.reason = reason


@dataclass(frozen=True, eq=False)
class ActualCall:
    """A call as it was made, and what came out, in the order of the outputs that are wanted.

    `outputs` are the names of these in the spec; `of_elements` the number of elements of them all, of which
    `answers` may be a part.
    """

    spec: Spec
    reference: ReferenceOperator
    call: Call
    outputs: tuple[str, ...]
    answers: tuple[Tensor, ...]
    of_elements: int


def actual_call(
    node: ModelNode, taken: Sequence[Tensor | None], given: Sequence[Tensor | None]
) -> ActualCall:
    """The call of a node; `taken` and `given` are its values in order, None where one is left out.

    Raises PassedOver where it is no call of tensors that a reference speaks of.
    """
    if node.operator is None:
        raise PassedOver("unknown", node.unknown or "the node names no operator version")
    for name, why in node.unread.items():
        raise PassedOver("unread", f"the attribute {name} is not carried: {why}")
    if node.operator not in referenced_operators():
        raise PassedOver("no_reference", f"there is no reference for {node.operator} that says what is right")
    for name, attribute in node.attributes.items():
        body = attribute.value
        if isinstance(body, Graph) and (missing := unreferenced(body, body.opset)):
            raise PassedOver("no_reference", f"{name} has {missing}, for which there is no reference")
    spec, reference = rules_and_reference(node.operator)
    for parameter in (*spec.inputs, *spec.outputs):
        if is_sequence(spec, parameter):
            raise PassedOver("no_tensors", f"{parameter.name} is a sequence")
    taken, given = _without_end(taken), _without_end(given)
    _check_count("inputs", taken, spec.inputs)
    _check_count("outputs", given, spec.outputs)
    for parameter, value in zip_longest(spec.inputs, taken[: len(spec.inputs)]):
        if value is None and parameter.option == "single":
            raise PassedOver("not_valid", f"the node leaves out {parameter.name}, which is required")
    asked = asked_outputs(spec, ["" if tensor is None else "asked for" for tensor in given])
    call = call_of_node(Link(node.operator, node.attributes, (), ()), taken, asked)
    wanted = tuple(name for name in output_names(spec, call) if name)
    answers = tuple(tensor for tensor in given if tensor is not None)
    return ActualCall(spec, reference, call, wanted, answers, sum(answer.array.size for answer in answers))


def _without_end(values: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    return values[: max((at for at, value in enumerate(values, 1) if value is not None), default=0)]


def _check_count(what: str, values: Sequence[Tensor | None], known: Sequence[ParameterSpec]) -> None:
    if len(values) > len(known) and not (known and known[-1].option == "variadic"):
        raise PassedOver("not_valid", f"the node has {len(values)} {what}; the document has {len(known)}")
