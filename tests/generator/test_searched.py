"""What searches for calls came to is kept: the same cases are made of it; stale, it counts for nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from generator.asking.calls import Call
from generator.asking.questions import Question
from generator.calls.borders import known_breaches
from generator.calls.borders.breach_attempts import Stage
from generator.calls.borders.breaches import Breach, BreachPlace
from generator.calls.borders.known_breaches import Places, breaches_at
from generator.calls.declared import declared_levels
from generator.calls.declared.declared_levels import DeclaredLevels
from generator.calls.declared.modelled import searched_of
from generator.calls.declared.searched import (
    FoundCalls,
    Instead,
    KeptDraws,
    Searched,
    read_searched,
    write_searched,
)
from generator.calls.rows import row_search
from generator.calls.rows.cores import ForbiddenCombination
from generator.calls.rows.row_search import FoundRows, RowSearch
from generator.making.families import cover
from generator.making.operators.discovery import select_operators
from generator.making.operators.opsets import default_operators
from generator.making.operators.sources import digest_of_spec
from generator.making.operators.workshop import Options, Workshop, open_workshop
from generator.making.suites import operator_cases
from generator.making.suites.operator_cases import OperatorCases, generate_operator
from generator.measured.kept import expectations_of
from opcert.vocabulary.errors import OpcertError
from opcert.vocabulary.names import OperatorName
from specs.files.spec_folders import SEARCHED
from tools.searched import search_calls

WHOLE = "versions: [{version: 7, spec: a, attempts: [0], without_call: []"
UNCLEAR = "ai.onnx::ThresholdedRelu"
"""An operator of which some rows are unclear, and others stand in for them."""
NAMES = ("ai.onnx::ThresholdedRelu", "ai.onnx::ArgMax", "ai.onnx::CastLike", "ai.onnx::HannWindow")
"""Their breaches are of every stage but one."""
LACKING = "ai.onnx::CenterCropPad"
"""Some levels that are tried for its rows have no call."""
REPLACED = "ai.onnx::ConvInteger"
"""Its array is not the one of the first attempt."""


def _operator(name: str) -> OperatorName:
    (operator,) = select_operators((name,))
    return operator


def _workshop(name: str) -> tuple[Workshop, DeclaredLevels]:
    workshop = open_workshop(_operator(name), Options())
    return workshop, workshop.levels


def _digests(workshop: Workshop, found: Sequence[tuple[str, Call, Call]] | None) -> list[object]:
    operator = workshop.spec.operator
    assert found is not None
    return [(name, *(each.digest(operator) for each in calls)) for name, *calls in found]


def _never(*_: object, **__: object) -> None:
    raise AssertionError("a search is made")


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
        instead=tuple(Instead(each.place, each.row, each.draw) for each in kept.instead),
    )
    found = _covered_with(damaged)
    assert len(found.rows) == len(searched.rows)
    assert {frozenset(each.items()) for each in found.rows} == {
        frozenset(each.items()) for each in searched.rows
    }


@pytest.mark.parametrize("name", NAMES)
def test_breaches_are_made_again_where_they_were_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    workshop, _ = _workshop(name)
    searched = _digests(workshop, workshop.broken_calls)
    again, _ = _workshop(name)
    again.known_breaches = search_calls(again.spec.operator).breaches
    monkeypatch.setattr(declared_levels, "find_breaches", _never)
    assert _digests(again, again.broken_calls) == searched


def test_breaches_of_every_stage_are_made_again() -> None:
    stages = {each[0].stage for name in NAMES for each in search_calls(_operator(name)).breaches if each}
    assert stages >= {Stage.PLAIN, Stage.ABOUT, Stage.RARE, Stage.SEARCHED}


def _moved(places: Places, move: Callable[[BreachPlace], BreachPlace]) -> Places:
    return tuple(tuple(map(move, each)) for each in places)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_where_no_breach_is_all_are_looked_for(name: str) -> None:
    workshop, levels = _workshop(name)
    searched = _digests(workshop, workshop.broken_calls)
    places, draw = search_calls(workshop.spec.operator).breaches, workshop.draw("invalid")
    damaged = [
        places[1:],
        (*places, ()),
        tuple(reversed(places)),
        _moved(places, lambda each: each._replace(change=each.change + 1000)),
        _moved(places, lambda each: each._replace(turn=each.turn + 1000)),
        _moved(places, lambda each: each._replace(stage=Stage.ABOUT)),
    ]
    for each in damaged:
        assert breaches_at(levels.space, draw, each) is None
        again, _ = _workshop(name)
        again.known_breaches = each
        assert _digests(again, again.broken_calls) == searched


def test_a_call_that_breaks_its_rule_no_more_is_no_breach(monkeypatch: pytest.MonkeyPatch) -> None:
    workshop, levels = _workshop(NAMES[0])
    places = search_calls(workshop.spec.operator).breaches
    assert breaches_at(levels.space, workshop.draw("invalid"), places)
    monkeypatch.setattr(known_breaches, "broken_rules", lambda *_: [])
    assert breaches_at(levels.space, workshop.draw("invalid"), places) is None


@pytest.mark.slow
@pytest.mark.parametrize("name", [*NAMES, LACKING, REPLACED])
def test_rows_are_found_without_a_search(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    workshop, _ = _workshop(name)
    searched, beside = cover.dealt_rows(workshop, cover.first_seeds(workshop), RowSearch())
    found = search_calls(workshop.spec.operator).rows
    monkeypatch.setattr(row_search, "make_call", _never)
    monkeypatch.setattr(row_search, "find_cover", _never)
    again, _ = _workshop(name)
    search = RowSearch(found)
    array, more = cover.dealt_rows(again, cover.first_seeds(again), search)
    assert (array.types, more) == (searched.types, beside)
    assert search.found == found


def test_these_rows_tell_attempts_and_levels_without_a_call() -> None:
    assert any(search_calls(_operator(REPLACED)).rows.attempts)
    assert search_calls(_operator(LACKING)).rows.without_call


def _covered(name: str, rows: FoundRows | None, *, draws: bool) -> Workshop:
    workshop, _ = _workshop(name)
    workshop.kept_draws = searched_of(workshop.spec.operator).draws if draws else None
    workshop.known_rows = rows
    cover.make_cases(workshop)
    return workshop


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "draws"),
    [(FoundRows((3, 3), ()), True), (FoundRows((0,), tuple(range(40))), False), (FoundRows(), True)],
)
def test_rows_that_no_kept_draws_are_of_are_searched_for(rows: FoundRows, draws: bool) -> None:
    searched, found = (_covered(LACKING, each, draws=draws) for each in (None, rows))
    assert expectations_of(found.cases.values()) == expectations_of(searched.cases.values())
    assert found.rows == searched.rows
    assert found.draws == searched.draws


@pytest.mark.slow
@pytest.mark.parametrize("name", [NAMES[0], LACKING])
def test_the_same_cases_are_made_with_what_is_kept(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    operator = _operator(name)
    searched = generate_operator(operator, Options(), afresh=True)
    known = replace(searched_of(operator), calls=search_calls(operator))
    monkeypatch.setattr(operator_cases, "searched_of", lambda *_: known)
    monkeypatch.setattr(declared_levels, "find_breaches", _never)
    monkeypatch.setattr(row_search, "make_call", _never)
    kept = generate_operator(operator, Options())
    assert expectations_of(kept.cases) == expectations_of(searched.cases)
    assert kept.facts == searched.facts


@pytest.mark.parametrize("spec", ["as it is", "0" * 16])
@pytest.mark.parametrize("folders", [False, True])
def test_what_was_found_for_another_spec_counts_for_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: str, folders: bool
) -> None:
    operator = _operator(NAMES[0])
    kept = searched_of(operator)
    assert kept.calls is not None
    told = digest_of_spec(operator) if spec == "as it is" else spec
    monkeypatch.setattr(
        operator_cases, "searched_of", lambda *_: replace(kept, calls=replace(kept.calls, spec=told))
    )
    searches: list[object] = []

    def noting(*given: object) -> list[Breach]:
        searches.append(given)
        return []

    monkeypatch.setattr(declared_levels, "find_breaches", noting)
    generate_operator(operator, Options(), [tmp_path] if folders else ())
    assert bool(searches) == (folders or spec != "as it is")


def test_a_file_gives_back_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / SEARCHED
    assert read_searched(path, 7) == Searched()
    both, newer = (
        ForbiddenCombination({"rank_S": 0, "axis": "inner"}),
        ForbiddenCombination({"axis": "lowest", "rank_S": 0}),
    )
    places = ((BreachPlace(Stage.PLAIN, 0, 7), BreachPlace(Stage.PLAIN, 3, 0)), (), ())
    calls = FoundCalls("0123456789abcdef", FoundRows((0, 3), (1, 22)), places)
    draws = KeptDraws("fedcba9876543210", (3, None), (Instead(0, (1, 0, 11), 2), Instead(4, (0, 0, 0), 0)))
    kept = {7: Searched((both,)), 18: Searched((newer, both), draws, calls)}
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
        f"{WHOLE}, breaches: ['9 1.1'], rows: a, draws: '0'}}]",
        f"{WHOLE}, breaches: [], rows: a, draws: one}}]",
        f"{WHOLE}, breaches: [], rows: a, draws: '0', instead: ['1 2']}}]",
        f"{WHOLE.replace('[0]', '[one]')}, breaches: [], rows: a, draws: '0'}}]",
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
    kept = searched_of(operator)
    assert kept.draws is not None
    assert kept.calls is not None
    assert kept.calls.spec == digest_of_spec(operator)
