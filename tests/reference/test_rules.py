"""The lint rule that computes printed outputs again: silent on what is right, and it names what is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from opcert.vocabulary.names import OperatorName
from reference.rules.printed_outputs import example_vs_reference
from specs.files.library import load_spec
from specs.model.spec import Example, Finding, Spec, Value
from specs.rules import examine_spec

OPERATORS = ("ai.onnx::Resize-18", "ai.onnx::CenterCropPad-18", "org.tensorflow::BatchToSpaceND-1",
             "org.openvino::ExtractImagePatches-3", "com.microsoft::Pad-1")  # fmt: skip
KNOWN = {"resize_upsample_sizes_nearest_not_smaller"}


def find(spec: Spec) -> list[Finding]:
    return examine_spec(spec, [example_vs_reference])


def spec_of(name: str) -> Spec:
    return load_spec(OperatorName.parse(name))


def printed(example: Example) -> Value:
    """The first output of an example, with its numbers."""
    value = next(output for _, output in example.outputs if output is not None)
    assert value.data is not None
    return value


def with_output(spec: Spec, example: Example, value: Value) -> Spec:
    """The spec with that example alone, its first output another."""
    name = example.outputs[0][0]
    return replace(spec, examples=(replace(example, outputs=((name, value), *example.outputs[1:])),))


@pytest.mark.parametrize("name", OPERATORS)
def test_what_documents_print_is_right_but_for_what_is_known(name: str) -> None:
    for finding in find(spec_of(name)):
        assert any(each in finding.message for each in KNOWN), finding


@pytest.mark.parametrize("name", [operator for operator in OPERATORS if "CenterCropPad" not in operator])
def test_one_wrong_number_is_told_with_its_place(name: str) -> None:
    spec = spec_of(name)
    example = next(each for each in spec.examples if each.id not in KNOWN and _has_numbers(each))
    value = printed(example)
    assert list(find(with_output(spec, example, value))) == []
    data = list(value.data or ())
    data[-1] = data[-1] + 100
    (finding,) = find(with_output(spec, example, replace(value, data=tuple(data))))
    assert (finding.code, finding.severity) == ("example-vs-reference", "error")
    index = ", ".join(str(extent - 1) for extent in value.shape)
    assert f"[{index}] is printed as {data[-1]}" in finding.evidence
    assert finding.source == value.source


def _has_numbers(example: Example) -> bool:
    values = [output for _, output in example.outputs if output is not None]
    given = [value for name, value in example.inputs if name]
    return bool(values) and all(value is not None and value.data for value in (*values, *given))


def test_another_shape_is_told() -> None:
    spec = spec_of("ai.onnx::Resize-18")
    example = next(each for each in spec.examples if _has_numbers(each) and each.id not in KNOWN)
    value = printed(example)
    wrong = replace(value, shape=(len(value.data or ()),))
    (finding,) = find(with_output(spec, example, wrong))
    assert "shape" in finding.evidence


def test_nothing_is_said_of_calls_that_the_reference_does_not_take() -> None:
    spec = spec_of("ai.onnx::Resize-18")
    example = next(each for each in spec.examples if _has_numbers(each) and each.id not in KNOWN)
    value = replace(printed(example), data=tuple(0 for _ in printed(example).data or ()))
    strange = replace(example, attributes={**example.attributes, "mode": "strange"})
    assert list(find(with_output(spec, strange, value))) == []


def test_nothing_is_said_of_operators_without_a_reference() -> None:
    assert (
        list(find(replace(spec_of("ai.onnx::Resize-18"), operator=OperatorName("ai.onnx", "Other", 1)))) == []
    )
