"""What a search for the clearest cases came to is kept: the same suite is made of it, asking less."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from generator.adequacy.kept import expectations_of
from generator.asking.questions import Question
from generator.families import cover
from generator.making.discovery import select_operators
from generator.making.operator_cases import OperatorCases, generate_operator
from generator.making.opsets import default_operators
from generator.making.workshop import Options, Workshop, open_workshop
from generator.rows.kept_draws import FILE_NAME, Instead, KeptDraws, read_draws, write_draws
from generator.spaces.modelled import kept_draws_of
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName

UNCLEAR = "ai.onnx::ThresholdedRelu"
"""An operator of which some rows are unclear, and others stand in for them."""


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


def test_rows_that_stand_in_for_others_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    (operator,) = select_operators((UNCLEAR,))
    kept = kept_draws_of(operator)
    assert kept is not None
    assert kept.instead


def _covered(draws: KeptDraws | None) -> Workshop:
    (operator,) = select_operators((UNCLEAR,))
    workshop = open_workshop(operator, Options())
    workshop.kept_draws = draws
    cover.make_cases(workshop)
    return workshop


def test_draws_of_other_rows_count_for_nothing() -> None:
    searched = _covered(None)
    assert searched.draws is not None
    stale = replace(searched.draws, rows="0" * 16, draws=tuple(9 for _ in searched.draws.draws))
    found = _covered(stale)
    assert expectations_of(found.cases.values()) == expectations_of(searched.cases.values())
    assert found.draws == searched.draws


def test_a_draw_that_is_none_any_more_is_searched_for() -> None:
    searched = _covered(None)
    kept = searched.draws
    assert kept is not None
    # A draw that a row does not have twice: the case of another one is in the suite already.
    damaged = replace(
        kept,
        draws=tuple(None for _ in kept.draws),
        instead=tuple(Instead(each.place, each.row, each.draw) for each in kept.instead),
    )
    found = _covered(damaged)
    assert len(found.rows) == len(searched.rows)
    assert {frozenset(each.items()) for each in found.rows} == {
        frozenset(each.items()) for each in searched.rows
    }


def test_a_file_gives_back_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    kept = {
        7: KeptDraws("0123456789abcdef", (0, None, 12)),
        18: KeptDraws("fedcba9876543210", (3,), (Instead(0, (1, 0, 11), 2), Instead(4, (0, 0, 0), 0))),
    }
    write_draws(path, kept)
    assert read_draws(path) == kept
    write_draws(path, {})
    assert not path.exists()
    assert read_draws(path) == {}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"format": "opcert-draws/2", "versions": {}}',
        '{"format": "opcert-draws/1", "versions": {"7": {"rows": "0", "draws": "0 one"}}}',
        '{"format": "opcert-draws/1", "versions": {"7": {"rows": "0", "draws": "0", "instead": ["1 2"]}}}',
        '{"format": "opcert-draws/1", "versions": {"7": {"draws": "0"}}}',
    ],
)
def test_a_damaged_file_is_told_with_its_place_and_what_to_do(text: str, tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    path.write_text(text)
    with pytest.raises(UserError) as caught:
        read_draws(path)
    assert str(path) in str(caught.value)
    assert "Remove the file" in str(caught.value)


@pytest.mark.parametrize("operator", default_operators(), ids=str)
def test_every_operator_of_the_default_suite_keeps_its_draws(operator: OperatorName) -> None:
    assert kept_draws_of(operator) is not None
