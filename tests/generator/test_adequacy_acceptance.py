"""What a random call's case would accept is told without making the case: the same as of the whole case."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from conformance.judging.judge import judge
from conformance.judging.responses import Answered, Refused, Response
from conformance.judging.verdicts import DIFFERENT
from conformance.suite.cases import Case
from generator.asking.bare_cases import first_type
from generator.asking.calls import call_of
from generator.asking.computed import as_run
from generator.asking.expectations import expect
from generator.asking.questions import ask
from generator.asking.validity import find_refusable
from generator.calls.data.draws import Draw
from generator.making.operators.discovery import open_spec
from generator.making.operators.workshop import Options
from generator.making.suites.operator_cases import generate_operator
from generator.trust.mutants.random_calls import Acceptance, RandomCall, RandomCalls
from generator.trust.mutants.subject import MutatedOperator
from opcert.vocabulary.names import CaseId, OperatorName
from opcert.vocabulary.tensors import Tensor
from reference.answers import UnstableLength
from reference.registry import reference_of

CALLS = 12


@pytest.mark.parametrize("name", ["RNN-22", "RoiAlign-22", "Attention-25", "TopK-24", "GridSample-22"])
def test_it_is_what_the_whole_case_accepts(name: str) -> None:
    """Of the right answer, those under other readings, some that are wrong, and a refusal."""
    operator = OperatorName.parse(f"ai.onnx::{name}")
    spec, levels = open_spec(operator)
    subject = MutatedOperator.of(spec, reference_of(spec))
    accepted, refused = 0, 0
    with subject.quick():
        random = RandomCalls(subject, levels, Draw("acceptance"))
        random.more(CALLS)
        for drawn in random.drawn:
            case = _whole_case(subject, drawn)
            for response in _responses(subject, drawn):
                found = drawn.acceptance.accepts(response)
                fits = case is None or judge(case, as_run(case, response)).verdict not in DIFFERENT
                assert found == fits, (drawn.call, response)
                accepted += found
                refused += not found
    assert accepted >= len(random.drawn)
    assert refused >= len(random.drawn)


def test_a_refusal_is_accepted_where_the_document_leaves_it_open() -> None:
    operator = OperatorName.parse("ai.onnx::Det-22")
    spec, _ = open_spec(operator)
    subject = MutatedOperator.of(spec, reference_of(spec))
    cases = [each for each in generate_operator(operator, Options()).cases if each.demand == "answer"]
    found = {True: 0, False: 0}
    with subject.quick():
        for case in cases:
            refusable = case.may_refuse is not None
            acceptance = Acceptance(subject, call_of(case))
            assert acceptance.accepts(Refused("ValueError", "broken")) == refusable
            found[refusable] += 1
    assert all(found.values()), found


def _responses(subject: MutatedOperator, drawn: RandomCall) -> list[Response]:
    found: list[Response] = [drawn.answer, Refused("ValueError", "broken")]
    asked = ask(subject.spec, subject.reference, drawn.call)
    for place, reading in enumerate(asked.open):
        first = [next(iter(reading.options)) for reading in asked.open]
        for option in list(reading.options)[1:]:
            options = (*first[:place], option, *first[place + 1 :])
            found.append(Answered(tuple(answer.expected for _, answer in asked.answer(options))))
    first_output = drawn.answer.outputs[0]
    assert isinstance(first_output, Tensor)
    moved = Tensor(first_output.element_type, np.roll(first_output.array, 1))
    zeros = Tensor(first_output.element_type, np.zeros_like(first_output.array))
    found += [replace(drawn.answer, outputs=(tensor, *drawn.answer.outputs[1:])) for tensor in (moved, zeros)]
    return found


def _whole_case(subject: MutatedOperator, drawn: RandomCall) -> Case | None:
    try:
        expectations = expect(subject.spec, subject.reference, drawn.call)
    except UnstableLength:
        return None
    call, operator = drawn.call, subject.spec.operator
    refusable = find_refusable(subject.spec, call)
    return Case(
        id=CaseId(operator, "cover", None, call.digest(operator)),
        element_type=first_type(subject.spec, call),
        attributes=call.attributes,
        inputs=call.inputs,
        output_names=(),
        demand="answer",
        expectations=expectations,
        may_refuse=None if refusable is None else refusable.id,
    )
