"""The reference against every output that the documents print, and against ONNX's own node tests.

An output agrees where one combination of readings explains it; an example that none explains needs an entry
in disagreements.yaml of its room.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import onnx
import pytest

from opcert.vocabulary.element_types import find_element_type
from opcert.vocabulary.errors import OpcertError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import Answer
from reference.numbers.numbers import numbers
from reference.readings.disagreements import explain, load_disagreements
from reference.registry import find_operator, implemented
from reference.registry.reference_operator import ReferenceOperator
from specs.files.library import load_spec
from specs.files.shared_readings import read_shared
from specs.files.spec_folders import OWN_FOLDER, list_operators
from specs.model.spec import Example, Value
from tests.reference.official_tests import load_node_tests

OPERATORS = ("Resize", "CenterCropPad")
BEHAVIOURS = tuple(read_shared([OWN_FOLDER]))


def printed_examples() -> Iterator[tuple[OperatorName, Example]]:
    """Every worked example with literal inputs and outputs, of operators that have a reference."""
    for operator in list_operators():
        if operator not in implemented():
            continue
        for example in load_spec(operator).examples:
            values = [value for _, value in (*example.inputs, *example.outputs) if value is not None]
            if example.outputs and all(value.data is not None for value in values):
                yield operator, example


def combinations(operator: ReferenceOperator) -> Iterator[dict[str, str]]:
    readings = {name: options for name, options in operator.readings.items() if name not in BEHAVIOURS}
    for chosen in itertools.product(*readings.values()):
        yield dict(zip(readings, chosen, strict=True))


def as_tensor(value: Value) -> Tensor:
    whole = all(isinstance(each, int) for each in value.data or ())
    element_type = find_element_type(value.element_type or ("int64" if whole else "float"))
    return tensor(np.array(value.data, dtype=element_type.storage).reshape(value.shape), element_type)


def agrees(answer: Answer, value: Value) -> bool:
    """Whether an answer prints as the document printed it, give or take the error allowed to it."""
    if answer.expected.shape != value.shape or value.data is None:
        return False
    half_a_digit = Fraction(1, 2 * 10**value.decimals) if value.decimals else Fraction(0)
    allowed = np.zeros(value.shape) if answer.allowed is None else answer.allowed
    exact = numbers(answer.expected.element_type, answer.expected.array)
    return all(
        abs(Fraction(got) - Fraction(printed)) <= Fraction(slack) + half_a_digit
        for got, printed, slack in zip(exact, value.data, allowed.flat, strict=True)
    )


def explains(operator: ReferenceOperator, readings: Mapping[str, str], example: Example) -> bool:
    inputs = {name: as_tensor(value) for name, value in example.inputs if name and value}
    attributes = {name: tuple(attribute) if isinstance(attribute, list) else attribute
                  for name, attribute in example.attributes.items()}  # fmt: skip
    try:
        answers = operator.evaluate(attributes, inputs, readings)
    except OpcertError:
        return False
    outputs = [value for _, value in example.outputs if value]
    return all(agrees(answer, value) for answer, value in zip(answers, outputs, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "example"),
    [
        pytest.param(name, printed_example, id=f"{name.short}-{printed_example.id}")
        for name, printed_example in printed_examples()
    ],
)
def test_printed_outputs(name: OperatorName, example: Example) -> None:
    operator = find_operator(name)
    found = any(explains(operator, combination, example) for combination in combinations(operator))
    case = f"{name.path}/example/{example.id}"
    entry = explain(load_disagreements(), str(name), case, "document")
    if entry is None:
        assert found, f"{case}: no combination of readings gives what is printed at {example.source}"
    else:
        assert not found, f"{case} agrees, and {entry.id} is out of date"


@pytest.mark.nightly
@pytest.mark.slow
def test_one_combination_explains_every_printed_output_of_resize() -> None:
    name = OperatorName("ai.onnx", "Resize", 18)
    operator = find_operator(name)
    examples = [
        example
        for printed_example, example in printed_examples()
        if printed_example == name
        and explain(load_disagreements(), str(name), f"{name.path}/example/{example.id}", "document") is None
    ]
    assert len(examples) >= 35
    readings = {"scale": "given", "length_resized": "fractional"}
    assert all(explains(operator, readings, example) for example in examples)


@cache
def node_tests() -> dict[str, Any]:
    return load_node_tests(OPERATORS)


def test_the_installed_onnx_carries_the_node_tests() -> None:
    assert len(node_tests()) >= 45


def fits_node_test(name: str) -> tuple[str, bool]:
    """The operator of a node test, and whether one combination of readings gives its outputs."""
    test = node_tests()[name]
    node = test.model.graph.node[0]
    version = {"Resize": 19, "CenterCropPad": 18}[node.op_type]
    operator = find_operator(OperatorName("ai.onnx", node.op_type, version))
    attributes = {attribute.name: read_attribute(attribute) for attribute in node.attribute}
    ((given, wanted),) = test.data_sets
    present = iter(given)
    inputs = {
        parameter: tensor(np.asarray(next(present)))
        for parameter, used in zip(operator.inputs, node.input, strict=False)
        if used
    }
    found = any(
        all(
            within(answer, np.asarray(each))
            for answer, each in zip(operator.evaluate(attributes, inputs, readings), wanted, strict=True)
        )
        for readings in combinations(operator)
    )
    return str(operator.operator), found


def test_official_node_tests() -> None:
    """Each agrees with the reference, or an entry says why not, and never both."""
    entries, disagreeing, explained = load_disagreements(), set(), set()
    for name in node_tests():
        operator, agrees = fits_node_test(name)
        disagreeing |= set() if agrees else {name}
        if explain(entries, operator, name, "onnx-node-tests") is not None:
            explained.add(name)
    assert disagreeing == explained


def read_attribute(attribute: onnx.AttributeProto) -> Any:
    value = onnx.helper.get_attribute_value(attribute)
    if isinstance(value, bytes):
        return value.decode()
    return tuple(value) if isinstance(value, list) else value


def within(answer: Answer, wanted: Any) -> bool:
    if answer.expected.shape != wanted.shape:
        return False
    if answer.allowed is None:
        return bool(answer.expected == tensor(wanted))
    apart = np.abs(answer.expected.array.astype(np.float64) - wanted.astype(np.float64))
    return bool((apart <= answer.allowed).all())
