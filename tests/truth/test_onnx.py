"""Every call that a declaration makes passes ONNX's own checker and strict shape inference."""

from __future__ import annotations

import pytest

from generator.cores import read_cores
from generator.draws import Draw
from generator.edges import find_edges
from generator.rows import make_rows
from generator.truth import Refused, ask_checker, ask_inference
from opcert.names import OperatorName
from specs.library import OWN_FOLDER
from tests.generator.declared import newest_operators, space_of

OF_ONNX = [each for each in newest_operators() if each.domain.startswith("ai.onnx")]
"""Older versions, and every pair of levels, are for `python -m benchmarks.truth`."""


@pytest.mark.parametrize("operator", OF_ONNX, ids=str)
def test_valid_calls_pass_inference_and_checker(operator: OperatorName) -> None:
    space = space_of(operator)
    cores = read_cores(OWN_FOLDER / operator.domain / operator.name / "cores.yaml", operator.since_version)
    calls = [row.call for row in make_rows(space, cores, strength=1)]
    calls += [edge.call for edge in find_edges(space, Draw(f"{operator}/boundary"))]
    assert len(calls) > 5
    refused = []
    for call in calls:
        answer = ask_inference(space.spec, call)
        told = answer if isinstance(answer, Refused) else ask_checker(answer)
        if told is not None:
            refused.append(told)
    assert refused == []
