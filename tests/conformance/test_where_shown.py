"""Where a failing case shows: the rarest thing that it gives, asks or expects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from conformance.suite.cases import Case, Demand, Expectation, ExpectedOutput
from conformance.suite.where_shown import ORDER, Shows, first_shown, shows_of
from opcert.vocabulary.attributes import Attribute
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.names import CaseId, OperatorName
from opcert.vocabulary.tensors import Tensor

INF, NAN = float("inf"), float("nan")


def tensor(kind: str, values: Any) -> Tensor:
    return Tensor(ELEMENT_TYPES[kind], np.asarray(values, ELEMENT_TYPES[kind].storage))


def case(
    *inputs: Tensor,
    expected: Tensor | None = None,
    attributes: Mapping[str, Attribute] | None = None,
    outputs: tuple[str, ...] = ("Y",),
    demand: Demand = "answer",
    operator: str = "Add",
    names: tuple[str, ...] = ("A", "B", "C"),
) -> Case:
    wanted = expected or tensor("float", [1, 2])
    return Case(
        CaseId(OperatorName("ai.onnx", operator, 13), "cover", None, "0" * 12),
        ELEMENT_TYPES["float"],
        attributes or {},
        tuple(zip(names, inputs, strict=False)),
        outputs,
        demand,
        (Expectation((ExpectedOutput("Y", wanted),)),),
    )


@pytest.mark.parametrize(
    ("values", "kind", "shows"),
    [
        ([1, -18, 0.5], "float", "ordinary"),
        ([1, 2], "float16", "ordinary"),
        ([2**24 - 1], "int64", "ordinary"),
        ([2**24], "int32", "wide"),
        ([-(2**63)], "int64", "wide"),
        ([1, 2], "double", "wide"),
        ([1, 2], "uint16", "wide"),
        ([1, NAN], "float", "special"),
        ([1, -INF], "float", "special"),
        ([1, -0.0], "float", "special"),
        ([1e-40], "float", "extremes"),
        ([3e38], "float", "extremes"),
        ([], "float16", "extremes"),
        ([NAN, 1], "double", "special"),
    ],
)
def test_the_rarest_of_the_data_decides(values: list[float], kind: str, shows: Shows) -> None:
    assert shows_of(case(tensor("float", [1]), tensor(kind, values))) == shows


@pytest.mark.parametrize(
    ("attributes", "shows"),
    [
        ({"epsilon": Attribute("float", 1e-12)}, "ordinary"),
        ({"pads": Attribute("ints", (1, 2))}, "ordinary"),
        ({"alpha": Attribute("float", INF)}, "special"),
        ({"alpha": Attribute("float", 1e30)}, "extremes"),
        ({"axis": Attribute("int", 2**40)}, "wide"),
        ({"training_mode": Attribute("int", 0)}, "ordinary"),
        ({"training_mode": Attribute("int", 1)}, "extremes"),
    ],
)
def test_options_count(attributes: Mapping[str, Attribute], shows: Shows) -> None:
    assert shows_of(case(tensor("float", [1]), attributes=attributes)) == shows


def test_what_is_expected_and_asked_counts() -> None:
    given = tensor("float", [1, 2])
    assert shows_of(case(given, expected=tensor("float", [INF, 1]))) == "special"
    assert shows_of(case(given, expected=tensor("int64", [2**40]))) == "wide"
    assert shows_of(case(given, expected=tensor("double", [1]))) == "wide"
    assert shows_of(case(given, outputs=("Y", "", "Z"))) == "extremes"
    assert shows_of(case(given, demand="refuse")) == "invalid"
    assert shows_of(case(given), {"expected": -0.0, "got": 0.0}) == "special"
    assert shows_of(case(given), {"expected": 0.0, "got": 1e-9}) == "ordinary"
    assert shows_of(case(given), {"expected": 0.0, "got": 1e-38}) == "extremes"
    assert shows_of(case(given), {"expected": 1.5e-8, "got": 0.0}) == "ordinary"
    assert shows_of(case(given), {"expected": 1.2e-38, "got": 0.0}) == "extremes"
    assert shows_of(case(given), {"expected": "NaN", "got": 1.0}) == "special"


def test_exporters_end_a_slice_at_the_greatest_integer() -> None:
    names = ("data", "starts", "ends")
    given = (tensor("float", [1, 2]), tensor("int64", [1]), tensor("int64", [2**63 - 1]))
    assert shows_of(case(*given, operator="Slice", names=names)) == "ordinary"
    assert shows_of(case(*given, operator="Concat", names=names)) == "wide"


def test_a_cause_shows_where_the_most_ordinary_of_its_cases_does() -> None:
    assert first_shown(["special", None, "wide"]) == "wide"
    assert first_shown([None]) is None
    assert first_shown(reversed(ORDER)) == "ordinary"
