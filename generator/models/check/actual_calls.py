"""A node with the values that it took and gave in a run: a call of its operator, and the answer to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conformance.checked_models.model_calls import ModelNode
from conformance.checked_models.whole_model import Why
from generator.asking.calls import Call
from generator.asking.named_operators import referenced_operators
from generator.calls.variables.wanted_outputs import asks_for_outputs
from generator.models.chains.node_answers import rules_and_reference
from opcert.vocabulary.tensors import Tensor
from reference.registry.reference_operator import ReferenceOperator
from specs.model.spec import Spec
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
    spec, reference = rules_and_reference(node.operator)
    inputs = _paired(spec, taken)
    names = _output_names(spec, given)
    wanted = tuple(name for name, each in zip(names, given, strict=True) if each is not None)
    told = tuple(name if each is not None else "" for name, each in zip(names, given, strict=True))
    while told and not told[-1]:
        told = told[:-1]
    call = Call(node.attributes, inputs, outputs=told if asks_for_outputs(spec) and told else None)
    answers = tuple(each for each in given if each is not None)
    return ActualCall(
        spec, reference, call.trimmed(), wanted, answers, sum(each.array.size for each in answers)
    )


def _paired(spec: Spec, taken: Sequence[Tensor | None]) -> tuple[tuple[str, Tensor | None], ...]:
    left = list(taken)
    found: list[tuple[str, Tensor | None]] = []
    for each in spec.inputs:
        if is_sequence(spec, each):
            raise PassedOver("no_tensors", f"{each.name} is a sequence")
        if each.option == "variadic":
            found += [(each.name, one) for one in left]
            left = []
            continue
        value = left.pop(0) if left else None
        if value is None and each.option == "single":
            raise PassedOver("not_valid", f"the node leaves out {each.name}, which is required")
        found.append((each.name, value))
    if any(each is not None for each in left):
        raise PassedOver(
            "not_valid", f"the node has {len(taken)} inputs; the document has {len(spec.inputs)}"
        )
    return tuple(found)


def _output_names(spec: Spec, given: Sequence[Tensor | None]) -> tuple[str, ...]:
    names: list[str] = []
    for each in spec.outputs:
        if is_sequence(spec, each):
            raise PassedOver("no_tensors", f"{each.name} is a sequence")
        if each.option == "variadic":
            names += [f"{each.name}_{place}" for place in range(len(given) - len(names))]
        else:
            names.append(each.name)
    if any(each is not None for each in given[len(names) :]):
        raise PassedOver("not_valid", f"the node has {len(given)} outputs; the document has {len(names)}")
    return tuple(names[: len(given)])
