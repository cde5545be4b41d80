"""References that hold for all versions of an operator: what they are told, and what they leave open."""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np
import pytest

from conformance.models.case_models import has_onnx_form
from generator.asking.named_operators import referenced_operators
from generator.calls.declared.modelled import modelled_operators
from generator.making.families.boundary import make_boundary
from generator.making.operators.discovery import select_operators
from generator.making.operators.workshop import Options, open_workshop
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reference.registry import find_operator, for_all_versions
from specs.files.library import load_spec

MODELLED = [
    modelled_operator
    for modelled_operator in modelled_operators()
    if f"{modelled_operator.domain}::{modelled_operator.name}" in for_all_versions()
]


@pytest.mark.parametrize("operator", MODELLED, ids=str)
def test_declaration_and_reference_leave_the_same_open(operator: OperatorName) -> None:
    spec, known = load_spec(operator), find_operator(operator).readings
    stated = {
        reading.id: set(reading.options)
        for reading in spec.readings
        if reading.chosen is None or reading.id in known
    }
    assert stated == {name: set(options) for name, options in known.items()}


@pytest.mark.parametrize("operator", MODELLED, ids=str)
def test_each_attribute_and_input_has_a_parameter_and_the_same_default(operator: OperatorName) -> None:
    spec, reference = load_spec(operator), find_operator(operator)
    known = {*reference.inputs, *reference.attributes}
    assert {each.name for each in spec.inputs} | set(spec.attributes) <= known
    defaults = {
        name: attribute.default for name, attribute in spec.attributes.items() if attribute.has_default
    }
    for name, default in defaults.items():
        parameter = inspect.signature(reference.function).parameters[name]
        own = reference.decimals.get(name, parameter.default)
        plain = tuple(default) if isinstance(default, list) else default
        if isinstance(plain, float) and own is not None:
            # However many digits a page has, an attribute is a float32.
            own, plain = np.float32(own), np.float32(plain)
        assert own in (None, inspect.Parameter.empty) or own == plain, (name, own, default)


def test_a_bare_name_is_the_newest_version() -> None:
    assert [str(operator) for operator in select_operators(["Add"])] == ["ai.onnx::Add-14"]
    assert [str(operator) for operator in select_operators(["Add-7"])] == ["ai.onnx::Add-7"]


def test_every_operator_named_has_a_declaration() -> None:
    # Models of ONNX have no OpenVINO operator, so that none is modelled.
    others = [each for each in referenced_operators() if not has_onnx_form(each)]
    names = {f"{operator.domain}::{operator.name}" for operator in (*MODELLED, *others)}
    assert set(for_all_versions()) <= names
    assert {f"{operator.domain}::{operator.name}" for operator in MODELLED} <= set(for_all_versions())


MODULE = """
from fractions import Fraction
from opcert.vocabulary.tensors import Tensor
from reference.numbers.number_arrays import Numbers
from reference.registry import reference_operator


@reference_operator("org.example::Taken", segments=(3,))
def taken(X: Numbers, axes: tuple[int, ...] | None = None, *, alpha: float = 0.5, version: int) -> Numbers:
    return X * version if axes is None else X * sum(axes)
"""


def test_what_was_an_attribute_became_an_input_and_the_version_is_told(tmp_path: Path) -> None:
    module = tmp_path / "own.py"
    module.write_text(MODULE)
    X = tensor([1.0, 2.0], "float")
    for version in (1, 5):
        reference = find_operator(OperatorName.parse(f"org.example::Taken-{version}"), module)
        assert reference.evaluate({}, {"X": X})[0].expected == Tensor(X.element_type, X.array * version)
        listed = reference.evaluate({}, {"X": X, "axes": tensor([4, 5], "int64")})
        assert listed[0].expected == reference.evaluate({"axes": (4, 5)}, {"X": X})[0].expected
        assert listed[0].expected.array.tolist() == [9.0, 18.0]
    with pytest.raises(UserError, match="does not declare a reference"):
        find_operator(OperatorName.parse("org.example::Other-1"), module)


def test_operators_of_every_type_have_boundaries() -> None:
    workshop = open_workshop(OperatorName.parse("ai.onnx::Reshape-25"), Options())
    make_boundary(workshop)
    assert workshop.cases
