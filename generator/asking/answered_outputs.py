"""What a reference answers: whether its operator has it, and the tensors that a case holds of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from conformance.processes.frames import MOST_OUTPUTS
from generator.asking.bare_cases import output_types
from generator.asking.calls import Call
from opcert.vocabulary.errors import InternalError
from opcert.vocabulary.tensors import Tensor, tensor
from opcert.vocabulary.value_types import MapType, OptionalType, SequenceType, ValueType
from reference.answers import Answer, UnstableLength
from specs.model.domain import ResultShape, named_output, result_shapes
from specs.model.spec import ParameterSpec, Spec
from specs.model.structures import element_types_of, is_sequence, is_structured, type_variable


def asked_outputs(spec: Spec, names: Sequence[str]) -> tuple[str, ...] | None:
    """The operator's own names for a node's outputs, empty where one is not wanted; None where it wants all.

    Of a variadic output each tensor has a number behind the name.
    """
    last = spec.outputs[-1]
    found = tuple(_name(spec, place) if name else "" for place, name in enumerate(names))
    every = tuple(output.name for output in spec.outputs)
    return None if found == every and last.option != "variadic" else found


def _name(spec: Spec, place: int) -> str:
    """What a call calls the output at a place."""
    last = spec.outputs[-1]
    if last.option == "variadic" and place >= len(spec.outputs) - 1:
        return f"{last.name}_{place - len(spec.outputs) + 1}"
    return spec.outputs[place].name


def asked_answers(
    spec: Spec, call: Call, names: Sequence[str], answers: Sequence[Answer]
) -> tuple[tuple[str, Answer], ...]:
    """The answers for outputs that have a name, with that; of what is no tensor each part, with its own.

    A sequence is its length and its elements, an optional whether it holds something and what that is, a map
    its keys and its values. Raises UnstableLength where these are more than a worker answers with.
    """
    types = output_types(spec, call)
    pairs = ((name, answer) for name, answer in zip(names, answers, strict=False) if name)
    found = tuple(part for name, answer in pairs for part in _parts(name, types.get(name), answer))
    if len(found) > MOST_OUTPUTS and types:
        raise UnstableLength("more tensors than a worker answers with", got=str(len(found)))
    return found


def _parts(name: str, kind: ValueType | None, answer: Answer) -> Iterator[tuple[str, Answer]]:
    match kind:
        case OptionalType():
            held = answer.parts is not None
            yield f"{name}_has_element", Answer(tensor(np.array(held)))
            if held:
                yield from _parts(f"{name}_element", kind.of, answer)
        case SequenceType():
            yield f"{name}_length", replace(answer, parts=())
            for place, part in enumerate(answer.parts or ()):
                assert isinstance(part, Answer)
                yield from _parts(f"{name}_{place}", kind.of, part)
        case MapType():
            for word, part in zip(("keys", "values"), answer.parts or (), strict=True):
                assert isinstance(part, Answer)
                yield f"{name}_{word}", part
        case _:
            yield name, answer


@dataclass(frozen=True)
class DeclaredOutput:
    """What an output of a call must be: one of these types, where there are some, and of this shape.

    Of one that `is_sequence` each tensor has the type.
    """

    types: tuple[str, ...] = ()
    shape: ResultShape | None = None
    is_sequence: bool = False


def declared_results(spec: Spec, call: Call, names: Sequence[str]) -> tuple[DeclaredOutput, ...]:
    """Of each named output of a call what is declared for it; nothing of what is no one tensor."""
    found = result_shapes(spec, call.attributes, call.inputs, names, call.slots)
    return tuple(_declared(spec, call, name, shape) for name, shape in zip(names, found, strict=True))


def _declared(spec: Spec, call: Call, name: str, shape: ResultShape | None) -> DeclaredOutput:
    output = named_output(spec, name)[0] if name else None
    if output is None:
        return DeclaredOutput((), shape)
    if is_sequence(spec, output):
        return DeclaredOutput(_types(spec, call, output), None, is_sequence=True)
    if not is_structured(spec, output):
        return DeclaredOutput(_types(spec, call, output), shape)
    # One tensor of a variadic output is what it is, whatever forms the output has.
    return DeclaredOutput((), None if name == output.name else shape)


def check_answers(
    spec: Spec, names: Sequence[str], answers: Sequence[object], declared: Sequence[DeclaredOutput]
) -> None:
    """Raise InternalError where an output is missing, is no answer, or has a type or shape that is ruled out.

    `names` are those of the node's outputs in order, empty where one is not wanted; `declared` what
    `declared_results` says of them, which is the same for every answer to one call.
    """
    asked = max((at + 1 for at, name in enumerate(names) if name), default=0)
    if len(answers) < asked:
        raise InternalError(
            f"the reference of {spec.operator} answers with too few outputs",
            got=str(len(answers)),
            expected=", ".join(filter(None, names)),
        )
    for name, answer, wanted in zip(names, answers, declared, strict=False):
        if name:
            _check_answer(spec, name, answer, wanted)


def _check_answer(spec: Spec, name: str, answer: object, declared: DeclaredOutput) -> None:
    if not isinstance(answer, Answer) or not isinstance(answer.expected, Tensor):
        got = answer.expected if isinstance(answer, Answer) else answer
        raise InternalError(
            f"the reference of {spec.operator} answers {name} with what is no tensor",
            got=type(got).__name__,
            expected="reference.answers.Answer, of a Tensor",
        )
    allowed, shape = declared.types, declared.shape
    for held in _typed(answer, declared):
        if allowed and held.element_type.name not in allowed:
            raise InternalError(
                f"the reference of {spec.operator} answers {name} with another type than it has",
                got=held.element_type.name,
                expected=" or ".join(allowed),
            )
    if shape is not None and not shape.holds(answer.expected.shape):
        raise InternalError(
            f"the reference of {spec.operator} answers {name} with another shape than is declared",
            got=str(list(answer.expected.shape)),
            expected=str(shape),
        )
    if answer.allowed is not None and answer.allowed.shape != answer.expected.shape:
        raise InternalError(
            f"the reference of {spec.operator} allows errors to {name} in another shape than it has",
            got=str(list(answer.allowed.shape)),
            expected=str(list(answer.expected.shape)),
        )


def _typed(answer: Answer, declared: DeclaredOutput) -> list[Tensor]:
    """The tensors of an answer that have the types of their output: a sequence's length is of its own."""
    if not declared.is_sequence:
        return [answer.expected]
    return [part.expected if isinstance(part, Answer) else part for part in answer.parts or ()]


def _types(spec: Spec, call: Call, output: ParameterSpec) -> tuple[str, ...]:
    """The type of the inputs that have the output's type variable, or all that the output may have."""
    variable = type_variable(spec, output)
    if output.option == "variadic" and not output.homogeneous:
        return tuple(element_types_of(spec, output))
    if variable in spec.type_constraints:
        for parameter in spec.inputs:
            if type_variable(spec, parameter) == variable:
                for given in call.tensors(parameter.name):
                    if given is not None:
                        return (given.element_type.name,)
    return tuple(element_types_of(spec, output))
