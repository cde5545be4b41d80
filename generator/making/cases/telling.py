"""Whether a case tells that a runtime loses something of elements: the reference is asked what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from conformance.judging.judge import judge
from conformance.judging.responses import Answered
from conformance.judging.verdicts import DIFFERENT
from conformance.suite.cases import Case
from generator.asking.answered_outputs import asked_answers
from generator.asking.calls import Call
from generator.asking.computed import as_run
from generator.asking.given_inputs import arguments_of, output_names
from generator.asking.questions import settled_options
from generator.asking.tensor_edits import is_any, is_main, with_inputs, with_outputs
from generator.making.cases.narrowing import held_in
from generator.making.operators.workshop import Workshop
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from reference.answers import OutsideDomain, UnstableLength

Tells = Callable[[Workshop, Call, Case, "Loss"], bool]


@dataclass(frozen=True)
class Loss:
    """What becomes of tensors, None where they stay: of those of a type, if one is named, or of all.

    With `of_main` it is of those inputs or outputs alone that have the type of the first input.
    """

    lose: Callable[[Tensor], Tensor | None]
    element_type: str | None = None
    of_main: bool = False

    def __call__(self, given: Tensor) -> Tensor | None:
        return self.lose(given) if self.element_type in (None, given.element_type.name) else None


def held_as(element_type: str, narrow: str) -> Loss:
    """Elements held in a narrower type."""
    return Loss(lambda given: held_in(given, ELEMENT_TYPES[narrow]), element_type, of_main=True)


def is_told(workshop: Workshop, tells: Tells, loss: Loss) -> bool:
    """Whether any case of a workshop tells a loss."""
    # What is drawn tells nothing of elements.
    answered = ((digest, case) for digest, case in workshop.cases.items() if case.expectations)
    return any(tells(workshop, workshop.calls[digest], case, loss) for digest, case in answered)


def keep_first_told(
    workshop: Workshop, word: str, tells: Tells, loss: Loss, calls: Iterable[tuple[Mapping[str, str], Call]]
) -> None:
    """Keep the case of the first of some calls, each with its levels, that tells a loss."""
    for levels, call in calls:
        if workshop.violations(call) or workshop.has(call):
            continue
        with suppress(UnstableLength):
            case = workshop.make_valid("boundary", word, call, levels)
            if case.expectations and tells(workshop, call, case, loss):
                workshop.keep(call, case)
                return


def tells_of_inputs(workshop: Workshop, call: Call, case: Case, loss: Loss) -> bool:
    """Whether a runtime fails on a case that loses something of the inputs."""
    spec = workshop.spec
    changed = with_inputs(spec, call, loss, is_main(spec) if loss.of_main else is_any)
    if changed is None:
        return False
    response = None if workshop.violations(changed) else answer_of(workshop, changed)
    return response is None or judge(case, as_run(case, response)).verdict in DIFFERENT


def tells_of_outputs(workshop: Workshop, call: Call, case: Case, loss: Loss) -> bool:
    """Whether a runtime fails on a case that loses something of the outputs."""
    spec = workshop.spec
    right = Answered(tuple(each.expected for each in case.expectations[0].outputs))
    response = with_outputs(spec, call, right, loss, is_main(spec) if loss.of_main else is_any)
    return response is not None and judge(case, as_run(case, response)).verdict in DIFFERENT


def answer_of(workshop: Workshop, call: Call) -> Answered | None:
    """What the reference makes of a call under the chosen readings; None where it refuses it."""
    spec, reference = workshop.spec, workshop.reference
    settled = settled_options(spec, reference)
    names = output_names(spec, call)
    plain = {name: each.value for name, each in call.attributes.items()}
    try:
        answers = reference.evaluate(plain, arguments_of(spec, call), settled, outputs=len(names))
    except (OutsideDomain, UnstableLength):
        return None
    return Answered(tuple(each.honest for _, each in asked_answers(spec, call, names, answers)))
