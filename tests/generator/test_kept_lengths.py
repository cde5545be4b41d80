"""Calls whose output is exactly as large as the input, though something is asked for."""

from __future__ import annotations

import numpy as np
import pytest

from generator.asking.calls import Call
from generator.asking.validity import find_violations
from generator.calls.borders.edges import find_edges
from generator.calls.data.draws import Draw
from generator.trust.witnesses.truth_runs import Inferred, ask_inference
from opcert.vocabulary.names import OperatorName
from tests.generator.declared import space_of

KEPT = {
    "Conv-11": ["as_long_as_before"],
    "MaxPool-12": ["as_long_as_before"],
    "AveragePool-19": ["as_long_as_before"],
    "ConvTranspose-11": ["as_long_as_before"],
    "Slice-13": ["everything", "everything_backwards"],
    "Slice-1": ["everything"],
    "Transpose-13": ["equal_extents"],
}


def edges_of(short: str) -> dict[str, Call]:
    space = space_of(OperatorName.parse(f"ai.onnx::{short}"))
    calls = {edge.word: edge.call for edge in find_edges(space, Draw("edges"))}
    assert not [word for word, call in calls.items() if find_violations(space.spec, call)]
    return calls


@pytest.mark.slow
@pytest.mark.parametrize("short", KEPT)
def test_an_output_is_as_large_as_the_input_though_something_is_asked_for(short: str) -> None:
    space = space_of(OperatorName.parse(f"ai.onnx::{short}"))
    calls = edges_of(short)
    for word in KEPT[short]:
        call = calls[word]
        (_, data), *_ = call.inputs
        assert data is not None
        answer = ask_inference(space.spec, call)
        assert isinstance(answer, Inferred), answer
        spatial = slice(2, None) if "Pool" in short or "Conv" in short else slice(None)
        assert _inferred_shape(answer)[spatial] == list(data.shape[spatial]), word


def _inferred_shape(answer: Inferred) -> list[int]:
    (output, *_) = answer.model.graph.output
    return [each.dim_value for each in output.type.tensor_type.shape.dim]


@pytest.mark.parametrize("short", ["Conv-11", "MaxPool-12", "Slice-13"])
def test_only_the_first_axis_keeps_its_length(short: str) -> None:
    words = [word for word in edges_of(short) if word.endswith("along_one_axis")]
    assert len(words) == 1


def test_equal_extents_tell_nothing_by_their_shape() -> None:
    calls = edges_of("Gemm-13")
    shapes = {tensor.shape for _, tensor in calls["equal_extents"].inputs[:2] if tensor is not None}
    assert shapes == {(4, 4)}
    assert np.unique(calls["equal_extents"].inputs[0][1].array).size > 1  # type: ignore[union-attr]
