"""Examples that summaries write as assignments: their names, what carries over, what is left."""

from __future__ import annotations

from typing import Any

import pytest

from opcert.vocabulary.names import OperatorName
from specs.documents.onnx_pages.version import read_summary_example
from specs.documents.text.documents import Line, Passage
from specs.model.spec import AttributeSpec, Document, Example, Finding, Origin, ParameterSpec, Spec
from tests.documents.gathering import Documents
from tests.specs.read_pages import read_specs

ORIGIN = Origin("imported")


def _read(
    text: str, inputs: str = "x axis", outputs: str = "y", name: str = "CumSum"
) -> tuple[tuple[Example, ...], list[Finding]]:
    spec = Spec(
        OperatorName("ai.onnx", name, 1),
        (Document("d", "A.md", "onnx-markdown", ""),),
        {each: AttributeSpec(each, "int", False, 0, True, None, ORIGIN) for each in ("exclusive", "mode")},
        tuple(ParameterSpec(word, "single", "T", ORIGIN) for word in inputs.split()),
        tuple(ParameterSpec(word, "single", "T", ORIGIN) for word in outputs.split()),
        {},
    )
    return read_summary_example(
        spec, Passage([Line(word, at) for at, word in enumerate(text.split("\n"), 1)])
    )


def _plain(example: Example) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    inputs = {name: None if value is None else value.data for name, value in example.inputs}
    outputs = {name: None if output is None else output.data for name, output in example.outputs}
    return dict(example.attributes), inputs, outputs


def test_an_example_goes_on_from_the_one_before_it() -> None:
    examples, findings = _read(
        "input_x = [1, 2, 3]\naxis=0\noutput = [1, 3, 6]\nexclusive=1\noutput = [0, 1, 3]\n"
        "x   = [7]\noutput  = [7]"
    )
    assert [_plain(example) for example in examples] == [
        ({}, {"x": (1, 2, 3), "axis": (0,)}, {"y": (1, 3, 6)}),
        ({"exclusive": 1}, {"x": (1, 2, 3), "axis": (0,)}, {"y": (0, 1, 3)}),
        ({}, {"x": (7,), "axis": None}, {"y": (7,)}),
    ]
    assert findings == []
    axis = examples[0].inputs[1][1]
    assert axis is not None
    assert axis.shape == ()


def test_several_outputs_under_prefixed_names() -> None:
    examples, _ = _read(
        "input_X = [2, 1]\nattribute_mode = 'low'\noutput_Y = [1, 2]\noutput_counts = [1, 1]\n"
        "input_X = [3]\noutput_counts = [1]",
        "X",
        "Y indices counts",
        "Unique",
    )
    assert [_plain(example) for example in examples] == [
        ({"mode": "low"}, {"X": (2, 1)}, {"Y": (1, 2), "indices": None, "counts": (1, 1)}),
        ({}, {"X": (3,)}, {"Y": None, "indices": None, "counts": (1,)}),
    ]


def test_calls() -> None:
    examples, _ = _read("round([0.9]) = [1.0] round([-4.5]) = [-4.0] floor([1.5]) = [1.0]", "X", "Y", "Round")
    assert [_plain(example) for example in examples] == [
        ({}, {"X": (0.9,)}, {"Y": (1.0,)}),
        ({}, {"X": (-4.5,)}, {"Y": (-4.0,)}),
    ]


@pytest.mark.parametrize(
    "text", ["", "If `exclusive = 1`, x is left out.", "x = [1, 2", "x = [1]", "z = [1]\nthe output = [w]"]
)
def test_what_is_no_example(text: str) -> None:
    assert _read(text) == ((), [])


def test_an_output_without_an_input_is_rejected() -> None:
    examples, findings = _read("Input tensor with shape: [2, 3]\nstart: -1\nOutput: [3]")
    assert examples == ()
    assert [(finding.code, finding.action, finding.source.line) for finding in findings] == [
        ("example-not-read", "rejected", 3)
    ]


@pytest.mark.slow
def test_the_summaries_of_operators_md(documents: Documents) -> None:
    """The operators whose summaries write examples down, as a person counts them."""
    specs = read_specs(documents.find("onnx/Operators.md"))
    counts = {
        spec.operator.name: count
        for spec in specs
        if (count := sum(example.id.startswith("summary_") for example in spec.examples))
    }
    assert counts == {
        "CumProd": 4, "CumSum": 4, "Gather": 2, "GatherElements": 2, "GatherND": 5, "Pad": 4, "Range": 2,
        "ReverseSequence": 2, "Round": 5, "ScatterElements": 2, "ScatterND": 2, "Slice": 2, "Unique": 3,
    }  # fmt: skip
    rejected = {
        spec.operator.name: count
        for spec in specs
        if (count := sum("of the summary" in finding.message for finding in spec.findings))
    }
    assert rejected == {"Shape": 4}
