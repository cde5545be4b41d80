"""An operator whose calls are declared: cases of every family without a module that makes them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from generator.asking.calls import Call
from generator.asking.expectations import expect
from generator.asking.named_operators import known_operators
from generator.calls.data.draws import Draw
from generator.calls.kinds.integer import Integer
from generator.calls.rows.factors import factor_model
from generator.calls.space.space import open_space
from generator.making.operators.discovery import load_rules, open_spec
from generator.making.operators.workshop import Options
from generator.making.suites.operator_cases import OperatorCases, generate_operator
from opcert.vocabulary.attributes import attribute
from opcert.vocabulary.errors import InternalError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import OutsideDomain
from reference.registry import find_operator
from specs.files.library import load_spec
from specs.language.expressions import parse
from specs.model.domain import check_constraints
from tests.generator.test_user_specs import IMPORTED

NAME = OperatorName.parse("org.example::EveryNth-1")
DECLARED = """\
shapes: {X: "*S"}
extents: {S: 1..3}
kinds:
  axis: axis(X) or error
  step: integer(1) or error
reference: reference.py
"""
REFERENCE = """\
from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.registry import reference_operator


@reference_operator("org.example::EveryNth-1")
def every_nth(X: Tensor, *, axis: int = 0, step: int = 1) -> Answer:
    window = [slice(None)] * len(X.shape)
    window[axis] = slice(0, None, step)
    return Answer(Tensor(X.element_type, X.array[tuple(window)]))
"""


@pytest.fixture(scope="module")
def specs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("specs")
    (folder / "org.example" / "EveryNth").mkdir(parents=True)
    (folder / "org.example" / "EveryNth" / "imported-1.yaml").write_text(IMPORTED)
    (folder / "org.example" / "EveryNth" / "spec.yaml").write_text(DECLARED)
    (folder / "org.example" / "EveryNth" / "reference.py").write_text(REFERENCE)
    return folder


@pytest.fixture(scope="module")
def made(specs: Path) -> OperatorCases:
    return generate_operator(NAME, Options(), [specs])


def test_it_is_known_where_its_declaration_names_what_is_right(specs: Path) -> None:
    assert known_operators([specs]) == [NAME]
    declaration = specs / "org.example" / "EveryNth" / "spec.yaml"
    declaration.write_text(DECLARED.replace("reference: reference.py\n", ""))
    try:
        assert known_operators([specs]) == []
    finally:
        declaration.write_text(DECLARED)


def test_cases_of_every_family_are_made(made: OperatorCases) -> None:
    counts = Counter(each.family for each in made.cases)
    assert set(counts) == {"boundary", "cover", "invalid", "survival"}
    assert sum(counts.values()) <= 140
    broken = {each.constraint for each in made.cases if each.family == "invalid"}
    assert broken == {"axis_range", "step_range", "X_given"}
    assert {each.constraint for each in made.cases if each.family == "survival"} == {"type_of_T"}


def test_every_pair_of_levels_and_every_type_occurs(made: OperatorCases) -> None:
    coverage = made.facts["coverage"]
    assert coverage["uncovered"] == []
    assert coverage["feasible"] > 100
    types = Counter(each.element_type.name for each in made.cases if each.family == "cover")
    assert set(types) == {"float", "int32", "string"}
    assert min(types.values()) >= 3


def test_what_is_expected_is_right(made: OperatorCases) -> None:
    looked_at = 0
    for case in made.cases:
        if case.demand != "answer":
            continue
        X = dict(case.inputs)["X"]
        assert X is not None
        axis = case.attributes["axis"].value if "axis" in case.attributes else 0
        step = case.attributes["step"].value if "step" in case.attributes else 1
        assert isinstance(axis, int)
        assert isinstance(step, int)
        places = [place for place in range(X.shape[axis]) if place % step == 0]
        taken = Tensor(X.element_type, X.array.take(places, axis))
        assert case.expectations[0].outputs[0].expected == taken
        looked_at += X.array.size > 1
    assert looked_at > 30


def test_the_rules_are_the_domain_and_the_reference_is_not_asked(specs: Path) -> None:
    spec = load_rules(NAME, [specs])
    reference = find_operator(NAME, spec.reference_module)
    outside = Call({"step": attribute("int", -1)}, (("X", tensor([1.0, 2.0], "float")),))
    assert reference.evaluate({"step": -1}, dict(outside.inputs))[0].expected.shape == (1,)
    with pytest.raises(InternalError, match="step_range") as caught:
        expect(spec, reference, outside)
    assert isinstance(caught.value.__cause__, OutsideDomain)


def test_a_call_has_the_levels_that_are_asked_for(specs: Path) -> None:
    spec, levels = open_spec(NAME, [specs])
    model = factor_model(spec)
    assert {"rank_S", "axis", "step", "data"} <= set(model.levels)
    wanted = {"rank_S": "3", "axis": "inner", "step": "some"}
    calls = [levels.build_call(spec, wanted, Draw("test").child(str(turn))) for turn in range(20)]
    for call in calls:
        assert call is not None
        assert not check_constraints(spec, call.attributes, dict(call.inputs))
        X = call.input("X")
        assert X is not None
        assert len(X.shape) == 3
        assert call.attributes["axis"].value == 1
    again = levels.build_call(spec, wanted, Draw("test").child("7"))
    assert again is not None
    assert calls[7] is not None
    assert again.digest(NAME) == calls[7].digest(NAME)
    assert len({call.digest(NAME) for call in calls if call is not None}) > 10


def test_a_spec_without_its_declared_rules_is_what_people_wrote(specs: Path) -> None:
    assert not load_spec(NAME, [specs]).constraints
    assert {constraint.id for constraint in load_rules(NAME, [specs]).constraints} >= {
        "axis_range",
        "X_given",
    }


def test_one_more_than_there_are_means_no_end_and_no_other_sum_does() -> None:
    space = open_space(load_spec(OperatorName.parse("ai.onnx::NonMaxSuppression-11")))
    (kind,) = (kind for kind in space.kinds if kind.name == "max_output_boxes_per_class")
    assert isinstance(kind, Integer)
    assert kind.without_end == replace(kind, high=None)
    for high in ("P + 2", "P + C", "P - 1", "2 * P + 1"):
        assert replace(kind, high=parse(high)).without_end is None
    assert replace(kind, high=parse("7")).without_end is not None
