"""What a call is said not to tell of a mutant, it does not tell: held against an evaluation of each."""

from __future__ import annotations

import ast
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb

from generator.adequacy import infection
from generator.adequacy.alike import alike
from generator.adequacy.checked_code import place_of_mistake
from generator.adequacy.infection import Infections
from generator.adequacy.mutants import Mutant, make_mutants
from generator.adequacy.random_calls import Drawn, RandomCalls
from generator.adequacy.subject import Subject, same_answers
from generator.making.discovery import open_spec
from generator.values.draws import Draw
from opcert.vocabulary.names import OperatorName
from reference.rationals import Rationals
from reference.registry import find_operator

OPERATORS = (
    "ai.onnx::HardSwish-22", "ai.onnx::Softmax-13", "ai.onnx::Pad-25", "ai.onnx::ReduceLogSum-28",
    "ai.onnx::GridSample-22", "ai.onnx::CumSum-14", "ai.onnx::QuantizeLinear-28",
)  # fmt: skip

KEPT_APART = ("ai.onnx::LayerNormalization-17", "ai.onnx::RNN-22", "ai.onnx::LpPool-22")
"""Operators that nothing here was tried with while it was written."""


def _calls(operator: OperatorName, count: int) -> tuple[Subject, list[Drawn]]:
    """Random calls of an operator, those first that take least; within `Subject.quick`."""
    spec, levels = open_spec(operator)
    subject = Subject.of(spec, find_operator(operator))
    random = RandomCalls(subject, levels, Draw("infection"))
    random.more(count)
    return subject, sorted(random.drawn, key=lambda each: each.weight)


def _tells(mutant: Mutant, subject: Subject, drawn: Drawn) -> bool:
    with subject.exchanged(mutant.running(), mutant.file):
        return not same_answers(subject.respond(drawn.call), drawn.answer)


@pytest.mark.slow
@pytest.mark.parametrize("name", OPERATORS)
def test_a_mutant_that_a_call_is_said_not_to_tell_answers_as_the_right_code(name: str) -> None:
    operator = OperatorName.parse(name)
    spec, _ = open_spec(operator)
    with Subject.of(spec, find_operator(operator)).quick():
        subject, calls = _calls(operator, 40)
        mutants = [each for each in make_mutants(subject) if not each.guard][::3]
        infections = Infections(subject, mutants)
        asked = calls[:12]
        reached = [(mutant, drawn) for drawn in asked for mutant in mutants if mutant.points <= drawn.reached]
        untold = [(mutant, drawn) for mutant, drawn in reached if not infections.may_tell(mutant, drawn)]
        wrong = [mutant.id for mutant, drawn in untold if _tells(mutant, subject, drawn)]
    assert not wrong
    assert len(untold) > len(reached) / 10


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("ai.onnx::Softmax-13", marks=pytest.mark.nightly),  # most of a minute
        "ai.onnx::GridSample-22",
        *KEPT_APART,
    ],
)
def test_what_is_compared_further_out_is_told_wherever_the_answer_is_another(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(infection, "FIRST", 1)
    monkeypatch.setattr(infection, "OFTEN", 0)
    operator = OperatorName.parse(name)
    with Subject.of(open_spec(operator)[0], find_operator(operator)).quick():
        subject, calls = _calls(operator, 40)
        mutants = [each for each in make_mutants(subject) if not each.guard][::2]
        infections = Infections(subject, mutants)
        for drawn in calls[:6]:
            infections._infected_by(drawn)
        further = set(infections._further)
        monkeypatch.setattr(infection, "FIRST", 1000)
        asked = calls[6:14]
        reached = [(mutant, drawn) for drawn in asked for mutant in further if mutant.points <= drawn.reached]
        untold = [(mutant, drawn) for mutant, drawn in reached if not infections.may_tell(mutant, drawn)]
        wrong = [mutant.id for mutant, drawn in untold if _tells(mutant, subject, drawn)]
    assert not wrong
    assert untold or not reached


@pytest.mark.slow
def test_what_is_often_another_value_is_compared_at_the_end_and_then_not_at_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(infection, "FIRST", 10)
    operator = OperatorName.parse("ai.onnx::HardSwish-22")
    with Subject.of(open_spec(operator)[0], find_operator(operator)).quick():
        subject, calls = _calls(operator, 40)
        mutants = [each for each in make_mutants(subject) if not each.guard]
        infections = Infections(subject, mutants)
        compared = [len(infections._places), len(infections._whole)]
        for drawn in calls[:20]:
            infections._infected_by(drawn)
        left = [len(infections._places), len(infections._whole)]
        away = next(
            each for each in mutants if each not in infections._places and each not in infections._whole
        )
        assert infections.may_tell(away, calls[0])
    assert left[0] < compared[0]
    assert sum(left) < sum(compared)
    assert left[0] > 0


@pytest.mark.slow
def test_what_an_answer_of_its_own_makes_of_the_evaluation_tells_nothing_of_any() -> None:
    operator = OperatorName.parse("ai.onnx::CumSum-14")
    with Subject.of(open_spec(operator)[0], find_operator(operator)).quick():
        subject, calls = _calls(operator, 20)
        mutants = [each for each in make_mutants(subject) if not each.guard]
        infections = Infections(subject, mutants)
        one, other = calls[0], next(each for each in calls if each.answer != calls[0].answer)
        mixed = Drawn(one.call, other.answer, one.reached, one.weight, one.seconds, one.acceptance)
        assert all(infections.may_tell(mutant, mixed) for mutant in mutants)


def test_values_that_are_bound_or_changed_on_the_way_are_compared_at_the_end() -> None:
    operator = OperatorName.parse("ai.onnx::Softmax-13")
    subject = Subject.of(open_spec(operator)[0], find_operator(operator))
    for mutant in make_mutants(subject):
        place = place_of_mistake(mutant)
        if place is not None:
            assert not any(isinstance(each, ast.NamedExpr) for each in ast.walk(place.value))
            assert place.mistaken(mutant) is not None


_NAN = float("nan")
_TENS = np.arange(10.0)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (1, 1, True), (1, True, False), (1, 1.0, False), (0.0, -0.0, False), (_NAN, float("nan"), True),
        (np.float32(0), np.float32(-0.0), False), (np.float32(1), np.float64(1), False),
        (np.zeros(2), np.zeros(2), True), (np.zeros(2), -np.zeros(2), False),
        (np.zeros(2), np.zeros((2, 1)), False),
        (_TENS[1:3], _TENS[1:3], True), (_TENS[1:3], _TENS[1:3].copy(), False),
        (np.array([1, None], dtype=object), np.array([1, None], dtype=object), True),
        (np.array([1, 2], dtype=object), np.array([1, 2.0], dtype=object), False),
        ((1, [2, {"a": 3}]), (1, [2, {"a": 3}]), True), ((1, [2, {"a": 3}]), (1, [2, {"b": 3}]), False),
        (Fraction(1, 3), Fraction(2, 6), True), (range(3), range(0, 3, 1), True),
        (Rationals.of(Fraction(1, 2)), Rationals.of(Fraction(1, 2)), True),
        (Rationals.of([Fraction(1, 2), 1]), Rationals.of([Fraction(1, 2), 2]), False),
        (Rationals.of([1, 2]), Rationals.of([[1, 2]]), False),
        (arb(2).sqrt(), arb(2).sqrt(), True), (arb(2), arb(2, 1), False),
        (iter([1]), iter([1]), False), (math.sin, math.cos, False), (math.sin, math.sin, True),
    ],
)  # fmt: skip
def test_values_are_alike_only_where_nothing_can_come_of_either(
    left: Any, right: Any, expected: bool
) -> None:
    assert alike(left, right) is expected


def test_the_same_numbers_are_alike_whatever_they_are_held_over() -> None:
    halves = Rationals.of([Fraction(1, 2), Fraction(3, 2)])
    two, zero = np.array(2, dtype=object), np.array(0, dtype=object)
    assert alike(halves, Rationals(halves.numerator * two, np.array(4, dtype=object)))
    assert not alike(halves, Rationals(halves.numerator * two, halves.denominator))
    assert not alike(Rationals(zero, zero), Rationals.of(0))
