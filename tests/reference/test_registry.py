"""The registry finds a function's inputs, attributes and readings, and refuses what it does not have."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest

from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reference import registry
from reference.answers import Answer, OutsideDomain
from reference.registry import AsReading, find_operator, implemented, reference_operator
from reference.registry.reference_operator import ReferenceOperator


@pytest.fixture
def scaled(monkeypatch: pytest.MonkeyPatch) -> ReferenceOperator:
    monkeypatch.setattr(registry, "_OPERATORS", {})

    @reference_operator("test.domain::Scale-3")
    def scale(
        X: Tensor,
        by: Tensor | None = None,
        *,
        factor: int = 2,
        order: Annotated[Literal["kept", "turned"], AsReading] = "kept",
    ) -> Answer:
        array = X.array * (factor if by is None else by.array)
        return Answer(tensor(array[::-1] if order == "turned" else array, X.element_type))

    return registry._OPERATORS[OperatorName("test.domain", "Scale", 3)]


def test_signature_is_the_declaration(scaled: ReferenceOperator) -> None:
    assert scaled.inputs == ("X", "by")
    assert scaled.required == {"X"}
    assert scaled.attributes == {"factor"}
    assert scaled.readings == {"order": ("kept", "turned")}


def test_defaults_and_readings(scaled: ReferenceOperator) -> None:
    x = tensor([1, 2, 3], "int32")
    (answer,) = scaled.evaluate({}, {"X": x, "by": None})
    assert answer.expected == tensor([2, 4, 6], "int32")
    (answer,) = scaled.evaluate({"factor": 3}, {"X": x}, {"order": "turned"})
    assert answer.expected == tensor([9, 6, 3], "int32")


def test_unknown_names(scaled: ReferenceOperator) -> None:
    x = tensor([1], "int32")
    with pytest.raises(OutsideDomain, match="attribute"):
        scaled.evaluate({"power": 3}, {"X": x})
    with pytest.raises(OutsideDomain, match="input"):
        scaled.evaluate({}, {"X": x, "Z": x})
    with pytest.raises(OutsideDomain, match="needs its input X"):
        scaled.evaluate({}, {"X": None})
    with pytest.raises(UserError, match="order=sideways"):
        scaled.evaluate({}, {"X": x}, {"order": "sideways"})


def test_two_references_of_one_operator_are_a_mistake(scaled: ReferenceOperator) -> None:
    with pytest.raises(ValueError, match="two references"):
        reference_operator("test.domain::Scale-3")(scaled.function)


def test_operator_without_reference() -> None:
    with pytest.raises(UserError, match="without a reference"):
        find_operator(OperatorName("no.domain", "Nothing", 1))
    assert implemented() == sorted(implemented())
