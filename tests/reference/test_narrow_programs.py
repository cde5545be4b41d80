"""Programs that round to float16 or bfloat16 after each operation are accepted under some reading."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from conformance.suite.cases import Expectation, ExpectedOutput
from generator.asking.calls import Call
from generator.asking.expectations import expect
from opcert.vocabulary.attributes import Attribute, attribute
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import UnstableLength
from reference.registry import find_operator
from tests.generator.declared import newest_of_onnx, space_of
from tests.reference.narrow_programs import TYPES, Programs, Tried

Array = NDArray[Any]
ROUNDS = int(os.environ.get("OPCERT_EXAMPLES", "25"))
OPERATORS = newest_of_onnx()


def _tensor(given: Array, kind: str) -> Tensor:
    if given.dtype != TYPES[kind]:
        return tensor(given)
    found = ELEMENT_TYPES[kind]
    return Tensor(found, np.ascontiguousarray(given).view(found.storage).reshape(given.shape))


def _attribute(value: Any) -> Attribute:
    return attribute({int: "int", float: "float", str: "string"}[type(value)], value)


def _expectations(tried: Tried, kind: str) -> tuple[Expectation, ...]:
    operator = OPERATORS[tried.operator]
    attributes: Mapping[str, Attribute] = {name: _attribute(each) for name, each in tried.attributes.items()}
    call = Call(attributes, tuple((name, _tensor(array, kind)) for name, array in tried.inputs))
    return expect(space_of(operator).spec, find_operator(operator), call)


def _decoded(given: Array, kind: str) -> Array:
    return np.asarray(given).view(TYPES[kind]).astype(np.float64)


def _accepts(output: ExpectedOutput, got: Array, kind: str) -> bool:
    """Whether every element is near enough, or one of those that are as good."""
    expected, allowed = _decoded(output.expected.array, kind), output.allowed
    assert allowed is not None
    with np.errstate(invalid="ignore"):
        found = (np.abs(expected - got) <= allowed) | np.isposinf(allowed)
    found |= (expected == got) | (np.isnan(expected) & np.isnan(got))
    for alternative in output.alternatives:
        others = _decoded(np.array(alternative.values, output.expected.array.dtype), kind)
        value = got.reshape(-1)[alternative.index]
        found.reshape(-1)[alternative.index] |= bool(
            np.any((others == value) | (np.isnan(others) & np.isnan(value)))
        )
    return bool(found.all())


@pytest.mark.slow
@pytest.mark.parametrize("kind", TYPES)
def test_a_program_in_the_type_itself_is_accepted(kind: str) -> None:
    accepted = 0
    for seed in range(ROUNDS):
        with np.errstate(all="ignore"):
            for tried in Programs(kind, seed).calls():
                try:
                    found = _expectations(tried, kind)
                except UnstableLength:
                    continue
                for at, result in enumerate(tried.results):
                    got = np.asarray(result).astype(TYPES[kind]).astype(np.float64)
                    told = f"{tried.operator}, program {at}, seed {seed}"
                    assert any(_accepts(each.outputs[0], got, kind) for each in found), told
                    accepted += 1
    assert accepted > 30 * ROUNDS


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("name", ["Mul", "Sqrt", "ReduceSum"])
def test_a_unit_in_the_last_place_more_is_not(kind: str, name: str) -> None:
    """One operation on elements of the type is rounded once, in whichever precision it is computed."""
    noticed = 0
    for seed in range(ROUNDS):
        with np.errstate(all="ignore"):
            (tried,) = (call for call in Programs(kind, seed).calls() if call.operator == name)
            plain = TYPES[kind]
            if name == "ReduceSum" and dict(tried.inputs)["data"].shape[-1] > 2:
                continue
            got = np.asarray(tried.results[0]).astype(plain)
            off = (got.view(np.uint16) + 1).view(plain).astype(np.float64)
            finite = np.isfinite(off) & (np.abs(off) > 1e-3)
            right = np.where(finite, off, got.astype(np.float64))
        if not finite.any():
            continue
        assert not any(
            _accepts(expectation.outputs[0], right, kind)
            for expectation in _expectations(tried, kind)
            if "accumulation_type" not in expectation.behaviours
            and "subnormals" not in expectation.behaviours
        )
        noticed += 1
    assert noticed
