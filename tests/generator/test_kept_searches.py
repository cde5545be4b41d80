"""What searches for calls found is kept: the same cases are made of it; stale, it counts for nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from generator.adequacy.kept import expectations_of
from generator.asking.calls import Call
from generator.borders import known_breaches
from generator.borders.breach_attempts import Stage
from generator.borders.breaches import BreachPlace
from generator.borders.known_breaches import Places, breaches_at
from generator.families import cover
from generator.making import calls_searched, kept_searches, operator_cases
from generator.making.calls_searched import keep_searches, search_calls
from generator.making.discovery import select_operators
from generator.making.kept_searches import (
    FoundCalls,
    KeptSearches,
    digest_of_code,
    digest_of_spec,
    found_calls,
    read_searches,
    write_searches,
)
from generator.making.operator_cases import generate_operator
from generator.making.opsets import default_operators
from generator.making.sources import ROOT, SourceReader
from generator.making.workshop import Options, Workshop, open_workshop
from generator.rows import row_search
from generator.rows.row_search import FoundRows, RowSearch
from generator.spaces import declared_levels
from generator.spaces.declared_levels import DeclaredLevels
from generator.spaces.modelled import kept_draws_of
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName

NAMES = ("ai.onnx::ThresholdedRelu", "ai.onnx::ArgMax", "ai.onnx::CastLike", "ai.onnx::HannWindow")
"""Their breaches are of every stage but one."""
LACKING = "ai.onnx::CenterCropPad"
"""Some levels that are tried for its rows have no call."""
REPLACED = "ai.onnx::ConvInteger"
"""Its array is not the one of the first attempt."""


def test_what_ships_is_of_the_code_and_specs_that_are_here() -> None:
    """Else users' first suite takes a quarter longer: `opcert generate --update` makes it anew."""
    kept = read_searches()
    assert kept is not None
    assert kept.code == digest_of_code()
    specs = {str(each): digest_of_spec(each) for each in default_operators()}
    assert {name: each.spec for name, each in kept.found.items()} == specs


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
    workshop.kept_draws = kept_draws_of(workshop.spec.operator) if draws else None
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
    found = search_calls(operator)
    monkeypatch.setattr(operator_cases, "found_calls", lambda _: found)
    monkeypatch.setattr(declared_levels, "find_breaches", _never)
    monkeypatch.setattr(row_search, "make_call", _never)
    kept = generate_operator(operator, Options())
    assert expectations_of(kept.cases) == expectations_of(searched.cases)
    assert kept.facts == searched.facts


def test_with_folders_of_specs_nothing_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operator_cases, "found_calls", _never)
    assert generate_operator(_operator(NAMES[0]), Options(), [tmp_path]).cases


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "searches.json"
    monkeypatch.setattr(kept_searches, "SEARCHES_FILE", path)
    return path


def test_what_other_code_or_another_spec_found_counts_for_nothing(file: Path) -> None:
    operator = _operator(NAMES[0])
    assert found_calls(operator) is None
    found = FoundCalls(digest_of_spec(operator), FoundRows((0,)), ())
    fresh = KeptSearches(digest_of_code(), {str(operator): found})
    write_searches(fresh, file)
    assert found_calls(operator) == found
    assert found_calls(_operator(LACKING)) is None
    write_searches(replace(fresh, code="0" * 16), file)
    assert found_calls(operator) is None
    write_searches(replace(fresh, found={str(operator): replace(found, spec="0" * 12)}), file)
    assert found_calls(operator) is None


def test_a_file_gives_back_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "searches.json"
    assert read_searches(path) is None
    places = ((BreachPlace(Stage.PLAIN, 0, 7), BreachPlace(Stage.PLAIN, 3, 0)), (), ())
    searches = KeptSearches(
        "0123456789abcdef",
        {
            "ai.onnx::Abs-13": FoundCalls("0123456789ab", FoundRows((0, 3), (1, 22)), places),
            "ai.onnx::Add-14": FoundCalls("ba9876543210", FoundRows(), ()),
        },
    )
    write_searches(searches, path)
    assert read_searches(path) == searches


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"format": "opcert-searches/0", "code": "0", "found": {}}',
        '{"format": "opcert-searches/1", "code": "0"}',
        '{"format": "opcert-searches/1", "code": "0", "found": {"ai.onnx::Abs-13": "0; 0"}}',
        '{"format": "opcert-searches/1", "code": "0", "found": {"ai.onnx::Abs-13": "0; 0; -; 0 one"}}',
        '{"format": "opcert-searches/1", "code": "0", "found": {"ai.onnx::Abs-13": "0; 0; -; 9 1.1"}}',
    ],
)
def test_a_damaged_file_is_told_with_its_place_and_what_to_do(text: str, tmp_path: Path) -> None:
    path = tmp_path / "searches.json"
    path.write_text(text)
    with pytest.raises(UserError) as caught:
        read_searches(path)
    assert str(path) in str(caught.value)
    assert "generate --update" in str(caught.value)


@pytest.mark.slow
def test_only_what_is_out_of_date_is_searched_for(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    operators = [_operator(NAMES[0]), _operator(NAMES[1])]
    file.write_text("damaged")
    keep_searches(operators, told.append, file)
    whole = read_searches(file)
    assert whole == KeptSearches(digest_of_code(), {str(each): search_calls(each) for each in operators})
    assert any("2 operators" in each for each in told)
    stale = replace(whole.found[str(operators[1])], spec="0" * 12)
    write_searches(replace(whole, found={**whole.found, str(operators[1]): stale}), file)
    keep_searches(operators, told.append, file)
    assert "1 operator" in told[-1]
    assert read_searches(file) == whole
    monkeypatch.setattr(calls_searched, "process_pool", _never)
    keep_searches(operators, told.append, file)
    keep_searches(operators[:1], told.append, file)
    kept = read_searches(file)
    assert kept is not None
    assert list(kept.found) == [str(operators[0])]


def test_searches_of_every_operator_of_the_default_suite_are_kept() -> None:
    kept = read_searches()
    assert kept is not None
    assert list(kept.found) == sorted(map(str, default_operators()))


def test_the_code_that_searches_is_all_that_decides_what_is_found() -> None:
    files = SourceReader().imported_files(kept_searches._CODE)
    names = {path.relative_to(ROOT).as_posix() for path in files}
    rooms = ("generator/solved", "generator/kinds", "specs/functions")
    whole = {path.relative_to(ROOT).as_posix() for each in rooms for path in (ROOT / each).glob("[!_]*.py")}
    assert names >= whole
    assert names >= {
        "generator/borders/breaches.py",
        "generator/borders/input_breaches.py",
        "generator/rows/covering.py",
        "generator/spaces/space_making.py",
        "generator/spaces/unbreakable.py",
        "generator/values/draws.py",
        "reference/numbers.py",
        "specs/composition.py",
        "specs/unification.py",
    }
