"""Mutants: made from the syntax tree, put into the living reference, and taken out again."""

from __future__ import annotations

import ast
from collections import Counter

import pytest

from conformance.judging.responses import Answered, Refused
from generator.asking.calls import Call
from generator.trust.mutants.mutants import Mutant, make_mutants
from generator.trust.mutants.subject import MutatedOperator
from opcert.vocabulary.attributes import Attribute
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reference.registry import find_operator
from specs.files.library import load_spec

CENTER = OperatorName.parse("ai.onnx::CenterCropPad-18")
CALL = Call(
    {"axes": Attribute("ints", (-1,))},
    (("input_data", tensor([[1, 2, 3, 4, 5]], "int32")), ("shape", tensor([2], "int64"))),
)


def _subject(operator: OperatorName = CENTER) -> MutatedOperator:
    return MutatedOperator.of(load_spec(operator), find_operator(operator))


def _answer(subject: MutatedOperator, mutant: Mutant | None = None) -> list[int] | str:
    with subject.quick():
        if mutant is None:
            response = subject.respond(CALL)
        else:
            with mutant.running():
                response = mutant.respond(subject, CALL)
    if isinstance(response, Refused):
        return response.kind
    assert isinstance(response, Answered)
    (output,) = response.outputs
    assert isinstance(output, Tensor)
    found: list[int] = output.array.reshape(-1).tolist()
    return found


def _mutant(subject: MutatedOperator, new: str) -> Mutant:
    found = [mutant for mutant in make_mutants(subject) if any(new in line for line in mutant.diff)]
    assert found, new
    return found[0]


def test_a_mutant_computes_with_its_mistake_and_leaves_nothing_behind() -> None:
    subject = _subject()
    assert _answer(subject) == [2, 3]
    assert _answer(subject, _mutant(subject, "start = (-(-surplus // 2))")) == [3, 4]
    assert _answer(subject, _mutant(subject, "+    axes = None")) == "ValueError"
    assert _answer(subject) == [2, 3]


@pytest.mark.slow
def test_mutants_are_of_many_kinds_and_each_is_there_once() -> None:
    made = make_mutants(_subject(OperatorName.parse("ai.onnx::Resize-18")))
    assert len({each.id for each in made}) == len(made) > 400
    kinds = Counter(each.kind for each in made)
    wanted = ("comparison", "rounding", "off by one", "swapped arguments", "dropped clamp", "dropped term")
    assert not {*wanted, "ignored attribute", "wrong default", "axis order", "another branch"} - kinds.keys()


def test_every_mutant_differs_from_the_source_in_its_diff() -> None:
    for mutant in make_mutants(_subject()):
        removed = [each[1:] for each in mutant.diff if each.startswith("-")]
        added = [each[1:] for each in mutant.diff if each.startswith("+")]
        assert added
        assert removed != added
        for line in removed:
            assert line in mutant.part.source


def test_texts_for_people_have_no_mutants() -> None:
    subject = _subject()
    for mutant in make_mutants(subject):
        lines = mutant.part.source.splitlines()
        assert not lines[mutant.line - 1].strip().startswith(("raise", '"""'))


def test_a_call_comes_by_the_points_of_what_it_needs_alone() -> None:
    subject = _subject()
    center = next(part for part in subject.parts if part.name == "center_crop_pad")
    branch = next(node for node in ast.walk(center.tree) if isinstance(node, ast.If))
    with subject.quick(), subject.points.watched() as seen:
        subject.respond(CALL)
        assert subject.points.at(center, branch.body[0]) in seen
        assert subject.points.at(center, branch.orelse[0]) not in seen
