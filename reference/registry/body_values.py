"""Values in a body: tensors and sequences of them, each tensor with what is allowed to its elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.slots import Slot
from opcert.vocabulary.tensors import Tensor
from opcert.vocabulary.value_types import OptionalType, SequenceType, TensorType
from reference.answers import Answer, sequence_of
from reference.registry.reference_operator import Argument
from specs.language.expressions import parse
from specs.model.spec import Constraint, Spec
from specs.model.structures import sequence_type

NOTHING = OptionalType(TensorType(ELEMENT_TYPES["float"]))
"""The type of an optional without a value: which one shows nothing of it."""


def is_exact(answer: Answer) -> bool:
    """Whether every right program holds exactly this value."""
    if answer.is_sequence:
        return all(map(is_exact, tensors_of(answer)))
    distant = answer.allowed is not None and bool(answer.allowed.any())
    return not (distant or answer.alternatives or answer.unordered or not answer.valued)


def tensors_of(answer: Answer) -> tuple[Answer, ...]:
    """The tensors of a sequence; of a tensor itself alone, of an optional without a value none."""
    if answer.is_sequence or answer.parts is None:
        return tuple(map(as_answer, answer.parts or ()))
    return (answer,)


def as_exact(answer: Answer | None) -> Answer | None:
    """The same without what is allowed to it."""
    if answer is None or answer.parts is None:
        return answer
    parts = tuple(Answer(part.expected) for part in tensors_of(answer))
    return sequence_of(parts) if answer.is_sequence else parts[0]


def allowing(answer: Answer, places: Answer, allowed: NDArray[np.float64]) -> Answer:
    """What was moved with what is allowed to it, each element that of the number in its place."""
    if answer.is_sequence:
        pairs = zip(tensors_of(answer), tensors_of(places), strict=True)
        return replace(answer, parts=tuple(allowing(part, place, allowed) for part, place in pairs))
    return replace(answer, allowed=allowed[places.expected.array])


def as_answer(value: Tensor | Answer) -> Answer:
    """A value that a body takes: a tensor, or one with what is allowed to it."""
    return value if isinstance(value, Answer) else Answer(value)


def arguments_by_name(spec: Spec, taken: Sequence[Answer | None]) -> dict[str, Argument]:
    """The inputs of a node by the names that its operator has for them; exact ones as plain tensors.

    A sequence is its tensors; one of several values of a variadic input stays an answer.
    """
    found: dict[str, Argument] = {}
    for place, parameter in enumerate(spec.inputs):
        if parameter.option == "variadic":
            rest: list[Any] = [_plain(answer) for answer in taken[place:]]
            found[parameter.name] = tuple(rest)
        elif place < len(taken) and (answer := taken[place]) is not None:
            parts: Any = tuple(map(_plain, tensors_of(answer)))
            if answer.parts is not None:
                found[parameter.name] = parts if answer.is_sequence else parts[0]
    return found


def _plain(answer: Answer | None) -> Tensor | Answer | None:
    """An exact tensor as it is."""
    is_tensor = answer is not None and not answer.is_sequence and answer.parts is not None
    return answer.expected if answer is not None and is_tensor and is_exact(answer) else answer


def inputs_of(
    spec: Spec, taken: Sequence[Answer | None]
) -> tuple[list[tuple[str, Tensor | None]], tuple[Slot, ...]]:
    """The tensors of a node by the names of its operator's inputs, and what they make where some are more."""
    names = [parameter.name for parameter in spec.inputs]
    names += names[-1:] * (len(taken) - len(names))
    inputs: list[tuple[str, Tensor | None]] = []
    slots: list[Slot] = []
    for name, answer in zip(names, taken, strict=False):
        parts = () if answer is None else tensors_of(answer)
        places = tuple(range(len(inputs), len(inputs) + len(parts)))
        inputs += [(name, part.expected) for part in parts] if answer is not None else [(name, None)]
        kind: SequenceType | None = None
        if answer is not None and answer.is_sequence:
            kind = sequence_type(parts[0].expected.element_type.name if parts else "float")
        is_nothing = answer is not None and answer.parts is None
        slots.append(Slot(name, places, NOTHING if is_nothing else kind, is_nothing))
    return inputs, tuple(slots) if any(slot.type is not None for slot in slots) else ()


def rules_of(spec: Spec, slots: Sequence[Slot]) -> list[Constraint]:
    """The rules that a node is held to: what they say of a variadic input, they say of tensors alone."""
    variadic = {parameter.name for parameter in spec.inputs if parameter.option == "variadic"}
    left_out = {slot.name for slot in slots if slot.type is not None} & variadic
    return [rule for rule in spec.constraints if not (left_out and left_out & _names_in(rule))]


def _names_in(rule: Constraint) -> frozenset[str]:
    texts = [text for text in (rule.require, rule.when) if text]
    own = frozenset({rule.shape_of}) if rule.shape_of is not None else frozenset[str]()
    return own.union(*(parse(text).names for text in texts))


def identity(answer: Answer) -> tuple[object, ...]:
    """The same of two answers that allow the same."""
    if answer.is_sequence:
        return tuple(map(identity, tensors_of(answer)))
    allowed = None if answer.allowed is None else answer.allowed.tobytes()
    return answer.expected, allowed, repr(answer.alternatives)
