"""Sequences and optionals at the ends of a test's graph: the model around it that takes and gives tensors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, SequenceProto, TensorProto, TypeProto
from onnx.helper import (
    make_graph,
    make_node,
    make_optional_type_proto,
    make_sequence_type_proto,
    make_tensor_type_proto,
    make_value_info,
)

from conformance.adopting.adopted_cases import UNPACKED, VALUES, WRITTEN_AS
from conformance.judging.judge import judge
from conformance.judging.responses import Answered
from conformance.models.case_models import FORMS, build_model
from conformance.suite.cases import Case
from conformance.suite.suites import open_suite
from opcert.vocabulary.element_types import BY_CODE, ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor, tensor
from reports.single_cases.case_folder import export_suite
from tests.conformance.packed_models import (
    FLOATS,
    OPTIONAL,
    OPTIONAL_SEQUENCE,
    SEQUENCE,
    evaluate,
    optional_of,
    sequence_of,
    tensor_of,
    write_packed,
)
from tests.conformance.runtime_checks import numbers
from tests.conformance.test_adopting import adopt, adopt_one

A, B = np.array([1.5, -2.0], np.float32), np.array([[3.0]], np.float32)
IDENTITY = [make_node("Identity", ["x"], ["y"])]
SHAPES = [
    ("a sequence", SEQUENCE, sequence_of(A, B), ["x_0", "x_1"], ["y_length", "y_0", "y_1"]),
    ("an empty sequence", SEQUENCE, sequence_of(), [], ["y_length"]),
    ("an optional", OPTIONAL, optional_of(A), ["x_element"], ["y_has_element", "y_element"]),
    ("an empty optional", OPTIONAL, optional_of(None), [], ["y_has_element"]),
    (
        "an optional sequence",
        OPTIONAL_SEQUENCE,
        optional_of(sequence_of(A, B)),
        ["x_0", "x_1"],
        ["y_has_element", "y_length", "y_0", "y_1"],
    ),
    (
        "an optional of an empty sequence",
        OPTIONAL_SEQUENCE,
        optional_of(sequence_of()),
        [],
        ["y_has_element", "y_length"],
    ),
    ("an empty optional of sequences", OPTIONAL_SEQUENCE, optional_of(None), [], ["y_has_element"]),
]


def write_identity(tests: Path, kind: TypeProto, value: Any, expected: Any = None, **more: Any) -> Path:
    expected = value if expected is None else expected
    return write_packed(
        tests / "test_identity", IDENTITY, {"x": (kind, value)}, {"y": (kind, expected)}, **more
    )


def adopt_identity(tmp_path: Path, kind: TypeProto, value: Any, expected: Any = None, **more: Any) -> Case:
    write_identity(tmp_path / "tests", kind, value, expected, **more)
    return adopt_one(tmp_path)


def model_of(case: Case) -> ModelProto:
    assert case.model is not None
    model: ModelProto = ModelProto.FromString(case.model)
    return model


def verdict_of(case: Case, returned: list[Tensor]) -> str:
    return judge(case, Answered(tuple(returned), 0.0)).verdict


@pytest.mark.parametrize(
    ("kind", "value", "given", "returned"),
    [shape[1:] for shape in SHAPES],
    ids=[shape[0] for shape in SHAPES],
)
def test_a_value_that_is_no_tensor_is_packed(
    tmp_path: Path, kind: TypeProto, value: Any, given: list[str], returned: list[str]
) -> None:
    case = adopt_identity(tmp_path, kind, value)
    assert [name for name, _ in case.inputs] == given
    assert list(case.output_names) == returned == [output.name for output in case.expectations[0].outputs]
    assert str(case.operator) == "ai.onnx::Identity-16"
    assert case.levels == {WRITTEN_AS: "node", VALUES: UNPACKED}
    onnx.checker.check_model(model_of(case), full_check=True)
    assert verdict_of(case, evaluate(case)) == "pass"
    held = {"x_0": A, "x_1": B, "x_element": A}
    for name, each in case.inputs:
        assert each == tensor(held[name])


@pytest.mark.parametrize("element_type", [dtype.name for dtype in BY_CODE.values()])
def test_elements_of_every_type_are_carried(tmp_path: Path, element_type: str) -> None:
    one, other = numbers((3,), element_type), numbers((2, 1), element_type)
    kind = make_sequence_type_proto(make_tensor_type_proto(one.element_type.code, None))
    case = adopt_identity(tmp_path, kind, sequence_of(one, other), opset=25)
    assert [each for _, each in case.inputs] == [one, other]
    assert [output.expected for output in case.expectations[0].outputs][1:] == [one, other]
    assert case.element_type == one.element_type


@pytest.mark.parametrize("value", [sequence_of(), optional_of(None)], ids=["sequence", "optional"])
def test_an_element_type_that_no_tensor_has_counts_for_the_ir_version(tmp_path: Path, value: Any) -> None:
    element_type = ELEMENT_TYPES["float8e4m3fn"]
    held = make_tensor_type_proto(element_type.code, None)
    make = make_sequence_type_proto if isinstance(value, SequenceProto) else make_optional_type_proto
    model = model_of(adopt_identity(tmp_path, make(held), value))
    # The node that packs it names the type alone: IR version 9 is the first that has it, 8 that of the opset.
    assert model.graph.node[0].op_type in ("SequenceEmpty", "Optional")
    assert model.ir_version == 9


@pytest.mark.parametrize("form", FORMS)
def test_it_takes_every_form(tmp_path: Path, form: Any) -> None:
    case = adopt_identity(tmp_path, SEQUENCE, sequence_of(A, B))
    model = ModelProto.FromString(build_model(case, form))
    onnx.checker.check_model(model, full_check=True)
    assert [value_info.name for value_info in model.graph.input] == (
        ["x_0"] if form == "initializers" else ["x_0", "x_1"]
    )


def test_one_element_more_or_less_or_a_wrong_one_is_told(tmp_path: Path) -> None:
    expected = {"more": sequence_of(A), "wrong": sequence_of(A, B + 1), "shape": sequence_of(A, A)}
    for name, sequence_proto in expected.items():
        (tmp_path / name).mkdir()
        case = adopt_identity(tmp_path / name, SEQUENCE, sequence_of(A, B), sequence_proto)
        assert verdict_of(case, evaluate(case)) == "mismatch"
    (tmp_path / "fewer").mkdir()
    case = adopt_identity(tmp_path / "fewer", SEQUENCE, sequence_of(A, B), sequence_of(A, B, A))
    with pytest.raises(IndexError):
        evaluate(case)


def test_something_where_nothing_is_expected_is_told(tmp_path: Path) -> None:
    case = adopt_identity(tmp_path, OPTIONAL, optional_of(A), optional_of(None))
    assert verdict_of(case, evaluate(case)) == "mismatch"


def test_a_tolerance_is_not_about_lengths(tmp_path: Path) -> None:
    place = write_identity(tmp_path / "tests", SEQUENCE, sequence_of(A, B), sequence_of(A))
    (place / "data.json").write_text(json.dumps({"rtol": 9, "atol": 9}))
    case = adopt_one(tmp_path)
    assert [output.allowed is None for output in case.expectations[0].outputs] == [True, False]
    assert verdict_of(case, evaluate(case)) == "mismatch"
    near = [tensor(np.array(1, np.int64)), tensor(A + 5)]
    assert verdict_of(case, near) == "pass"


def test_no_name_of_the_graph_is_taken_twice(tmp_path: Path) -> None:
    def branch(result: str) -> Any:
        nodes = [make_node("Identity", ["x"], ["y_length"]), make_node("Identity", ["y_length"], [result])]
        return make_graph(nodes, result, [], [make_value_info(result, SEQUENCE)])

    nodes = [
        make_node("Identity", ["c"], ["x_1"]),
        make_node("If", ["x_1"], ["y"], then_branch=branch("y_0"), else_branch=branch("position_0")),
    ]
    inputs = {
        "x": (SEQUENCE, sequence_of(A, B)),
        "c": (make_tensor_type_proto(TensorProto.BOOL, []), tensor_of(True)),
        "x_0": (make_tensor_type_proto(TensorProto.FLOAT, [2]), tensor_of(A)),
    }
    write_packed(tmp_path / "tests" / "test_if", nodes, inputs, {"y": (SEQUENCE, sequence_of(A, B))})
    case = adopt_one(tmp_path)
    assert [name for name, _ in case.inputs] == ["x_0_", "x_1_", "c", "x_0"]
    assert case.output_names == ("y_length_", "y_0_", "y_1")
    assert case.levels == {WRITTEN_AS: "graph", VALUES: UNPACKED}
    onnx.checker.check_model(model_of(case), full_check=True)
    assert verdict_of(case, evaluate(case)) == "pass"


@pytest.mark.parametrize(("opset", "lowered"), [(22, 21), (18, 18), (16, 16)])
def test_the_operator_set_is_the_oldest_that_holds_the_packing_too(
    tmp_path: Path, opset: int, lowered: int
) -> None:
    case = adopt_identity(tmp_path, OPTIONAL, optional_of(A), opset=opset)
    assert [each.version for each in model_of(case).opset_import] == [lowered]
    nodes = [make_node("SequenceInsert", ["x", "t"], ["y"])]
    inputs = {"x": (SEQUENCE, sequence_of()), "t": (FLOATS, tensor_of(A))}
    (tmp_path / "old").mkdir()
    write_packed(tmp_path / "old" / "tests" / "test", nodes, inputs, {"y": (SEQUENCE, sequence_of(A))}, opset)
    model = model_of(adopt_one(tmp_path / "old"))
    assert [each.version for each in model.opset_import] == [11]
    assert model.ir_version == 6


def test_a_model_of_another_domain_gets_the_operators(tmp_path: Path) -> None:
    nodes = [make_node("Twist", ["x"], ["y"], domain="org.example")]
    ends = {"x": (SEQUENCE, sequence_of(A))}, {"y": (OPTIONAL, optional_of(A))}
    write_packed(tmp_path / "tests" / "test_twist", nodes, *ends, opset=3, domain="org.example", ir_version=3)
    case = adopt_one(tmp_path)
    assert str(case.operator) == "org.example::Twist-3"
    imported = {opset.domain: opset.version for opset in model_of(case).opset_import}
    assert imported == {"org.example": 3, "": 15}
    # Its positions are constants, which had to be inputs before.
    assert model_of(case).ir_version == 4


def test_of_what_nothing_is_expected_only_the_length_is_asked(tmp_path: Path) -> None:
    place = write_identity(tmp_path / "tests", OPTIONAL_SEQUENCE, optional_of(sequence_of(A)))
    (place / "test_data_set_0" / "output_0.pb").unlink()
    case = adopt_one(tmp_path)
    assert (case.demand, case.output_names, case.expectations) == ("survive", ("y_has_element",), ())


def test_every_data_set_has_a_model_of_its_own(tmp_path: Path) -> None:
    place = write_identity(tmp_path / "tests", SEQUENCE, sequence_of(A))
    (place / "test_data_set_1").mkdir()
    for name in ("input_0.pb", "output_0.pb"):
        (place / "test_data_set_1" / name).write_bytes(sequence_of(A, B, A).SerializeToString())
    _, cases = adopt(tmp_path / "tests", tmp_path / "suite")
    assert [len(each.inputs) for each in cases] == [1, 3]
    for case in cases:
        assert verdict_of(case, evaluate(case)) == "pass"


def test_what_is_exported_is_adopted_as_the_same_case(tmp_path: Path) -> None:
    tests = tmp_path / "tests"
    for number, (_, kind, value, _, _) in enumerate(SHAPES):
        write_identity(tests / str(number), kind, value)
    twice = [make_node("Identity", ["x"], ["z"]), *[make_node("Identity", ["z"], ["y"])]]
    ends = {"x": (SEQUENCE, sequence_of(A))}, {"y": (SEQUENCE, sequence_of(A))}
    write_packed(tests / "0" / "test_identity_expanded", twice, *ends)
    write_packed(tests / "test_twice", twice, *ends, opset=22)
    _, first = adopt(tests, tmp_path / "suite")
    with open_suite(tmp_path / "suite") as suite:
        list(export_suite(suite, tmp_path / "exported"))
    adoption, again = adopt(tmp_path / "exported", tmp_path / "again")
    assert adoption.left_out == {}
    assert adoption.counts == {"node": 7, "expanded": 1, "graph": 1, "unpacked": 9, "observed": 0}
    back = {str(each.id): each for each in again}
    for case in first:
        same = back[str(case.id)]
        for name in ("element_type", "inputs", "output_names", "demand", "levels", "model"):
            assert getattr(same, name) == getattr(case, name)
        for one, other in zip(same.expectations[0].outputs, case.expectations[0].outputs, strict=True):
            assert one.expected == other.expected
            assert (one.allowed is None) == (other.allowed is None)
