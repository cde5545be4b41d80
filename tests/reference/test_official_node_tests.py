"""ONNX's own node tests and the pages' printed examples of operators with one reference for all versions."""

from __future__ import annotations

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from generator.calls.declared.modelled import modelled_operators
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import Answer
from reference.readings.disagreements import explain, load_disagreements
from reference.registry import find_operator
from reference.registry.conversions import PRECISION
from reference.registry.printed_examples import find_difference, read_call
from specs.files.library import load_spec
from specs.model.spec import Example
from tests.reference.official_tests import load_node_tests
from tests.reference.test_examples import combinations, read_attribute

OPERATORS = (
    "AffineGrid",
    "Attention",
    "AveragePool",
    "CausalConvWithState",
    "Col2Im",
    "Conv",
    "ConvInteger",
    "ConvTranspose",
    "DFT",
    "DeformConv",
    "GRU",
    "GlobalAveragePool",
    "GlobalMaxPool",
    "GridSample",
    "LSTM",
    "LinearAttention",
    "LpPool",
    "MaxPool",
    "MaxUnpool",
    "MelWeightMatrix",
    "QLinearConv",
    "QLinearMatMul",
    "RNN",
    "RoiAlign",
    "RotaryEmbedding",
    "STFT",
    "Unique",
)
LONG = ("lppool_3d_default", "maxpool_3d_default")
"""Printed outputs of thousands of elements."""
VERSIONS = [
    modelled_operator
    for modelled_operator in modelled_operators()
    if modelled_operator.domain == "ai.onnx" and modelled_operator.name in OPERATORS
]


@cache
def node_tests() -> dict[str, Any]:
    return load_node_tests(OPERATORS)


def version_of(test: Any) -> OperatorName:
    """The operator version that the test's model has."""
    (opset,) = [each.version for each in test.model.opset_import if not each.domain]
    name = test.model.graph.node[0].op_type
    return max((version for version in VERSIONS if version.name == name and version.since_version <= opset),
               key=lambda version: version.since_version)  # fmt: skip


def held(array: Any) -> Tensor:
    """An array of a node test as a tensor; bfloat16 has a numpy type of its own there."""
    if array.dtype.name == "bfloat16":
        return Tensor(ELEMENT_TYPES["bfloat16"], array.view(np.uint16))
    return tensor(array)


def fits(answer: Answer, wanted: Any) -> bool:
    """Whether a result is one of those accepted: within what is allowed, or an alternative."""
    if answer.expected.shape != wanted.shape:
        return False
    got = held(wanted)
    if answer.allowed is None:
        near = answer.expected.array == got.array
    else:
        expected, value = numbers_of(answer.expected), numbers_of(got)
        with np.errstate(invalid="ignore"):
            near = (np.abs(expected - value) <= answer.allowed) | (expected == value)
    others = answer.alternatives or {}
    return all(near.flat[at] or got.array.flat[at] in others.get(at, ()) for at in range(near.size))


def numbers_of(given: Tensor) -> Any:
    """The numbers that a tensor holds, in float64."""
    array = given.array.view(ml_dtypes.bfloat16) if given.element_type.name == "bfloat16" else given.array
    return np.asarray(array).astype(np.float64)


def chosen(readings: dict[str, str], precision: str) -> dict[str, str]:
    return readings | ({PRECISION: precision} if precision else {})


@pytest.mark.slow
@pytest.mark.parametrize("name", OPERATORS)
def test_official_node_tests(name: str) -> None:
    """Each agrees with the reference, or an entry says why not, and never both."""
    asked = [
        node_test for node_test in node_tests() if node_tests()[node_test].model.graph.node[0].op_type == name
    ]
    assert asked
    found = {each: agrees_with_reference(each) for each in asked}
    entries = load_disagreements()
    explained = {
        each
        for each in asked
        if explain(entries, str(version_of(node_tests()[each])), each, "onnx-node-tests") is not None
    }
    assert {each for each, agrees in found.items() if not agrees} == explained


def agrees_with_reference(name: str) -> bool:
    """Whether some combination of readings gives the outputs of a node test."""
    test = node_tests()[name]
    node = test.model.graph.node[0]
    operator = find_operator(version_of(test))
    attributes = {attribute.name: read_attribute(attribute) for attribute in node.attribute}
    ((given, wanted),) = test.data_sets
    present = iter(given)
    inputs: dict[str, Tensor] = {
        parameter: held(np.asarray(next(present)))
        for parameter, used in zip(operator.inputs, node.input, strict=False)
        if used
    }
    return any(
        all(fits(answer, np.asarray(each)) for answer, each in zip(found, wanted, strict=True))
        for readings in combinations(operator)
        for precision in operator.readings.get(PRECISION, ("",))
        for found in [
            [
                answer
                for answer, output in zip(
                    operator.evaluate(
                        attributes, inputs, chosen(readings, precision), outputs=len(node.output)
                    ),
                    node.output,
                    strict=False,
                )
                if output
            ]
        ]
    )


def printed() -> list[tuple[OperatorName, Example]]:
    return [(version, example) for version in VERSIONS for example in load_spec(version).examples]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "example"),
    [
        pytest.param(
            *each,
            id=f"{each[0].short}-{each[1].id}",
            marks=[pytest.mark.nightly] if each[1].id in LONG else [],
        )
        for each in printed()
    ],
)
def test_printed_outputs(name: OperatorName, example: Example) -> None:
    call = read_call(load_spec(name), find_operator(name), example)
    if call is None:
        pytest.skip("the page does not print what goes in")
    case = f"{name.path}/example/{example.id}"
    found = (call.answers(readings) for readings in call.combinations())
    agrees = any(
        each is not None and find_difference(each, example.outputs, call.inputs) is None for each in found
    )
    entry = explain(load_disagreements(), str(name), case, "document")
    assert agrees != (entry is not None), f"{case}: agrees {agrees}, entry {entry}"
