"""The files of adequacy: read, written, shown while they hold; and what the size small takes from them."""

from __future__ import annotations

import json
import lzma
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.suite.suites import open_suite
from generator.asking.named_operators import first_operators
from generator.making.operators import selections as selections_file
from generator.making.operators.selections import read_selection, write_selection
from generator.making.operators.workshop import Options
from generator.making.suites.cache import default_suite
from generator.making.suites.lock import read_lock
from generator.making.suites.lock_making import expectations_by_operator
from generator.making.suites.operator_cases import generate_operator
from generator.measured import kept as keeping
from generator.measured.kept import (
    REMEDY,
    MeasuredOperator,
    Selected,
    adequacy_facts,
    expectations_of,
    kept_path,
    read_all,
    read_kept,
    read_measured,
    stale,
    write_kept,
)
from generator.trust.mutants import adequacy_page
from generator.trust.mutants.adequacy_page import percent, write_page
from opcert.vocabulary.errors import OpcertError, UserError
from opcert.vocabulary.names import OperatorName

CENTER = OperatorName.parse("ai.onnx::CenterCropPad-18")
COVERAGE = {"strength": 2, "feasible": 10, "covered": 9, "uncovered": [{"rank": 1, "axes": "all"}]}
MUTANT = {
    "mutant": "a.py-1", "kind": "off by one", "file": "a.py", "line": 3, "diff": ["-x = 1", "+x = 2"],
    "calls": 7, "call": "(X: float [2])",
}  # fmt: skip
FOUND = {
    "mutants": {
        "made": 1000,
        "killed": 998,
        "equivalent": 0,
        "survived": 2,
        "by_node_tests": 0,
        "score": 0.998,
    },
    "kinds": {
        "off by one": {"made": 1000, "killed": 998, "equivalent": 0, "survived": 2, "by_node_tests": 0}
    },
    "survivors": [MUTANT],
    "equivalents": [],
    "unreached": ["a.py:9"],
    "node_tests": None,
    "calls": 2000,
}


def _kept() -> MeasuredOperator:
    cases = generate_operator(CENTER, Options.of("small")).cases
    given = expectations_of(cases)
    chosen = list(given)[:3]
    return MeasuredOperator(
        str(CENTER), "0" * 64, tuple(Selected(name, 5, given[name]) for name in chosen), FOUND
    )


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    rows = (Selected("cover/0123456789ab", 4, "f" * 16, {"rank": "2"}, 3), Selected("boundary/x-ab", 1, "e"))
    kept = MeasuredOperator(str(CENTER), "0" * 64, rows, FOUND)
    assert read_kept(CENTER, tmp_path) is None
    write_kept(kept, tmp_path)
    assert read_kept(CENTER, tmp_path) == kept
    assert [row.digest for row in rows] == ["0123456789ab", "ab"]


def test_a_damaged_file_is_the_user_s_to_make_again(tmp_path: Path) -> None:
    path = kept_path(CENTER, tmp_path)
    path.parent.mkdir(parents=True)
    for text in ("{", '{"format": "other"}', '{"format": "opcert-adequacy/1", "selection": [1]}', "[]"):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(UserError, match="adequacy --update"):
            read_kept(CENTER, tmp_path)


def test_reports_tell_it_while_every_selected_case_is_as_it_was() -> None:
    given, kept = expectations_of(generate_operator(CENTER, Options.of("small")).cases), _kept()
    facts = adequacy_facts(kept, given)
    assert facts is not None
    assert facts["mutants"] == FOUND["mutants"]
    assert facts["cases"] == kept.cases
    elsewhere = replace(kept.selection[0], case=f"boundary/word-{kept.selection[0].digest}")
    assert adequacy_facts(replace(kept, selection=(elsewhere,)), given) is not None
    first = replace(kept.selection[0], expectation="0" * 16)
    assert adequacy_facts(replace(kept, selection=(first,)), given) is None
    assert adequacy_facts(kept, dict(list(given.items())[40:])) is None
    assert adequacy_facts(None, given) is None


@pytest.mark.slow
def test_what_begins_the_size_small_is_of_the_default_suite() -> None:
    """Of operators that ship the default suite still has the cases, and they expect what they did."""
    with open_suite(default_suite(lambda line: None)) as suite:
        expected = expectations_by_operator(suite)
    selections = {operator: read_selection(operator) for operator in expected}
    assert sum(map(bool, selections.values())) >= len(first_operators())
    for operator, selection in selections.items():
        gone = stale(MeasuredOperator(str(operator), "", selection, {}), expected[operator])
        assert not gone, f"{operator}: the selection is of other cases ({gone[0]}). {REMEDY}"


def test_selections_are_read_as_they_were_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selections_file, "SELECTIONS_FILE", tmp_path / "small.json")
    rows = (Selected("cover/0123456789ab", 4, "f" * 16, {"rank": "2"}, 3), Selected("boundary/x-ab", 1, "e"))
    assert read_selection(CENTER) == ()
    write_selection(MeasuredOperator(str(CENTER), "0" * 64, rows, FOUND))
    write_selection(MeasuredOperator("test::X-1", "0" * 64, rows[:1], FOUND))
    assert read_selection(CENTER) == rows
    for text in ("{", "[]", '{"format": "other"}', f'{{"format": "opcert-small/1", "{CENTER}": [1]}}'):
        (tmp_path / "small.json").write_text(text, encoding="utf-8")
        with pytest.raises(UserError, match="size small cannot be read"):
            read_selection(CENTER)


def test_a_score_that_is_not_there_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "MEASURED", tmp_path)
    monkeypatch.setattr(keeping, "PACKED", tmp_path / "adequacy.json.xz")
    folder = keeping.adequacy_folder(())
    assert read_measured([CENTER], folder) == ([], [CENTER])
    assert f"Mutation score not measured here: `{CENTER}`" in write_page(*read_measured([CENTER], folder))
    with pytest.raises(UserError, match="mutation score not measured here"):
        read_all([CENTER], folder)


def test_a_release_may_carry_what_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = MeasuredOperator(str(CENTER), "0" * 64, (), FOUND)
    content = json.loads(keeping.kept_json(kept))
    packed = lzma.compress(json.dumps({"ai.onnx/CenterCropPad/adequacy-18.json": content}).encode())
    (tmp_path / "adequacy.json.xz").write_bytes(packed)
    monkeypatch.setattr(keeping, "MEASURED", tmp_path)
    monkeypatch.setattr(keeping, "PACKED", tmp_path / "adequacy.json.xz")
    assert read_kept(CENTER, tmp_path) == kept
    assert read_kept(OperatorName("ai.onnx", "Unheard", 1), tmp_path) is None


def test_the_size_small_holds_the_selection() -> None:
    made = generate_operator(CENTER, Options.of("small"))
    given, selection = expectations_of(made.cases), read_selection(CENTER)
    assert selection
    assert not stale(MeasuredOperator(str(CENTER), "", selection, {}), given)
    assert made.facts["coverage"]["uncovered"] == []
    assert len(made.cases) < read_lock().versions[str(CENTER)].cases / 2


def test_the_page_lists_what_is_not_perfect_and_rounds_down() -> None:
    page = write_page([MeasuredOperator("test::X-1", "0", (), {**FOUND, "coverage": COVERAGE})])
    assert "99.8 %" in page
    for words in ("+x = 2", "(X: float [2])", "rank=1, axes=all", "a.py:9"):
        assert words in page
    assert percent(9999, 10000) == "99.9 %"
    assert percent(0, 0) == "-"


def test_a_survivor_has_the_reason_of_its_room(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(adequacy_page, "OWN_FOLDER", tmp_path)
    room = tmp_path / "test" / "X"
    room.mkdir(parents=True)
    kept = MeasuredOperator("test::X-1", "0", (), {**FOUND, "coverage": COVERAGE})
    assert "# not looked at" in write_page([kept])
    entry = '- mutant: "a.p"\n  why: no call of the document has it\n'
    (room / "survivors.yaml").write_text(entry, encoding="utf-8")
    page = write_page([kept])
    assert "# no call of the document has it" in page
    assert "not looked at" not in page
    (room / "survivors.yaml").write_text("- mutant: a\n", encoding="utf-8")
    with pytest.raises(OpcertError, match="why"):
        write_page([kept])
