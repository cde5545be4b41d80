"""Calls of every kind: those of ONNX's node tests, and one of each operator that cases are made of."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import pytest

from conformance.adopting.node_tests import node_suite
from conformance.checked_models.model_calls import ModelCall
from conformance.suite.cases import Case
from conformance.suite.suites import open_suite
from generator.asking.bare_cases import bare_case
from generator.asking.named_operators import referenced_operators
from generator.calls.data.draws import Draw
from generator.calls.declared.declared_levels import DeclaredLevels
from generator.calls.space.space import open_space
from generator.making.operators.opsets import default_operators
from generator.models.check.call_cases import CallCases
from generator.models.check.making import cases_of_call
from generator.models.check.model_cases import cases_of_calls
from opcert.vocabulary.slots import Slot, gather, slots_of
from specs.files.library import load_spec
from tests.generator.checking.calls_of_cases import call_of_case
from tests.generator.checking.made_calls import call, fed

pytestmark = pytest.mark.slow
_OF_TESTS, _OF_OPERATORS = 30, 6
"""One in so many is asked: the others say nothing else, and take minutes."""
_DRAWS = 20


def _calls_of_node_tests() -> Iterator[ModelCall]:
    """Calls of ONNX's tests: of those whose names have an even digest, which nothing was tuned on."""
    known = set(referenced_operators())
    with open_suite(node_suite(lambda _: None)) as suite:
        chosen = [case_id for case_id in suite.case_ids if hashlib.md5(case_id.encode()).digest()[-1] % 2]
        for each in chosen[::_OF_TESTS]:
            case = suite.case(each)
            if case.operator in known and case.levels.get("written_as", "node") == "node":
                yield call_of_case(case, constant=True)


def _calls_of_operators() -> Iterator[ModelCall]:
    for operator in default_operators()[::_OF_OPERATORS]:
        space = open_space(load_spec(operator))
        draws = (Draw(f"many calls/{operator}/{attempt}") for attempt in range(_DRAWS))
        drawn = (DeclaredLevels(space).build_call(space.spec, {}, draw) for draw in draws)
        first = next(each for each in drawn if each is not None)
        yield call_of_case(bare_case(space.spec, first), constant=True)


def test_most_calls_of_node_tests_have_cases() -> None:
    made = [cases_of_call(test, 3) for test in _calls_of_node_tests()]
    assert len(made) > 10
    covered = [call_cases for call_cases in made if call_cases.cases]
    assert len(covered) >= 0.95 * len(made), [
        call_cases.not_covered for call_cases in made if not call_cases.cases
    ]
    _make_the_calls(covered)


def test_a_call_of_each_operator_has_cases() -> None:
    made = [cases_of_call(operator, 3) for operator in _calls_of_operators()]
    left = [(str(told.call.operator), told.not_covered) for told in made if not told.cases]
    assert not left
    _make_the_calls(made)


def test_processes_change_nothing() -> None:
    calls = [call(name, [fed("n", length)]) for name in ("Abs-13", "Neg-13") for length in range(2, 9)]
    alone = cases_of_calls(calls, keep=False)
    told: list[str] = []
    beside = cases_of_calls(
        calls, keep=False, processes=2, told=lambda call_cases: told.append(call_cases.key)
    )
    assert [call_cases.key for call_cases in alone] == told
    assert [[str(one.id) for one in call_cases.cases] for call_cases in beside] == [
        [str(one.id) for one in call_cases.cases] for call_cases in alone
    ]
    assert [call_cases.call for call_cases in beside] == calls


def _make_the_calls(made: list[CallCases]) -> None:
    for call_cases in made:
        given = list(call_cases.call.first.inputs)
        while given and given[-1] is None:
            given.pop()
        for case in call_cases.cases:
            assert case.attributes == call_cases.call.first.attributes
            told = [_told(slot, case) for slot in slots_of(case.inputs, case.slots)]
            assert told == [
                None if one is None else one.kind or (one.element_type, len(one.shape or ())) for one in given
            ]


def _told(slot: Slot, case: Case) -> object:
    """The type of an input, and of a tensor how many axes it has."""
    if slot.type is not None:
        return str(slot.type)
    tensors = list(gather(slot, case.inputs))
    return (tensors[0].element_type.name, len(tensors[0].shape)) if tensors else None
