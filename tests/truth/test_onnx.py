"""Every call that a declaration makes passes ONNX's own checker and strict shape inference."""

from __future__ import annotations

import pytest

from generator.calls.borders.edges import find_edges
from generator.calls.data.draws import Draw
from generator.calls.declared.modelled import kept_cores_of
from generator.calls.rows.covering_rows import make_rows
from generator.trust.witnesses.truth_explanations import explanations_of
from generator.trust.witnesses.truth_runs import WitnessRefusal, ask_checker, ask_inference
from opcert.vocabulary.names import OperatorName
from tests.generator.declared import newest_operators, space_of

OF_ONNX = [each for each in newest_operators() if each.domain.startswith("ai.onnx")]
"""Older versions and runtimes are for `python -m tools.truth`."""
IN_PROCESS = ("inference", "checker")


@pytest.mark.slow
@pytest.mark.parametrize("operator", OF_ONNX, ids=str)
def test_valid_calls_pass_inference_and_checker(operator: OperatorName) -> None:
    space = space_of(operator)
    cores = kept_cores_of(operator)
    explanations = [each for each in explanations_of(operator) if each.against in IN_PROCESS]
    calls = [row.call for row in make_rows(space, cores)]
    calls += [edge.call for edge in find_edges(space, Draw(f"{operator}/boundary"))]
    assert len(calls) > 5
    refused = []
    for call in calls:
        answer = ask_inference(space.spec, call)
        told = answer if isinstance(answer, WitnessRefusal) else ask_checker(answer)
        if told is not None:
            refused.append(told)
    explained = {
        each.id
        for each in explanations
        for told in refused
        if each.explains_refusal(str(operator), told.witness, told.message)
    }
    assert [
        told
        for told in refused
        if not any(each.explains_refusal(str(operator), told.witness, told.message) for each in explanations)
    ] == []
    assert explained == {each.id for each in explanations}, "an explanation of nothing"
