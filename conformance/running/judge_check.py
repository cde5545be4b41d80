"""Whether the judge tells right from wrong on what a runtime answers, before anything counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from conformance.judging.judge import judge
from conformance.judging.responses import Answered
from conformance.suite.cases import Case, Expectation, ExpectedOutput
from opcert.vocabulary.errors import InternalError
from opcert.vocabulary.tensors import Tensor, tensor


def check_judge(case: Case, response: Answered) -> bool:
    """Hold an answer against itself, and against a perturbed copy; InternalError where that goes wrong.

    Whether the answer can say anything: it is tensors, and some have elements.
    """
    outputs = tuple(each for each in response.outputs if isinstance(each, Tensor))
    if len(outputs) != len(response.outputs) or not any(each.array.size for each in outputs):
        return False
    wrong = tuple(perturb(each) for each in outputs)
    alike = judge(expect(case, outputs), response).verdict
    different = judge(expect(case, wrong), response).verdict
    if (alike, different) != ("pass", "mismatch"):
        raise InternalError(
            "the judge cannot tell right from wrong on this runtime's answers",
            got=f"{alike} for the answer itself, {different} for a perturbed copy",
        )
    return True


def expect(case: Case, outputs: Sequence[Tensor]) -> Case:
    """A copy of a case that demands exactly these outputs."""
    wanted = tuple(ExpectedOutput(f"output_{position}", each) for position, each in enumerate(outputs))
    return replace(case, demand="answer", expectations=(Expectation(wanted),), properties=())


def perturb(answer: Tensor) -> Tensor:
    """A copy with its first element changed; itself where it has none."""
    if answer.array.size == 0:
        return answer
    if answer.element_type.kind == "string":
        changed = answer.array.copy()
        changed.reshape(-1)[0] = changed.reshape(-1)[0] + b"x"
        return tensor(changed, answer.element_type)
    changed = answer.array.copy()
    flat = changed.reshape(-1)
    if answer.element_type.kind == "bool":
        flat[0] = not flat[0]
    else:
        flat[:1] = 1 if flat[0] != 1 else 2
    return Tensor(answer.element_type, changed)
