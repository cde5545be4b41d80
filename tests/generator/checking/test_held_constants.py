"""Cases of nodes of which some inputs are constants and some are fed, as no form has them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx
import pytest
from onnx import ModelProto
from onnx.reference import ReferenceEvaluator

from conformance.checked_models.model_calls import ModelCall, ModelValue
from conformance.models.case_models import build_model, constants_fed
from conformance.suite.cases import Case
from conformance.suite.protos import read_tensor
from generator.exploring.diagnosis.explainer import Scopes
from generator.models.check.call_cases import CallCases
from generator.models.check.making import cases_of_call
from generator.models.check.own_models import OPEN, SHAPES
from specs.language.expressions import parse
from tests.generator.checking.made_calls import call, fed, fixed, weight
from tests.generator.neighbours.fused_programs import passes

WEIGHTS = [weight(1, 24, 8), weight(1, 24, 6)]


def lstm(extent: int | str) -> ModelCall:
    """An LSTM whose weights are constants, and whose states are fed."""
    states = [fed(1, extent, 6), fed(1, extent, 6)]
    return call("LSTM-14", [fed(4, extent, 8), *WEIGHTS, None, None, *states], hidden_size=6)


MIXED = {
    "weights and fed states": (lstm(2), ["X", "initial_h", "initial_c"], ["W", "R"]),
    "a table and fed places": (call("Gather-13", [weight(5, 3), fed(4, of="int64")]), ["indices"], ["data"]),
    "a constant and a fed number": (
        call("Where-16", [fed(2, 3, of="bool"), fixed(1.5, "float32"), fed(2, 3)]),
        ["condition", "Y"],
        ["X"],
    ),
    "two ends of which one is fed": (
        call("Slice-13", [fed(2, 3), fed(1, of="int64"), fixed([9]), fixed([0])]),
        ["data", "starts"],
        ["axes", "ends"],
    ),
}


def model_of(case: Case) -> ModelProto:
    found: ModelProto = ModelProto.FromString(build_model(case))
    onnx.checker.check_model(found, full_check=True)
    return found


def made(found: ModelCall, most: int = 4) -> CallCases:
    cases = cases_of_call(found, most)
    assert cases.cases, cases.not_covered
    return cases


@pytest.mark.parametrize("what", MIXED)
def test_constants_stand_in_the_model_and_what_is_fed_comes_with_the_run(what: str) -> None:
    found, wanted, constant = MIXED[what]
    cases = made(found)
    assert cases.forms[0] == "inputs"
    assert "initializers" not in cases.forms
    for case in cases.cases:
        model = model_of(case)
        assert [value_info.name for value_info in model.graph.input] == wanted
        assert sorted(initializer.name for initializer in model.graph.initializer) == sorted(constant)
        assert [name for name, _ in case.inputs] == wanted
        assert case.id.digest == case.call_digest()


@pytest.mark.parametrize("what", MIXED)
def test_an_evaluator_answers_these_models_as_is_expected(what: str) -> None:
    for case in made(MIXED[what][0]).cases:
        given = {name: np.asarray(each.array) for name, each in case.inputs if each is not None}
        finite = all(np.isfinite(each).all() for each in given.values() if each.dtype.kind == "f")
        answered = ReferenceEvaluator(model_of(case)).run(None, given) if finite else None
        assert answered is None or passes(case, *answered)


def test_states_with_an_open_batch_are_asked_with_an_open_batch() -> None:
    cases = made(lstm("n"), 3)
    (first, *_) = open_ones = [each for each in cases.cases if each.levels.get(SHAPES) == OPEN]
    for case in open_ones:
        inputs = model_of(case).graph.input
        said = [
            [one.dim_param or one.dim_value for one in each.type.tensor_type.shape.dim] for each in inputs
        ]
        assert {said[0][1], said[1][1], said[2][1]} == {"n0"}
        assert {type(one) for each in said for one in (each[0], each[2])} == {int}
    assert [initializer.name for initializer in model_of(first).graph.initializer] == ["W", "R"]


def test_what_a_form_says_has_no_model_of_its_own() -> None:
    for inputs, form in (
        ([fed(4, 2, 8), *WEIGHTS], "initializers"),
        ([fed(4, 2, 8), *([fed(1, 24, 8), fed(1, 24, 6)])], "inputs"),
    ):
        cases = made(call("LSTM-14", inputs, hidden_size=6), 2)
        assert cases.forms[0] == form
        assert all(each.model is None for each in cases.cases)


def test_a_call_whose_constants_are_held_is_the_same_with_all_of_them_fed() -> None:
    parameters = ["X", "W", "R", "B", "sequence_lens", "initial_h", "initial_c", "P"]
    for case in made(lstm(2)).cases:
        held = {each.name: each for each in model_of(case).graph.initializer}
        fed_all = constants_fed(case, parameters)
        assert fed_all.model is None
        assert [name for name, _ in fed_all.inputs] == parameters[:7]
        values = dict(fed_all.inputs)
        assert [name for name, value in values.items() if value is None] == ["B", "sequence_lens"]
        assert {name: values[name] for name in held} == {
            name: read_tensor(each) for name, each in held.items()
        }
        assert constants_fed(fed_all, parameters) is fed_all
        assert constants_fed(case, ["other", *parameters[1:]]) is case


def test_a_condition_of_an_entry_sees_the_constants_that_a_model_holds() -> None:
    ends = call("Range-11", [fixed(0), fed(of="int64"), fixed(1)])
    for case in made(ends).cases:
        assert [name for name, _ in case.inputs] == ["limit"]
        names = Scopes().names_of(case)
        assert names is not None
        assert parse("values(delta)[0] - values(start)[0]").evaluate(names) == 1


@pytest.mark.parametrize(
    ("operator", "inputs", "held"),
    [
        ("GlobalAveragePool-1", [fed(2, 3, 4, 4, of="float16")], []),
        ("Conv-1", [fed(2, 3, 8, 8), weight(4, 3, 3, 3)], ["W"]),
        ("Concat-4", [fed(2, 3), fed(2, 3)], []),
    ],
)
def test_a_version_of_an_old_set_is_asked_in_the_set_of_the_model(
    operator: str, inputs: list[ModelValue | None], held: list[str]
) -> None:
    more = {"axis": 1} if operator == "Concat-4" else {}
    plain = call(operator, inputs, **more)
    node = replace(plain.first, opset=10)
    cases = made(ModelCall(node, (node,))).cases
    for case in cases:
        model = model_of(case)
        assert [opset.version for opset in model.opset_import] == [10]
        assert [each.name for each in model.graph.initializer] == held
    old = replace(plain.first, opset=5)
    assert all(case.model is None for case in made(ModelCall(old, (old,))).cases)
