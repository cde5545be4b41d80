"""The forms that a run asks a runtime in: those that were asked for, and that ask about the node alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from conformance.judging.judge import judge
from conformance.models.case_models import Form
from conformance.running.lane import Lane
from conformance.running.requests import Offer
from conformance.running.run_options import SAMPLE, choose_forms
from conformance.running.tasks import Task
from conformance.runtimes.adapter import Adapter
from conformance.suite.cases import Case, Expectation, ExpectedOutput, call_digest
from opcert.vocabulary.names import CaseId, OperatorName
from opcert.vocabulary.tensors import tensor

_TRANSPOSES = (13, 1)
"""Versions of Transpose: a runtime that answers none of them rightly is not asked behind one."""


def take_forms(asked: str, lane: Lane, offer: Offer, adapter: Adapter) -> Sequence[Form]:
    """The forms to run in; raises UserError where one is asked for that the runtime does not take.

    A Backend class says nothing of what it takes. In a sample it is asked behind a Transpose where it answers
    that alone: a fault of its Transpose is none of every operator.
    """
    forms = choose_forms(asked, offer)
    if asked != SAMPLE or adapter.name != "backend" or "strided" not in forms:
        return forms
    if any(_answers(lane, _transpose(each)) for each in _TRANSPOSES):
        return forms
    return tuple(each for each in forms if each != "strided")


def _answers(lane: Lane, case: Case) -> bool:
    deaths = lane.deaths
    found = [response for _, response in lane.run([Task.of(case, "inputs")])]
    lane.deaths = deaths
    return all(judge(case, each).verdict == "pass" for each in found)


def _transpose(version: int) -> Case:
    """A call of a version of ONNX's Transpose, of two axes in reverse order."""
    given = np.arange(6, dtype=np.float32).reshape(2, 3)
    inputs = (("data", tensor(given)),)
    operator = OperatorName("ai.onnx", "Transpose", version)
    expected = ExpectedOutput("transposed", tensor(np.ascontiguousarray(given.transpose())))
    return Case(
        id=CaseId(operator, "cover", None, call_digest(operator, {}, inputs)),
        element_type=expected.expected.element_type,
        attributes={},
        inputs=inputs,
        output_names=("transposed",),
        demand="answer",
        expectations=(Expectation((expected,)),),
    )
