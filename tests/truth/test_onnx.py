"""Every call that a declaration makes passes ONNX's own checker and strict shape inference."""

from __future__ import annotations

import pytest

from generator.calls.borders.edges import find_edges
from generator.calls.data.draws import Draw
from generator.calls.declared.modelled import kept_cores_of
from generator.calls.rows.covering_rows import make_rows
from generator.trust.witnesses.truth_runs import WitnessRefusal, ask_checker, ask_inference
from generator.trust.witnesses.truth_table import explanations_of
from opcert.vocabulary.names import BESIDE_ONNX, OperatorName
from tests.generator.declared import newest_operators, space_of

OF_ONNX = [
    newest_operator
    for newest_operator in newest_operators()
    if newest_operator.domain.startswith("ai.onnx") and newest_operator != BESIDE_ONNX
]
"""Older versions and runtimes are for `python -m tools.truth`."""
IN_PROCESS = ("inference", "checker")


@pytest.mark.slow
@pytest.mark.parametrize("operator", OF_ONNX, ids=str)
def test_valid_calls_pass_inference_and_checker(operator: OperatorName) -> None:
    space = space_of(operator)
    cores = kept_cores_of(operator)
    explanations = [
        explanation for explanation in explanations_of(operator) if explanation.against in IN_PROCESS
    ]
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
        explanation.id
        for explanation in explanations
        for told in refused
        if explanation.explains_refusal(str(operator), told.witness, told.message)
    }
    assert [
        told
        for told in refused
        if not any(
            explanation.explains_refusal(str(operator), told.witness, told.message)
            for explanation in explanations
        )
    ] == []
    assert explained == {explanation.id for explanation in explanations}, "an explanation of nothing"
