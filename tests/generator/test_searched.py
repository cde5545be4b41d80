"""What searches for calls came to is kept: the same cases are made of it; stale, it counts for nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from generator.asking.questions import Question
from generator.calls.declared.modelled import (
    Instead,
    KeptDraws,
    Searched,
    read_searched,
    searched_of,
    write_searched,
)
from generator.calls.rows.cores import ForbiddenCombination
from generator.making.families import cover
from generator.making.operators.discovery import select_operators
from generator.making.operators.opsets import default_operators
from generator.making.operators.workshop import Options, Workshop, open_workshop
from generator.making.suites.operator_cases import OperatorCases, generate_operator
from generator.measured.kept import expectations_of
from opcert.vocabulary.errors import OpcertError
from opcert.vocabulary.names import OperatorName
from specs.files.spec_folders import SEARCHED

UNCLEAR = "ai.onnx::ThresholdedRelu"
"""An operator of which some rows are unclear, and others stand in for them."""


def _operator(name: str) -> OperatorName:
    (operator,) = select_operators((name,))
    return operator


def _made(name: str, monkeypatch: pytest.MonkeyPatch, *, afresh: bool) -> tuple[OperatorCases, int]:
    """Its cases, and how many calls were asked about."""
    (operator,) = select_operators((name,))
    asked: set[int] = set()
    questions: list[Question] = []
    answer = Question.answer

    def counted(self: Question, options: tuple[str, ...]) -> object:
        if id(self) not in asked:
            asked.add(id(self))
            questions.append(self)  # an id is one only while it lives
        return answer(self, options)

    monkeypatch.setattr(Question, "answer", counted)
    made = generate_operator(operator, Options(), afresh=afresh)
    monkeypatch.setattr(Question, "answer", answer)
    return made, len(asked)


@pytest.mark.slow
@pytest.mark.parametrize("name", [UNCLEAR, "ai.onnx::Mod"])
def test_the_same_cases_are_made_with_fewer_questions(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    searched, many = _made(name, monkeypatch, afresh=True)
    kept, few = _made(name, monkeypatch, afresh=False)
    assert expectations_of(kept.cases) == expectations_of(searched.cases)
    assert kept.facts == searched.facts
    assert kept.draws == searched.draws
    assert few < many


def test_rows_that_stand_in_for_others_are_kept() -> None:
    kept = searched_of(_operator(UNCLEAR)).draws
    assert kept is not None
    assert kept.instead


def _covered_with(draws: KeptDraws | None) -> Workshop:
    (operator,) = select_operators((UNCLEAR,))
    workshop = open_workshop(operator, Options())
    workshop.kept_draws = draws
    cover.make_cases(workshop)
    return workshop


def test_draws_of_other_rows_count_for_nothing() -> None:
    searched = _covered_with(None)
    assert searched.draws is not None
    stale = replace(searched.draws, rows="0" * 16, draws=tuple(9 for _ in searched.draws.draws))
    found = _covered_with(stale)
    assert expectations_of(found.cases.values()) == expectations_of(searched.cases.values())
    assert found.draws == searched.draws


def test_a_draw_that_is_none_any_more_is_searched_for() -> None:
    searched = _covered_with(None)
    kept = searched.draws
    assert kept is not None
    # A draw that a row does not have twice: the case of another one is in the suite already.
    damaged = replace(
        kept,
        draws=tuple(None for _ in kept.draws),
        instead=tuple(Instead(instead.place, instead.row, instead.draw) for instead in kept.instead),
    )
    found = _covered_with(damaged)
    assert len(found.rows) == len(searched.rows)
    assert {frozenset(row.items()) for row in found.rows} == {frozenset(row.items()) for row in searched.rows}


def test_a_file_gives_back_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / SEARCHED
    assert read_searched(path, 7) == Searched()
    both, newer = (
        ForbiddenCombination({"rank_S": 0, "axis": "inner"}),
        ForbiddenCombination({"axis": "lowest", "rank_S": 0}),
    )
    draws = KeptDraws("fedcba9876543210", (3, None), (Instead(0, (1, 0, 11), 2), Instead(4, (0, 0, 0), 0)))
    kept = {7: Searched((both,)), 18: Searched((newer, both), draws)}
    write_searched(path, kept)
    assert {version: read_searched(path, version) for version in kept} == kept
    assert path.read_text().count("inner") == 1
    assert read_searched(path, 1) == Searched()
    write_searched(path, {7: Searched()})
    assert not path.exists()
    assert read_searched(path, 7) == Searched()


@pytest.mark.parametrize(
    "text",
    [
        "cores: [{levels: {axis: last}}]",
        "cores: [{levels: [axis], versions: [7]}]",
        "cores: [axis]",
        "versions: [{version: 7}]",
        "versions: [{version: 7, rows: a, draws: one}]",
        "versions: [{version: 7, rows: a, draws: '0', instead: ['1 2']}]",
        "[]: [",
    ],
)
def test_a_damaged_file_is_told_with_its_place(text: str, tmp_path: Path) -> None:
    path = tmp_path / SEARCHED
    path.write_text(text)
    with pytest.raises(OpcertError) as caught:
        read_searched(path, 7)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("operator", default_operators(), ids=str)
def test_searches_of_every_operator_of_the_default_suite_are_kept(operator: OperatorName) -> None:
    """Else users' first suite takes longer: `python -m tools.searched --update` makes them anew."""
    assert searched_of(operator).draws is not None
