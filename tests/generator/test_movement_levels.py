"""The levels of the operators that move data: what they build is valid or breaks one constraint alone."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generator.asking.calls import Call
from generator.calls.data.draws import Draw
from generator.calls.declared.declared_levels import DeclaredLevels
from generator.calls.rows.factors import factor_model, first_types
from generator.calls.rows.feasibility import FREE, Solver
from generator.making.operators.discovery import open_spec
from generator.making.operators.workshop import Options
from generator.making.suites.operator_cases import generate_operator
from opcert.vocabulary.names import OperatorName
from reference.registry import find_operator
from reference.registry.reference_operator import ReferenceOperator
from specs.language.expressions import parse
from specs.model.domain import check_constraints
from specs.model.spec import Spec

OPERATORS = (
    "ai.onnx::CenterCropPad-18",
    "com.microsoft::Pad-1",
    "org.tensorflow::BatchToSpaceND-1",
    "org.openvino::ExtractImagePatches-3",
)
ALWAYS_KEPT = {
    "ai.onnx::CenterCropPad-18": {"type_of_T"},
    "org.tensorflow::BatchToSpaceND-1": {"type_of_T_input"},
}
"""Rules that no call of ours breaks: the operators take every type that they are given on trial."""
MOST_CASES = {"ai.onnx::CenterCropPad-18": 350}
"""Kernels are chosen by the types of elements and of extents: each pair of common ones has ten cases."""
every_operator = pytest.mark.parametrize("operator", OPERATORS)


@cache
def bench(operator: str) -> tuple[Spec, DeclaredLevels, ReferenceOperator]:
    name = OperatorName.parse(operator)
    return *open_spec(name), find_operator(name)


def broken(spec: Spec, call: Call) -> list[str]:
    return [constraint.id for constraint in check_constraints(spec, call.attributes, dict(call.inputs))]


def has_result(reference: ReferenceOperator, call: Call) -> bool:
    plain = {name: attribute.value for name, attribute in call.attributes.items()}
    return bool(reference.evaluate(plain, dict(call.inputs)))


@every_operator
def test_readings_are_those_of_the_reference(operator: str) -> None:
    spec, _, reference = bench(operator)
    stated = {
        reading.id: tuple(reading.options)
        for reading in spec.readings
        if reading.chosen is None or reading.id in reference.readings
    }
    assert stated == dict(reference.readings)
    for reading in spec.readings:
        if reading.chosen is not None and reading.id in reference.readings:
            assert reading.chosen == reference.readings[reading.id][0]


@every_operator
def test_suite_is_large_enough_and_small_enough(operator: str) -> None:
    made = generate_operator(OperatorName.parse(operator), Options())
    families = Counter(each.family for each in made.cases)
    assert {"boundary", "cover", "invalid"} <= set(families)
    assert 60 <= len(made.cases) <= MOST_CASES.get(operator, 250)
    own = [each for each in made.cases if each.family != "example"]
    sizes = [tensor.array.nbytes for each in own for _, tensor in each.inputs if tensor is not None]
    assert max(sizes) <= 64 * 1024


@pytest.mark.nightly
@pytest.mark.slow
@every_operator
@settings(max_examples=120, deadline=None)
@given(data=st.data())
def test_levels_that_no_exclusion_forbids_give_a_valid_call(operator: str, data: st.DataObject) -> None:
    spec, levels, reference = bench(operator)
    row = {each.name: data.draw(st.sampled_from(each.levels), each.name) for each in spec.factors}
    if any(parse(exclusion.when).evaluate(row) for exclusion in spec.exclusions):
        return
    # Combinations of three levels and more that no call has, no exclusion need name.
    call = levels.build_call(spec, {name: str(level) for name, level in row.items()}, Draw("any"))
    if call is not None:
        assert broken(spec, call) == []
        assert has_result(reference, call)
        first = call.inputs[0][1]
        assert first is not None
        factor, _ = first_types(spec, factor_model(spec))
        assert first.element_type.name == row.get(factor, first.element_type.name)


@every_operator
def test_every_level_can_be_had(operator: str) -> None:
    spec, _, _ = bench(operator)
    model = factor_model(spec)
    solver = Solver(model)
    for factor, name in enumerate(model.names):
        for level in range(len(model.levels[name])):
            row = [FREE] * len(model.sizes)
            row[factor] = level
            assert solver.extendable(row), f"{name}: {model.levels[name][level]}"


@every_operator
def test_boundary_calls_are_valid_and_have_words_of_their_own(operator: str) -> None:
    spec, levels, reference = bench(operator)
    words: Counter[str] = Counter()
    for word, _, call in levels.boundary_calls(spec, Draw("boundary")):
        words[word] += 1
        assert broken(spec, call) == [], word
        assert has_result(reference, call), word
    assert max(words.values()) == 1


@every_operator
def test_invalid_calls_break_each_constraint_alone(operator: str) -> None:
    spec, levels, reference = bench(operator)
    seen = set()
    for name, valid, call in levels.invalid_calls(spec, Draw("invalid")):
        assert broken(spec, valid) == [], name
        assert has_result(reference, valid), name
        assert broken(spec, call) == [name], name
        seen.add(name)
    wanted = {constraint.id for constraint in spec.constraints if constraint.require is not None}
    assert wanted - seen <= ALWAYS_KEPT.get(operator, set())


@every_operator
def test_calls_do_not_depend_on_what_was_built_before(operator: str) -> None:
    spec, levels, _ = bench(operator)
    name = OperatorName.parse(operator)
    row = {factor.name: str(factor.levels[0]) for factor in spec.factors}
    first = levels.build_call(spec, row, Draw("one"))
    list(levels.invalid_calls(spec, Draw("two")))
    again = levels.build_call(spec, row, Draw("one"))
    assert first is not None
    assert again is not None
    assert first.digest(name) == again.digest(name)
