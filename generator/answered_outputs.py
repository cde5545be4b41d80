"""Whether a reference answers with what its operator has: as many outputs, each of a type that it may be."""

from __future__ import annotations

from collections.abc import Sequence

from generator.calls import Call
from opcert.vocabulary.errors import InternalError
from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from specs.model import ParameterSpec, Spec
from specs.structures import element_types_of, is_structured, type_variable


def check_answers(spec: Spec, call: Call, names: Sequence[str], answers: Sequence[object]) -> None:
    """Raise InternalError where an output is missing, is no answer, or has a type that the call rules out.

    `names` are those of the node's outputs in order, empty where one is not wanted.
    """
    asked = max((at + 1 for at, name in enumerate(names) if name), default=0)
    if len(answers) < asked:
        raise InternalError(
            f"the reference of {spec.operator} answers with too few outputs",
            got=str(len(answers)),
            expected=", ".join(filter(None, names)),
        )
    outputs = {each.name: each for each in spec.outputs}
    for name, answer in zip(names, answers, strict=False):
        if name:
            _check_answer(spec, call, name, outputs.get(name), answer)


def _check_answer(spec: Spec, call: Call, name: str, output: ParameterSpec | None, answer: object) -> None:
    if not isinstance(answer, Answer) or not isinstance(answer.expected, Tensor):
        got = answer.expected if isinstance(answer, Answer) else answer
        raise InternalError(
            f"the reference of {spec.operator} answers {name} with what is no tensor",
            got=type(got).__name__,
            expected="reference.answers.Answer, of a Tensor",
        )
    allowed = () if output is None or is_structured(spec, output) else _types(spec, call, output)
    if allowed and answer.expected.element_type.name not in allowed:
        raise InternalError(
            f"the reference of {spec.operator} answers {name} with another type than it has",
            got=answer.expected.element_type.name,
            expected=" or ".join(allowed),
        )
    if answer.allowed is not None and answer.allowed.shape != answer.expected.shape:
        raise InternalError(
            f"the reference of {spec.operator} allows errors to {name} in another shape than it has",
            got=str(list(answer.allowed.shape)),
            expected=str(list(answer.expected.shape)),
        )


def _types(spec: Spec, call: Call, output: ParameterSpec) -> tuple[str, ...]:
    """The type of the inputs that have the output's type variable, or all that the output may have."""
    variable = type_variable(spec, output)
    if variable in spec.type_constraints:
        for each in spec.inputs:
            if type_variable(spec, each) == variable:
                for given in call.tensors(each.name):
                    if given is not None:
                        return (given.element_type.name,)
    return tuple(element_types_of(spec, output))
