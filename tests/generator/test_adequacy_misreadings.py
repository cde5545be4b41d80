"""Misreadings: a mistake is what a spec settles; what it leaves open is none, and the cases accept it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.judging.judge import judge
from conformance.judging.responses import Answered
from conformance.suite.cases import Case
from generator.asking.calls import Call, call_of
from generator.asking.expectations import expect
from generator.calls.edits.finding import find_changes
from generator.making.operators.workshop import Options
from generator.making.suites.operator_cases import generate_operator
from generator.trust.mutants.measure import make_misreadings
from generator.trust.mutants.subject import MutatedOperator
from opcert.vocabulary.attributes import attribute
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.names import CaseId, OperatorName
from opcert.vocabulary.tensors import tensor
from reference.registry import find_operator
from specs.files.library import load_spec

MOVING = ("com.microsoft::Pad-1", "org.openvino::ExtractImagePatches-3")
COMPUTING = "ai.onnx::Resize-13"
LOSSES = {"sign of zero": "negative_zeros", "subnormals": "subnormals"}
"""What a change of an input loses, and the behaviour that leaves it open."""


def subject_of(operator: str, settled: str | None = None) -> MutatedOperator:
    """An operator; with `settled` that behaviour's first option is the only one."""
    name = OperatorName.parse(operator)
    spec = load_spec(name)
    readings = tuple(
        replace(reading, chosen=next(iter(reading.options))) if reading.id == settled else reading
        for reading in spec.readings
    )
    return MutatedOperator.of(replace(spec, readings=readings), find_operator(name))


def planted_losses(subject: MutatedOperator) -> set[str]:
    keys = [misreading.mistake.key for misreading in make_misreadings(subject)]
    return {what for what in LOSSES if any(key.endswith(what) for key in keys)}


@pytest.mark.parametrize("operator", [*MOVING, COMPUTING])
def test_a_loss_that_the_spec_leaves_open_is_no_mistake(operator: str) -> None:
    assert planted_losses(subject_of(operator)) == set()


@pytest.mark.parametrize("operator", [*MOVING, COMPUTING])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_loss_that_the_spec_settles_is_a_mistake(operator: str, loss: str) -> None:
    assert planted_losses(subject_of(operator, LOSSES[loss])) == {loss}


def lost(subject: MutatedOperator, call: Call, behaviour: str) -> Call:
    """The call after all changes that a behaviour accepts: it is about every number, not about one input."""
    for change in find_changes(subject.spec):
        if change.accepted_by == behaviour:
            changed = change.apply(subject.spec, call)
            call = call if changed is None else changed.call
    return call


def count_different(subject: MutatedOperator, cases: list[Case]) -> int:
    """How often an answer after a change that is no mistake differs; each is to be right."""
    different = 0
    with subject.quick():
        for case in cases:
            for behaviour in LOSSES.values():
                call = lost(subject, call_of(case), behaviour)
                got = subject.respond(call)
                assert judge(case, got).verdict == "pass", (str(case.id), behaviour)
                expected = tuple(output.expected for output in case.expectations[0].outputs)
                different += not isinstance(got, Answered) or got.outputs != expected
    return different


@pytest.mark.parametrize("operator", MOVING)
def test_cases_accept_what_is_no_mistake_in_moved_data(operator: str) -> None:
    made = generate_operator(OperatorName.parse(operator), Options()).cases
    cases = [each for each in made if each.demand == "answer"]
    assert count_different(subject_of(operator), cases) >= 5


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("scale", [0.5, 2.0, 2.5])
def test_cases_accept_what_is_no_mistake_in_computed_data(mode: str, scale: float) -> None:
    subject = subject_of(COMPUTING)
    data = [-0.0, 1e-40, -1e-38, 3e-39, -0.0, 1.5, -1e-44, 1e-38]
    call = Call(
        {"mode": attribute("string", mode)},
        (("X", tensor(data, "float")), ("roi", None), ("scales", tensor([scale], "float"))),
    )
    case = Case(
        CaseId(subject.spec.operator, "cover", mode, call.digest(subject.spec.operator)[:12]),
        ELEMENT_TYPES["float"],
        call.attributes,
        call.inputs,
        ("Y",),
        "answer",
        expect(subject.spec, subject.reference, call),
    )
    assert count_different(subject, [case]) > 0
